/**
 * Assembles a WebAssembly module with one function: Keccak-256 of two inputs at once. Each of the
 * 25 words of Keccak's state is a vector of two, one word of each input's state, so that one
 * instruction works on both. Made here and not shipped as bytes, so that what runs can be read. The
 * steps and their parts are named as in FIPS 202, section 3.2.
 */

/** Bytes taken in before each permutation; an input is padded to a multiple of it. */
export const RATE_BYTES = 136

/** The place in which the function leaves the two digests in the module's memory. */
export const DIGESTS_AT = 192
/** From here on the memory is the caller's. */
export const INPUTS_AT = 256

/**
 * The module exports `memory`, a page of it, and `hashPair(first, second, blocks)`, which takes the
 * places of two padded inputs of equally many blocks.
 */
export function assembleKeccakPairModule(): Uint8Array<ArrayBuffer> {
  const parameters = vector([[I32], [I32], [I32]])
  const declared = vector([
    [1, I32],
    [lastLocal - constant, V128],
  ])
  const exported = [
    [...text('memory'), 2, 0],
    [...text('hashPair'), 0, 0],
  ]
  return Uint8Array.from([
    ...[0x00, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(TYPE_SECTION, [[0x60, ...parameters, 0]]),
    ...section(FUNCTION_SECTION, [[0]]),
    ...section(MEMORY_SECTION, [[0, 1]]),
    ...section(EXPORT_SECTION, exported),
    ...section(CODE_SECTION, [sized([...declared, ...hashPair(), END])]),
    ...section(DATA_SECTION, [[0, ...i32Const(CONSTANTS_AT), END, ...sized(roundConstants())]]),
  ])
}

type Code = readonly number[]
type Local = number
/** The state as locals: the word (x, y) is that of index x + 5y. */
type State = readonly Local[]

/** The parameters, and where the next constant of iota is. */
const [first, second, blocks, constant] = [0, 1, 2, 3] as const
const locals = (from: Local, count: number): State =>
  Array.from({ length: count }, (_, index) => from + index)
const stateA = locals(constant + 1, 25)
const stateB = locals(constant + 26, 25)
const parity = locals(constant + 51, 5)
const effect = locals(constant + 56, 5)
const plane = locals(constant + 61, 5)
const lastLocal = constant + 66
const rotated = lastLocal

const CONSTANTS_AT = 0
const ROUNDS = 24
const WORD_BYTES = 8
const axis = [0, 1, 2, 3, 4] as const

/**
 * The sponge: blocks go into the state one after the other, and its first 32 bytes are the digest.
 */
function hashPair(): Code {
  const firstConstant = [...i32Const(CONSTANTS_AT), ...set(constant)]
  const twoRounds = [...round(stateA, stateB), ...round(stateB, stateA)]
  const constantsLeft = [...get(constant), ...i32Const(CONSTANTS_AT + ROUNDS * WORD_BYTES), I32_LESS_THAN]
  const nextBlocks = [first, second].flatMap((input) => [
    ...get(input),
    ...i32Const(RATE_BYTES),
    I32_ADD,
    ...set(input),
  ])
  const blocksLeft = [...get(blocks), ...i32Const(1), I32_SUBTRACT, ...tee(blocks)]
  const eachBlock = [...absorb(stateA), ...firstConstant, ...loop(twoRounds, constantsLeft), ...nextBlocks]
  const digests = [0, 1].flatMap((input) => [0, 1, 2, 3].flatMap((word) => storeWord(word, input)))
  return [...loop(eachBlock, blocksLeft), ...digests]
}

function absorb(state: State): Code {
  const words = state.slice(0, RATE_BYTES / WORD_BYTES)
  return words.flatMap((word, index) => {
    const offset = unsigned(index * WORD_BYTES)
    const input = [...get(second), ...get(first), ...load64Zero, 0, ...offset, ...load64Lane, 0, ...offset, 1]
    return [...input, ...get(word), ...xor, ...set(word)]
  })
}

function storeWord(word: number, input: number): Code {
  const offset = unsigned(DIGESTS_AT + 32 * input + WORD_BYTES * word)
  return [...i32Const(0), ...get(at(stateA, word)), ...store64Lane, 0, ...offset, input]
}

/** One round, from one set of locals into another. */
function round(from: State, to: State): Code {
  return [...theta(from), ...axis.flatMap((y) => [...rhoAndPi(from, y), ...chi(to, y)]), ...iota(at(to, 0))]
}

/** A change in a column that its neighbours make. It is applied where `rhoAndPi` reads the words. */
function theta(state: State): Code {
  const parities = axis.flatMap((x) => {
    const rest = [1, 2, 3, 4].flatMap((y) => [...get(at(state, x + 5 * y)), ...xor])
    return [...get(at(state, x)), ...rest, ...set(at(parity, x))]
  })
  const effects = axis.flatMap((x) => {
    const right = [...get(at(parity, (x + 1) % 5)), ...rotate(1)]
    return [...right, ...get(at(parity, (x + 4) % 5)), ...xor, ...set(at(effect, x))]
  })
  return [...parities, ...effects]
}

/** The words that come to stand in a plane: (x, y) is taken from (x + 3y, x), rotated. */
function rhoAndPi(from: State, y: number): Code {
  return axis.flatMap((x) => {
    const column = (x + 3 * y) % 5
    const source = column + 5 * x
    const word = [...get(at(from, source)), ...get(at(effect, column)), ...xor]
    return [...word, ...rotate(at(offsets, source)), ...set(at(plane, x))]
  })
}

function chi(to: State, y: number): Code {
  return axis.flatMap((x) => {
    const [word, next, afterNext] = [x, x + 1, x + 2].map((column) => get(at(plane, column % 5)))
    return [
      ...(word ?? []),
      ...(afterNext ?? []),
      ...(next ?? []),
      ...andNot,
      ...xor,
      ...set(at(to, x + 5 * y)),
    ]
  })
}

function iota(word: Local): Code {
  const next = [...get(constant), ...i32Const(WORD_BYTES), I32_ADD, ...set(constant)]
  return [...get(word), ...get(constant), ...load64Splat, 0, 0, ...xor, ...set(word), ...next]
}

/** Rotates the words of the vector on the stack to the left. */
function rotate(bits: number): Code {
  if (bits === 0) return []
  const high = [...tee(rotated), ...i32Const(bits), ...shiftLeft]
  return [...high, ...get(rotated), ...i32Const(64 - bits), ...shiftRight, ...or]
}

/**
 * Offsets of rho (FIPS 202, 3.2.2): triangular numbers along a walk over all words but the first.
 */
const offsets: readonly number[] = (() => {
  const found = new Array<number>(25).fill(0)
  let [x, y] = [1, 0]
  for (let step = 0; step < 24; step++) {
    found[x + 5 * y] = (((step + 1) * (step + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return found
})()

/**
 * Constants of iota (FIPS 202, 3.2.5): the bits 2^j - 1 of each are the next seven of a shift
 * register.
 */
function roundConstants(): Code {
  const bytes = Buffer.alloc(ROUNDS * WORD_BYTES)
  let register = 1
  for (let index = 0; index < ROUNDS * 7; index++) {
    const bit = 2 ** (index % 7) - 1
    const byte = Math.floor(index / 7) * WORD_BYTES + (bit >> 3)
    bytes[byte] = (bytes[byte] ?? 0) | ((register & 1) << (bit & 7))
    register = (register << 1) ^ (register >= 0x80 ? 0x171 : 0)
  }
  return [...bytes]
}

/**
 * An index outside a list would give the first parameter, an i32, and no module: all operands here
 * are vectors.
 */
function at(list: readonly number[], index: number): number {
  return list[index] ?? first
}

// The binary format follows (WebAssembly Core Specification, chapter 5).

const TYPE_SECTION = 1
const FUNCTION_SECTION = 3
const MEMORY_SECTION = 5
const EXPORT_SECTION = 7
const CODE_SECTION = 10
const DATA_SECTION = 11
const I32 = 0x7f
const V128 = 0x7b
const END = 0x0b
const I32_LESS_THAN = 0x49
const I32_ADD = 0x6a
const I32_SUBTRACT = 0x6b
const load64Splat = [0xfd, 0x0a]
const load64Lane = [0xfd, 0x57]
const store64Lane = [0xfd, 0x5b]
const load64Zero = [0xfd, 0x5d]
const andNot = [0xfd, 0x4f]
const or = [0xfd, 0x50]
const xor = [0xfd, 0x51]
const shiftLeft = [0xfd, 0xcb, 0x01]
const shiftRight = [0xfd, 0xcd, 0x01]

const get = (local: Local): Code => [0x20, local]
const set = (local: Local): Code => [0x21, local]
const tee = (local: Local): Code => [0x22, local]

/** Repeats while the condition, which is looked at after the body, is not zero. */
function loop(body: Code, condition: Code): Code {
  return [0x03, 0x40, ...body, ...condition, 0x0d, 0, END]
}

/** Numbers below 8192, signed as constants are. */
function i32Const(value: number): Code {
  return value < 0x40 ? [0x41, value] : [0x41, 0x80 | (value & 0x7f), value >> 7]
}

function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [0x80 | (value & 0x7f), ...unsigned(value >> 7)]
}

const sized = (bytes: Code): Code => [...unsigned(bytes.length), ...bytes]
const text = (name: string): Code => sized([...Buffer.from(name)])
const vector = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()]
const section = (id: number, items: readonly Code[]): Code => [id, ...sized(vector(items))]
