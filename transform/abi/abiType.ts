/**
 * ABI types as decoding in SQL needs them: where a value lies, and what it is in a result. Source:
 * the Solidity ABI specification.
 */

/** `words`: 32-byte words a value takes in place; 1, the offset, for one that lies elsewhere. */
interface Layout {
  readonly isDynamic: boolean
  readonly words: number
}

export type AbiType = WordType | (Layout & { readonly kind: 'bytes' | 'string' }) | SequenceType | TupleType

/** Types that fill one word. */
export type WordType = Layout &
  (
    | { readonly kind: 'uint' | 'int'; readonly bits: number }
    | { readonly kind: 'fixedBytes'; readonly size: number }
    | { readonly kind: 'address' | 'bool' }
  )

/** `T[]`, or `T[length]`. */
export type SequenceType = Layout & {
  readonly kind: 'list'
  readonly element: AbiType
  readonly length: number | undefined
}

export type TupleType = Layout & { readonly kind: 'tuple'; readonly components: readonly AbiComponent[] }

export interface AbiComponent {
  readonly name: string | undefined
  readonly type: AbiType
}

/** The type of an elementary name such as `uint256`, or undefined for none. */
export function elementaryType(name: string): AbiType | undefined {
  if (name === 'bytes' || name === 'string') return { kind: name, isDynamic: true, words: 1 }
  const word = { isDynamic: false, words: 1 }
  if (name === 'address' || name === 'bool') return { ...word, kind: name }
  const [, kind, digits = ''] = /^(uint|int|bytes)([1-9]\d{0,2})?$/.exec(name) ?? []
  const number = digits === '' ? 256 : Number(digits)
  if (kind === 'bytes' && number <= 32) return { ...word, kind: 'fixedBytes', size: number }
  if ((kind === 'uint' || kind === 'int') && number <= 256 && number % 8 === 0)
    return { ...word, kind, bits: number }
  return undefined
}

export function sequenceType(element: AbiType, length: number | undefined): SequenceType {
  const isDynamic = element.isDynamic || length === undefined
  return { kind: 'list', element, length, isDynamic, words: isDynamic ? 1 : element.words * (length ?? 1) }
}

export function tupleType(components: readonly AbiComponent[]): TupleType {
  const isDynamic = components.some(({ type }) => type.isDynamic)
  return { kind: 'tuple', components, isDynamic, words: isDynamic ? 1 : headWords(components) }
}

/** Words of the heads of several values in a row. */
export const headWords = (components: readonly { readonly type: AbiType }[]): number =>
  components.reduce((words, { type }) => words + type.words, 0)

/** The spelling that is hashed: `uint` in full, tuples in brackets, no names. */
export function canonicalType(type: AbiType): string {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return `${type.kind}${type.bits}`
    case 'fixedBytes':
      return `bytes${type.size}`
    case 'list':
      return `${canonicalType(type.element)}[${type.length ?? ''}]`
    case 'tuple':
      return `(${type.components.map((component) => canonicalType(component.type)).join(',')})`
    default:
      return type.kind
  }
}

/** Whether a topic holds the hash of the value instead of the value. */
export const isHashedInTopic = ({ kind }: AbiType): boolean =>
  kind === 'bytes' || kind === 'string' || kind === 'list' || kind === 'tuple'

/** How many bytes every value has, where values are bytes and all have as many. */
export function widthOf(type: AbiType): number | undefined {
  if (type.kind === 'fixedBytes') return type.size
  return type.kind === 'address' ? 20 : undefined
}

/**
 * A tuple in JSON is an object where every component has a name of its own, else an array. Keys
 * stand in the order in which Postgres keeps them, so that both engines print the same text.
 */
export function objectKeys({ components }: TupleType): readonly number[] | undefined {
  const names = components.map(({ name }) => name)
  if (names.includes(undefined) || new Set(names).size < names.length) return undefined
  const key = (index: number) => names[index] ?? ''
  return components
    .keys()
    .toArray()
    .sort((a, b) => key(a).length - key(b).length || (key(a) < key(b) ? -1 : 1))
}
