/**
 * The SELECT a decoded table stands for on ClickHouse. A value the log does not hold is NULL, and
 * no input raises an error. Expressions are plain functions of the data; those of arrays and tuples
 * are in decodeJson.ts.
 */

import type { AbiType, WordType } from '#transform/abi/abiType.ts'
import { isHashedInTopic } from '#transform/abi/abiType.ts'
import { blockColumnOf, type DecodedParameter, type DecodedTable } from '../../../decoded/decodedTable.ts'
import type { KeyTerm } from '../../../decoded/keyTerms.ts'
import { logConditions } from '../../../decoded/logConditions.ts'
import { quoteBytes, quoteName } from '../Compiler.ts'
import { abiBytesSql, hasBytes, isPadded, let_, tailAt, toldText, zeros } from './abiBytes.ts'
import { callsSql } from './callsSql.ts'
import { jsonSql } from './decodeJson.ts'

/** With a space, as no column has it: a bare name could be one of the list's own. */
const row = quoteName('a row')

/** `isUsed` says whether the query mentions a column; the others are left out. */
export function decodedSelect(
  database: string,
  table: DecodedTable,
  terms: readonly KeyTerm[],
  isUsed: (column: string) => boolean,
): string {
  const { ownColumns, parameters, signature } = table
  const isEvent = signature.kind === 'event'
  const columns = [
    ...ownColumns.map(({ name }) => `${row}.${quoteName(name)} AS ${quoteName(name)}`),
    ...parameters
      .filter(({ name }) => isUsed(name))
      .map((parameter) => `${valueSql(parameter, isEvent)} AS ${quoteName(parameter.name)}`),
  ]
  const block = blockColumnOf(table)
  if (block !== 'block_num') columns.push(`${row}.block_num AS ${quoteName(block)}`)
  const from = isEvent ? `${quoteName(database)}.logs` : `(${callsSql(database, signature.selector)})`
  const where = isEvent ? ` WHERE ${logConditions(table, terms, row, quoteBytes)}` : ''
  return `SELECT ${columns.join(', ')} FROM ${from} AS ${row}${where}`
}

function valueSql({ abi, place }: DecodedParameter, isEvent: boolean): string {
  if (place.kind === 'topic') {
    const topic = `${row}.topic${place.topic}`
    return isHashedInTopic(abi) ? topic : wordValue(abi, `substring(${topic}, 1, 32)`, 'true')
  }
  // Offsets of a call's arguments count from behind the selector.
  const data = isEvent ? `${row}.data` : `substring(${row}.input, 5)`
  const isThere = `length(${data}) >= ${place.at + 32 * abi.words}`
  const inPlace = `substring(${data}, ${place.at + 1}, ${abi.words * 32})`
  const region = abi.isDynamic ? `if(${isThere}, ${tailAt(data, place.at)}, '')` : inPlace
  if (abi.kind === 'bytes') return let_('r', region, `if(${hasBytes('r')}, ${abiBytesSql('r')}, NULL)`)
  if (abi.kind === 'string') return let_('r', region, stringValue)
  if (abi.kind === 'list' || abi.kind === 'tuple')
    return let_('r', region, `nullIf(${jsonSql(abi, 'r')}, '')`)
  return wordValue(abi, inPlace, isThere)
}

const stringValue = `if(${hasBytes('r')}, ${toldText(abiBytesSql('r'))}, NULL)`

function wordValue(abi: AbiType, word: string, guard: string): string {
  switch (abi.kind) {
    case 'address':
      return `if(${guard} AND ${isPadded(word, abi)}, CAST(substring(${word}, 13, 20) AS Nullable(FixedString(20))), NULL)`
    case 'bool':
      return `multiIf(${word} = ${zeros(32)}, false, ${word} = ${quoteBytes('1'.padStart(64, '0'))}, true, NULL)`
    case 'fixedBytes':
      return `if(${guard} AND ${isPadded(word, abi)}, CAST(substring(${word}, 1, ${abi.size}) AS Nullable(FixedString(${abi.size}))), NULL)`
    case 'uint':
    case 'int': {
      const number = `${abi.kind === 'int' ? 'reinterpretAsInt256' : 'reinterpretAsUInt256'}(reverse(${word}))`
      return `if(${guard} AND ${isPadded(word, abi)}, CAST(${number} AS Nullable(${integerType(abi)})), NULL)`
    }
    default:
      throw new TypeError(`${abi.kind} is no type of one word`)
  }
}

/** The widths of logicalTypeOf. */
function integerType({ kind, bits }: Extract<WordType, { kind: 'uint' | 'int' }>): string {
  const signedBits = kind === 'int' ? bits : bits + 1
  if (signedBits <= 32) return 'Int32'
  if (signedBits <= 64) return 'Int64'
  return kind === 'int' ? 'Int256' : 'UInt256'
}
