/**
 * Reading ABI words and offsets in ClickHouse's SQL. `region` is an expression of bytes; positions
 * count from 0.
 */

import type { WordType } from '#transform/abi/abiType.ts'
import { MARK, REPLACED } from '#transform/abi/argumentText.ts'
import { quoteBytes, quoteText } from '../Compiler.ts'

/**
 * A length or offset; one larger than any data is cut to more than any length. What it is where the
 * region ends before it does not matter: compare with the region's length, the word's own 32 bytes
 * included.
 */
export const sizeAt = (region: string, at: number): string =>
  `toUInt64(least(reinterpretAsUInt256(reverse(substring(${region}, ${at + 1}, 32))), 4294967296))`

/** The bytes that the offset at `at` points to, up to the end of the region; empty if it points outside. */
export const tailAt = (region: string, at: number): string =>
  `if(${sizeAt(region, at)} <= length(${region}), substring(${region}, ${sizeAt(region, at)} + 1), '')`

/** Whether bytes with their length in front are there in full, and those bytes. */
export const hasBytes = (region: string): string => `${sizeAt(region, 0)} + 32 <= length(${region})`
export const abiBytesSql = (region: string): string => `substring(${region}, 33, ${sizeAt(region, 0)})`

/**
 * `name` stands for `value` in `body`, which must not use any other name: a lambda copies what it
 * takes along.
 */
export const let_ = (name: string, value: string, body: string): string =>
  `arrayElement(arrayMap(${name} -> ${body}, [${value}]), 1)`

/** `bytes`, an expression, as the text that argumentText.ts makes of them. */
export const toldText = (bytes: string): string => let_('b', bytes, textOfBytes)

const asciiEnd = `length(extract(b, ${quoteText('^[\\x01-\\x7f]*')}))`
const mark = quoteText(MARK)
const spelledOut = let_('e', asciiEnd, `concat(substring(b, 1, e), ${mark}, lower(hex(substring(b, e + 1))))`)
const looksSpelled = quoteText(`^([\\x01-\\x7f]*)(${REPLACED}+0x)`)
const marked = `replaceRegexpOne(b, ${looksSpelled}, ${quoteText(`\\1${REPLACED}\\2`)})`
const isNoText = `NOT isValidUTF8(b) OR position(b, '\\0') > 0`
const textOfBytes = `multiIf(${isNoText}, ${spelledOut}, position(b, ${mark}) > 0, ${marked}, b)`

export const zeros = (count: number): string => quoteBytes('00'.repeat(count))

/** That the bytes of a word which its type does not use are what the encoding makes them. */
export function isPadded(word: string, type: WordType): string {
  switch (type.kind) {
    case 'address':
      return `substring(${word}, 1, 12) = ${zeros(12)}`
    case 'bool':
      return `substring(${word}, 1, 31) = ${zeros(31)}`
    case 'fixedBytes':
      return type.size === 32
        ? 'true'
        : `substring(${word}, ${type.size + 1}, ${32 - type.size}) = ${zeros(32 - type.size)}`
    case 'uint': {
      const padding = 32 - type.bits / 8
      return padding === 0 ? 'true' : `substring(${word}, 1, ${padding}) = ${zeros(padding)}`
    }
    case 'int':
      return isSignExtended(word, 32 - type.bits / 8)
  }
}

/** The padding repeats the sign bit. */
function isSignExtended(word: string, padding: number): string {
  if (padding === 0) return 'true'
  const head = `substring(${word}, 1, ${padding + 1})`
  return `(${head} < ${quoteBytes(`${'00'.repeat(padding)}80`)} OR ${head} >= ${quoteBytes(`${'ff'.repeat(padding)}80`)})`
}
