/**
 * Arrays and tuples as JSON text, in ClickHouse's SQL. A value is read from a region: the bytes
 * from the start of its encoding on. '' stands for a value that is not there, which no JSON is,
 * since arrays cannot be NULL.
 *
 * A lambda copies whatever column it takes along once per element, so no lambda over elements takes
 * the region: a region is split into the elements' own regions first, which Solidity's encoder
 * writes one behind the other. That also bounds the work by the length of the data. Anything else
 * is refused as on Postgres (abiFunctions.ts).
 */

import {
  type AbiType,
  headWords,
  objectKeys,
  type SequenceType,
  type TupleType,
  type WordType,
} from '#transform/abi/abiType.ts'
import { quoteBytes, quoteText } from '../Compiler.ts'
import { abiBytesSql, hasBytes, isPadded, let_, sizeAt, tailAt, toldText, zeros } from './abiBytes.ts'

/**
 * JSON text of the value whose encoding starts `region`, the name of a column or lambda parameter.
 */
export function jsonSql(type: AbiType, region: string): string {
  switch (type.kind) {
    case 'bytes':
      return `if(${hasBytes(region)}, concat('"0x', lower(hex(${abiBytesSql(region)})), '"'), '')`
    case 'string':
      return `if(${hasBytes(region)}, toJSONString(${toldText(abiBytesSql(region))}), '')`
    case 'tuple':
      return tupleJson(type, region)
    case 'list':
      return listJson(type, region)
    default:
      return wordJson(type, region)
  }
}

/** `word` is an expression of 32 bytes. */
function wordJson(type: WordType, word: string): string {
  const checked = (json: string): string =>
    isPadded(word, type) === 'true' ? json : `if(${isPadded(word, type)}, ${json}, '')`
  switch (type.kind) {
    case 'address':
      return checked(`concat('"0x', lower(hex(substring(${word}, 13, 20))), '"')`)
    case 'fixedBytes':
      return checked(`concat('"0x', lower(hex(substring(${word}, 1, ${type.size}))), '"')`)
    case 'bool':
      return `multiIf(${word} = ${zeros(32)}, 'false', ${word} = ${quoteBytes('1'.padStart(64, '0'))}, 'true', '')`
    default: {
      const number = `toString(${type.kind === 'int' ? 'reinterpretAsInt256' : 'reinterpretAsUInt256'}(reverse(${word})))`
      const signedBits = type.kind === 'int' ? type.bits : type.bits + 1
      return checked(signedBits <= 32 ? number : `concat('"', ${number}, '"')`)
    }
  }
}

function tupleJson(type: TupleType, region: string): string {
  const parts = `${region}p`
  const keys = objectKeys(type)
  const order = keys ?? [...type.components.keys()]
  const pieces = order.flatMap((index, position) => {
    const key = keys ? `${JSON.stringify(type.components[index]?.name ?? '')}:` : ''
    return [quoteText(`${position > 0 ? ',' : ''}${key}`), `arrayElement(${parts}, ${index + 1})`]
  })
  const [open, close] = keys ? ['{', '}'] : ['[', ']']
  const text = `concat(${[quoteText(open), ...pieces, quoteText(close)].join(', ')})`
  const isThere = `length(${region}) >= ${headWords(type.components) * 32}`
  const body = let_(
    parts,
    `[${componentsJson(type, region).join(', ')}]`,
    `if(has(${parts}, ''), '', ${text})`,
  )
  return `if(${isThere}, ${body}, '')`
}

function componentsJson({ components }: TupleType, region: string): string[] {
  let at = 0
  const name = `${region}x`
  return components.map(({ type }) => {
    const start = at
    at += type.words * 32
    if (type.isDynamic) return let_(name, tailAt(region, start), jsonSql(type, name))
    const own = `substring(${region}, ${start + 1}, ${type.words * 32})`
    return type.kind === 'list' || type.kind === 'tuple'
      ? let_(name, own, jsonSql(type, name))
      : jsonSql(type, own)
  })
}

function listJson({ element, length }: SequenceType, region: string): string {
  const items = `${region}j`
  const start = length === undefined ? 32 : 0
  const count = length === undefined ? sizeAt(region, 0) : `${length}`
  const joined = (values: string) =>
    let_(items, values, `if(has(${items}, ''), '', concat('[', arrayStringConcat(${items}, ','), ']'))`)
  const name = `${region}e`
  const each = (regions: string) => `arrayMap(${name} -> ${jsonSql(element, name)}, ${regions})`
  if (element.isDynamic) return dynamicElements(region, start, count, (regions) => joined(each(regions)))
  const size = element.words * 32
  const isThere = `${count} * ${size} + ${start} <= length(${region})`
  const bytes = `substring(${region}, ${start + 1}, if(${isThere}, ${count} * ${size}, 0))`
  return `if(${isThere}, ${joined(each(`reinterpret(${bytes}, 'Array(FixedString(${size}))')`))}, '')`
}

/**
 * Elements behind offsets: the first begins where the offsets end, and each ends where the next
 * begins. Only whole words count. Each is a run of words, cut out of all of them by marks at the
 * offsets. What must not be cut is decided by data and not by a branch, since the engine may run
 * both sides of an if.
 */
function dynamicElements(
  region: string,
  start: number,
  count: string,
  joined: (regions: string) => string,
): string {
  const [words, offsets, lengths, known] = [`${region}w`, `${region}o`, `${region}d`, `${region}k`]
  const rest = `substring(${region}, ${start + 1}, intDiv(greatest(length(${region}), ${start}) - ${start}, 32) * 32)`
  const heads = `arraySlice(${words}, 1, if(${count} <= length(${words}), ${count}, 0))`
  const ends = `arraySlice(arrayPushBack(${offsets}, toUInt64(length(${words}) * 32)), 2)`
  const differences = `arrayMap((start, stop) -> if(stop > start AND start % 32 = 0, toUInt64(stop - start), 0), ${offsets}, ${ends})`
  const isOrdered = `NOT has(${lengths}, 0) AND (empty(${offsets}) OR arrayElement(${offsets}, 1) = length(${offsets}) * 32)`
  const marks = `arrayFlatten(arrayMap(size -> arrayConcat([1], arrayWithConstant(intDiv(size, 32) - 1, 0)), ${known}))`
  const tails = `arraySlice(${words}, length(${known}) + 1, if(empty(${known}), 0, length(${words})))`
  const runs = `arrayMap(run -> arrayStringConcat(arrayMap(word -> substring(word, 1, 32), run)), arraySplit((word, mark) -> mark, ${tails}, ${marks}))`
  const isThere = `length(${region}) >= ${start} AND length(${known}) = ${count}`
  const read = `if(${isThere}, ${joined(runs)}, '')`
  const checked = let_(known, `if(${isOrdered}, ${lengths}, CAST([] AS Array(UInt64)))`, read)
  const measured = let_(lengths, differences, checked)
  return let_(
    words,
    `reinterpret(${rest}, 'Array(FixedString(32))')`,
    let_(offsets, `arrayMap(word -> ${sizeAt('word', 0)}, ${heads})`, measured),
  )
}
