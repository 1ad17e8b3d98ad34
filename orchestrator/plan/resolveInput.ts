/** A node's input once the nodes it takes from have their outputs. */
import { failure } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import { isKeptNumber, jsonBytes } from '../catalog/jsonBytes.ts'
import { parseReference } from './reference.ts'

/** An input with all that it takes from others: as much as a whole plan may have. */
export const INPUT_BYTES_MAX = 4 * 1_024 * 1_024

/**
 * The input with a value in place of every reference; what an output holds is data and read no
 * further. @throws InputUnresolvedError
 */
export const resolveInput = (input: unknown, outputs: ReadonlyMap<string, unknown>): unknown =>
  new Resolving(outputs).value(input)

class Resolving {
  readonly #outputs: ReadonlyMap<string, unknown>
  #bytesLeft = INPUT_BYTES_MAX

  constructor(outputs: ReadonlyMap<string, unknown>) {
    this.#outputs = outputs
  }

  value(input: unknown): unknown {
    if (typeof input === 'string') {
      const found = this.#referred(input)
      return found === undefined ? input : found
    }
    if (Array.isArray(input)) return input.map((item) => this.value(item))
    if (!isRecord(input)) return input
    if (isRecord(input['$map'])) return this.#mapped(input['$map'])
    if (Array.isArray(input['$concat'])) return this.#joined(input['$concat'])
    return Object.fromEntries(Object.entries(input).map(([name, member]) => [name, this.value(member)]))
  }

  /** Undefined for a text that is no reference: JSON has no undefined. */
  #referred(text: string): unknown {
    const reference = parseReference(text)
    if (reference === null || reference === 'malformed') return undefined
    const found = valueAt(this.#outputs.get(reference.nodeId), reference.pointer)
    if (found === undefined) throw new InputUnresolvedError(`there is nothing at ${text}`)
    return this.#taken(found)
  }

  #mapped({ from, path }: Readonly<Record<string, unknown>>): unknown {
    const reference = parseReference(String(from))
    const source =
      reference === null || reference === 'malformed'
        ? undefined
        : valueAt(this.#outputs.get(reference.nodeId), reference.pointer)
    if (!Array.isArray(source)) throw new InputUnresolvedError(`there is no array at ${String(from)}`)
    return source.map((item: unknown, index) => {
      const found = valueAt(item, String(path))
      if (found === undefined)
        throw new InputUnresolvedError(`item ${index} of ${String(from)} has nothing at ${String(path)}`)
      return this.#taken(found)
    })
  }

  #joined(parts: readonly unknown[]): unknown {
    const values = parts.map((part) => this.value(part))
    if (values.every((value) => typeof value === 'string')) return values.join('')
    if (values.every((value) => Array.isArray(value))) return values.flat(1)
    throw new InputUnresolvedError('what $concat joins is neither all texts nor all arrays')
  }

  /** A value may be referred to often, and is written out each time. */
  #taken(value: unknown): unknown {
    this.#bytesLeft -= jsonBytes(value, this.#bytesLeft)
    if (this.#bytesLeft < 0)
      throw new InputUnresolvedError(`the input takes more than ${INPUT_BYTES_MAX} bytes of outputs`)
    return value
  }
}

/** RFC 6901; undefined where there is nothing. */
export function valueAt(value: unknown, pointer: string): unknown {
  let at = value
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = /^(0|[1-9][0-9]{0,8})$/.test(name) ? at[Number(name)] : undefined
    else at = isRecord(at) && !isKeptNumber(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

/** An output lacks what an input takes from it. The message says which. */
export class InputUnresolvedError extends failure('InputUnresolvedError', 'input_unresolved', 'stop') {}
