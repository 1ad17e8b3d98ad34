/**
 * The SELECT a decoded table stands for on Postgres. Types of one word are plain expressions, which
 * the planner sees through; values elsewhere in the data are read by the functions of
 * abiFunctions.ts. A value the log does not hold is NULL, and no input raises an error.
 */

import { quoteIdentifier, relationOf } from '#store/sql.ts'
import {
  type AbiType,
  headWords,
  isHashedInTopic,
  objectKeys,
  type WordType,
} from '#transform/abi/abiType.ts'
import { blockColumnOf, type DecodedParameter, type DecodedTable } from '../../../decoded/decodedTable.ts'
import type { KeyTerm } from '../../../decoded/keyTerms.ts'
import { logConditions } from '../../../decoded/logConditions.ts'
import { callsSql } from './callsSql.ts'

/** `schema` holds the views and the functions. */
export function decodedSelect(schema: string, table: DecodedTable, terms: readonly KeyTerm[]): string {
  const { ownColumns, parameters, signature } = table
  const isEvent = signature.kind === 'event'
  const columns = [
    ...ownColumns.map(({ name }) => `t.${quoteIdentifier(name)}`),
    ...parameters.map(
      (parameter) => `${valueSql(schema, parameter, isEvent)} AS ${quoteIdentifier(parameter.name)}`,
    ),
  ]
  const block = blockColumnOf(table)
  if (block !== 'block_num') columns.push(`t.block_num AS ${quoteIdentifier(block)}`)
  const from = isEvent ? relationOf(schema, 'logs') : `(${callsSql(schema, signature.selector)})`
  const where = isEvent ? ` WHERE ${logConditions(table, terms, 't', bytes)}` : ''
  return `SELECT ${columns.join(', ')} FROM ${from} AS t${where}`
}

function valueSql(schema: string, { abi, place }: DecodedParameter, isEvent: boolean): string {
  if (place.kind === 'topic') {
    const column = `t.topic${place.topic}`
    if (isHashedInTopic(abi)) return column
    return wordValue(schema, abi, {
      word: column,
      slice: (from, length) => slice(column, from, length),
      guard: '',
    })
  }
  const data = isEvent ? 't.data' : 't.input'
  // Behind the selector of a call.
  const at = place.at + (isEvent ? 0 : 4)
  const call = (name: string, ...args: string[]) => `${functionOf(schema, name)}(${args.join(', ')})`
  if (abi.kind === 'bytes')
    return call('abi_bytes', call('abi_tail', behind(data, isEvent), String(place.at)))
  if (abi.kind === 'string')
    return call('abi_string', call('abi_tail', behind(data, isEvent), String(place.at)))
  if (abi.kind === 'list' || abi.kind === 'tuple') {
    const region = abi.isDynamic
      ? call('abi_tail', behind(data, isEvent), String(place.at))
      : call('abi_slice', data, String(at), String(abi.words * 32))
    return call('abi_json', `'${typeText(abi).replaceAll("'", "''")}'::jsonb`, region)
  }
  return wordValue(schema, abi, {
    word: slice(data, at + 1, 32),
    slice: (from, length) => slice(data, at + from, length),
    guard: `octet_length(${data}) >= ${at + 32} AND `,
  })
}

/** Offsets of a call's arguments count from behind the selector. */
const behind = (data: string, isEvent: boolean): string => (isEvent ? data : `substr(${data}, 5)`)

interface WordSource {
  readonly word: string
  /** `length` bytes of the word from its byte `from`, counted from 1. */
  slice(from: number, length: number): string
  /** That the word is there in full. */
  readonly guard: string
}

function wordValue(schema: string, abi: AbiType, source: WordSource): string {
  const { word, guard } = source
  switch (abi.kind) {
    case 'address':
      return `CASE WHEN ${guard}${source.slice(1, 12)} = ${zeros(12)} THEN ${source.slice(13, 20)} END`
    case 'bool':
      return `CASE ${word} WHEN ${bytes('0'.repeat(64))} THEN false WHEN ${bytes('1'.padStart(64, '0'))} THEN true END`
    case 'fixedBytes': {
      const { size } = abi
      const isPadded = size === 32 ? 'true' : `${source.slice(size + 1, 32 - size)} = ${zeros(32 - size)}`
      return `CASE WHEN ${guard}${isPadded} THEN ${source.slice(1, size)} END`
    }
    case 'uint':
      return uintValue(schema, abi.bits / 8, source)
    case 'int':
      return intValue(schema, abi.bits / 8, source)
    default:
      throw new TypeError(`${abi.kind} is no type of one word`)
  }
}

/** Bytes cast to integers are padded with zeros in front (PostgreSQL 18). */
function uintValue(schema: string, size: number, { word, slice, guard }: WordSource): string {
  const padding = 32 - size
  const isPadded = padding === 0 ? 'true' : `${slice(1, padding)} = ${zeros(padding)}`
  const number =
    size <= 7
      ? `${slice(padding + 1, size)}::${integerType(size)}`
      : `${functionOf(schema, 'abi_uint')}(${word})`
  return `CASE WHEN ${guard}${isPadded} THEN ${number} END`
}

/**
 * Two's complement: the padding repeats the sign bit, so that comparing it with the bounds tells
 * all.
 */
function intValue(schema: string, size: number, { word, slice, guard }: WordSource): string {
  const padding = 32 - size
  const head = slice(1, padding + 1)
  const isPositive = `${head} < ${bytes(`${'00'.repeat(padding)}80`)}`
  const isNegative = `${head} >= ${bytes(`${'ff'.repeat(padding)}80`)}`
  const own = slice(padding + 1, size)
  const [positive, negative] =
    size === 4 || size === 8
      ? [`${own}::int${size}`, `${own}::int${size}`]
      : size < 8
        ? [`${own}::${integerType(size)}`, `${own}::${integerType(size)} - ${2n ** BigInt(size * 8)}`]
        : [unsigned(schema, word), `${unsigned(schema, word)} - ${2n ** 256n}`]
  return `CASE WHEN ${guard}${isPositive} THEN ${positive} WHEN ${guard}${isNegative} THEN ${negative} END`
}

const unsigned = (schema: string, word: string) => `${functionOf(schema, 'abi_uint')}(${word})`
const integerType = (size: number) => (size <= 3 ? 'int4' : 'int8')
const functionOf = (schema: string, name: string) => `${quoteIdentifier(schema)}.${name}`
const slice = (bytes: string, from: number, length: number) => `substr(${bytes}, ${from}, ${length})`
const bytes = (hex: string) => `'\\x${hex}'::bytea`
const zeros = (count: number) => bytes('00'.repeat(count))

/** The description of a type that abi_json needs. */
export function typeText(abi: AbiType): string {
  return JSON.stringify(typeNode(abi))
}

type TypeNode = Readonly<Record<string, unknown>>

function typeNode(abi: AbiType): TypeNode {
  const size = abi.isDynamic ? {} : { size: abi.words * 32 }
  switch (abi.kind) {
    case 'list':
      return { kind: abi.kind, ...size, length: abi.length, element: typeNode(abi.element) }
    case 'tuple': {
      const names = objectKeys(abi) && abi.components.map(({ name }) => name)
      const head = headWords(abi.components) * 32
      return {
        kind: abi.kind,
        ...size,
        head,
        names,
        components: abi.components.map(({ type }) => typeNode(type)),
      }
    }
    case 'bytes':
    case 'string':
      return { kind: abi.kind }
    default:
      return wordNode(abi)
  }
}

/** Numbers of more than 32 bits are text in JSON, as everywhere in results. */
function wordNode(abi: WordType): TypeNode {
  const word = { kind: abi.kind, size: 32 }
  if (abi.kind === 'fixedBytes') return { ...word, width: abi.size }
  if (abi.kind !== 'uint' && abi.kind !== 'int') return word
  const isNumber = (abi.kind === 'int' ? abi.bits : abi.bits + 1) <= 32
  return { ...word, bits: abi.bits, isNumber }
}
