/**
 * One item of a block's trie with what proves it: the nodes from the root down to it. The key of an
 * item is the RLP of its index (Yellow Paper, appendix D). `ingest/verify/tries/trie.ts` computes
 * roots alone, which is what every block needs; a path is asked for rarely, so this is the plain way.
 */
import { keccak256 } from '#ingest/verify/tries/keccak.ts'
import { type RlpItem, RlpWriter } from '#ingest/verify/tries/rlp.ts'

/** A shorter node stands in its parent as it is. */
const HASH_BYTES = 32
/** Flags of a node's path (hex prefix encoding, Yellow Paper appendix C). */
const EXTENSION = 0
const LEAF = 2

interface Leaf {
  readonly index: number
  /** The rest of the key's nibbles. */
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/**
 * Encoded nodes, the root first; those that stand in their parents are not named again.
 * @param index of the item that is proved; one of `values`
 */
export function triePath(values: readonly Uint8Array[], index: number): readonly Uint8Array[] {
  const writer = new RlpWriter()
  const found: Uint8Array[] = []
  const encode = (item: RlpItem): Uint8Array => {
    writer.rewind(0)
    writer.writeItem(item)
    return Uint8Array.from(writer.since(0))
  }
  const referenceTo = (leaves: readonly Leaf[], isRoot = false): RlpItem => {
    const node = nodeOf(leaves, (below) => referenceTo(below))
    const encoded = encode(node)
    if (encoded.length < HASH_BYTES && !isRoot) return node
    if (leaves.some((leaf) => leaf.index === index)) found.push(encoded)
    return keccak256(encoded)
  }
  const leaves = values.map((value, at) => ({ index: at, path: nibblesOf(encode(keyOf(at))), value }))
  if (leaves.length > 0) referenceTo(leaves, true)
  return found.toReversed()
}

/** The nibbles of an item's key. */
export const keyNibbles = (index: number): readonly number[] => {
  const writer = new RlpWriter()
  writer.writeItem(keyOf(index))
  return nibblesOf(writer.since(0))
}

const keyOf = (index: number): string => `0x${index.toString(16)}`

const nibblesOf = (bytes: Uint8Array): readonly number[] =>
  [...bytes].flatMap((byte) => [byte >> 4, byte & 15])

function nodeOf(leaves: readonly Leaf[], referenceTo: (leaves: readonly Leaf[]) => RlpItem): RlpItem {
  const [first] = leaves
  if (!first) throw new TypeError('a node is over one leaf or more')
  if (leaves.length === 1) return [packed(first.path, LEAF), first.value]
  const shared = first.path.findIndex((nibble, depth) => leaves.some(({ path }) => path[depth] !== nibble))
  if (shared > 0) return [packed(first.path.slice(0, shared), EXTENSION), referenceTo(below(leaves, shared))]
  const byNibble = Map.groupBy(leaves, ({ path }) => path[0])
  const slots = Array.from({ length: 16 }, (_, nibble): RlpItem => {
    const inside = byNibble.get(nibble)
    return inside ? referenceTo(below(inside, 1)) : null
  })
  // No key is the start of another, so a branch has no value of its own.
  return [...slots, null]
}

const below = (leaves: readonly Leaf[], depth: number): readonly Leaf[] =>
  leaves.map((leaf) => ({ ...leaf, path: leaf.path.slice(depth) }))

/** An odd nibble stands beside the flag. */
function packed(nibbles: readonly number[], flag: number): Uint8Array {
  const all = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag + 1, ...nibbles]
  return Buffer.from(all.map((nibble) => nibble.toString(16)).join(''), 'hex')
}
