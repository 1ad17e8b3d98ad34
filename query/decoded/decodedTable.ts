/**
 * The table a signature stands for: a row per log of the event (or per call of the function),
 * columns of `logs` (of the call) and one per parameter. What the rules are, README.md tells users
 * under "Event tables".
 */

import { isDeepStrictEqual } from 'node:util'
import { hash } from '#primitives.ts'
import { type AbiType, canonicalType, headWords, isHashedInTopic, widthOf } from '#transform/abi/abiType.ts'
import { type Signature, shortened } from '#transform/abi/signature.ts'
import { findEvents } from '#transform/events/index.ts'
import type { LogicalType, RelationColumn } from '../logicalType.ts'
import { logicalTypeOf } from './logicalTypeOf.ts'
import { invalidSignature, readQuerySignature, SIGNATURES_MAX } from './signature.ts'

export interface DecodedTable {
  readonly signature: Signature
  /** Lowercase. */
  readonly name: string
  /** Columns of `logs`, or of a call, that no parameter hides. */
  readonly ownColumns: readonly OwnColumn[]
  readonly parameters: readonly DecodedParameter[]
  /** Only of this contract, where that is declared. */
  readonly address: `0x${string}` | undefined
}

export interface OwnColumn extends RelationColumn {
  readonly comment: string
}

export interface DecodedParameter {
  /** Name of the column. */
  readonly name: string
  readonly abi: AbiType
  readonly logical: LogicalType
  readonly place: ValuePlace
}

/** The place of a value: a topic, 1 to 3, or `at` bytes into the data. */
export type ValuePlace =
  | { readonly kind: 'topic'; readonly topic: number; readonly isHash: boolean }
  | { readonly kind: 'data'; readonly at: number }

/**
 * Number of indexed parameters of the newest log with this first topic; undefined when there is
 * none.
 */
export type FindIndexedCount = (topic0: `0x${string}`) => Promise<number | undefined>

/**
 * The tables of a request's signatures. The same signature twice is one table.
 * @throws UserQueryError `signature_invalid` also where it cannot be told which parameters are
 * indexed, or whether an event is meant or a function
 */
export async function readSignatures(
  texts: readonly string[],
  findIndexedCount: FindIndexedCount,
): Promise<DecodedTable[]> {
  const distinct = [...new Set(texts.map((text) => text.trim()))]
  if (distinct.length > SIGNATURES_MAX)
    throw invalidSignature(distinct.at(-1) ?? '', `a query takes at most ${SIGNATURES_MAX} signatures`)
  const tables: DecodedTable[] = []
  for (const text of distinct) {
    const signature = readQuerySignature(text)
    const indexed = signature.kind === 'event' ? await indexedFlags(text, signature, findIndexedCount) : []
    tables.push(decodedTable(text, signature, indexed))
  }
  return tables
}

/** The table of a signature whose indexed parameters are known. */
export function decodedTable(
  text: string,
  signature: Signature,
  indexed: readonly boolean[] = signature.parameters.map(({ isIndexed }) => isIndexed),
  address?: `0x${string}`,
): DecodedTable {
  const parameters = placeParameters(signature, indexed)
  const names = new Set<string>()
  for (const { name } of parameters) {
    if (names.has(name.toLowerCase())) throw invalidSignature(text, `two of its parameters are named ${name}`)
    names.add(name.toLowerCase())
  }
  const own = signature.kind === 'event' ? logColumns : callColumns
  return {
    signature,
    name: signature.table.toLowerCase(),
    ownColumns: own.filter(({ name }) => !names.has(name)),
    parameters,
    address,
  }
}

export const columnsOf = ({ ownColumns, parameters }: DecodedTable): OwnColumn[] => [
  ...ownColumns,
  ...parameters.map(({ name, logical, abi, place }) => {
    const isHash = place.kind === 'topic' && place.isHash
    const width = isHash ? 32 : widthOf(abi)
    return {
      name,
      type: logical,
      ...(width !== undefined && { width }),
      comment: `${isHash ? 'hash of the ' : ''}${canonicalType(abi)}; null where the log does not hold one`,
    }
  }),
]

/** The table as the schema shows it. */
export const describeDecoded = (table: DecodedTable) => ({
  name: table.name,
  comment: `one ${table.signature.kind === 'event' ? 'log' : 'call'} of ${table.signature.canonical}`,
  blockColumn: table.ownColumns.some(({ name }) => name === 'block_num') ? 'block_num' : null,
  columns: columnsOf(table),
})

/** The name under which a table's SQL gives the height, whatever the parameters are named. */
export function blockColumnOf({ parameters }: DecodedTable): string {
  const names = new Set(parameters.map(({ name }) => name.toLowerCase()))
  let name = 'block_num'
  while (names.has(name)) name = `_${name}`
  return name
}

/**
 * Which parameters are indexed: what the signature says, else what is known of the event, else what
 * its logs tell.
 */
async function indexedFlags(
  text: string,
  { name, selector, parameters, isDeclaration }: Signature,
  findIndexedCount: FindIndexedCount,
): Promise<readonly boolean[]> {
  if (isDeclaration) return parameters.map(({ isIndexed }) => isIndexed)
  const known = findEvents(hash(selector)).map(({ abi }) => abi.inputs.map(({ indexed }) => indexed === true))
  const [flags] = known
  if (flags && known.every((other) => isDeepStrictEqual(other, flags))) return flags
  const found = await findIndexedCount(selector)
  if (found === undefined && isWrittenAsFunction(name))
    throw invalidSignature(
      text,
      'no log has such an event, and it is written as a function is',
      `write \`function ${shortened(text)}\` for its calls, or \`event ${shortened(text)}\` for logs to come`,
    )
  const count = found ?? 0
  if (count === 0 || count === parameters.length) return parameters.map(() => count > 0)
  throw invalidSignature(
    text,
    `${count} of its ${parameters.length} parameters are indexed and nothing says which`,
    'write `indexed` after the type of each that is, or `event` in front if none is',
  )
}

/** Solidity's style guide: events begin with a capital, functions do not. */
const isWrittenAsFunction = (name: string): boolean => /^[a-z]/.test(name)

function placeParameters({ parameters }: Signature, indexed: readonly boolean[]): DecodedParameter[] {
  let topic = 0
  const inData: { readonly type: AbiType }[] = []
  return parameters.map(({ name, type }, index) => {
    const named = { name: name ?? `arg${index}`, abi: type }
    if (indexed[index]) {
      const isHash = isHashedInTopic(type)
      const place = { kind: 'topic', topic: ++topic, isHash } as const
      return { ...named, place, logical: isHash ? 'bytes' : logicalTypeOf(type) }
    }
    const place = { kind: 'data', at: headWords(inData) * 32 } as const
    inData.push({ type })
    return { ...named, place, logical: logicalTypeOf(type) }
  })
}

const place: readonly OwnColumn[] = [
  { name: 'block_num', type: 'bigint', comment: 'height of the block' },
  { name: 'block_timestamp', type: 'timestamp', comment: 'time of the block, to the second' },
]
const transaction: readonly OwnColumn[] = [
  { name: 'tx_idx', type: 'int', comment: 'position of the transaction in its block, from 0' },
  { name: 'tx_hash', type: 'bytes', width: 32, comment: 'hash of the transaction' },
]

/** As in `logs`; topic0 is `selector`. */
const logColumns: readonly OwnColumn[] = [
  ...place,
  { name: 'log_idx', type: 'int', comment: 'position of the log in its block, from 0' },
  ...transaction,
  { name: 'address', type: 'bytes', width: 20, comment: 'contract that emitted it' },
  { name: 'selector', type: 'bytes', width: 32, comment: 'first topic: hash of the event’s signature' },
  { name: 'topic1', type: 'bytes', width: 32, comment: 'topics; null when absent' },
  { name: 'topic2', type: 'bytes', width: 32, comment: 'topics; null when absent' },
  { name: 'topic3', type: 'bytes', width: 32, comment: 'topics; null when absent' },
  { name: 'data', type: 'bytes', comment: 'data' },
  { name: 'is_virtual_forward', type: 'bool', comment: 'second hop of a transfer to a virtual address' },
]

/** Not `from`, `to` and `value`: most functions have parameters of these names. */
const callColumns: readonly OwnColumn[] = [
  ...place,
  ...transaction,
  { name: 'call_idx', type: 'int', comment: 'position of the call in its transaction, from 0' },
  { name: 'sender', type: 'bytes', width: 20, comment: 'sender of the transaction' },
  { name: 'address', type: 'bytes', width: 20, comment: 'contract called' },
  { name: 'call_value', type: 'numeric', comment: 'native amount of the call' },
  { name: 'selector', type: 'bytes', width: 4, comment: 'first 4 bytes of the input' },
  { name: 'input', type: 'bytes', comment: 'calldata of the call' },
]
