/** Functions of PostgreSQL and of the program's own that the engine has under no name. */
import { type Compiled, invalid, quoteBytes, quoteText, refused } from '../Compiler.ts'
import { demanded } from '../demanded.ts'
import { asNumber, bind } from '../numbers.ts'
import { isNumber, isWhole, scalar, unsigned, varyingBytes } from '../valueType.ts'
import type { PortableCall as Call } from './portableCall.ts'

export const translated: Readonly<Record<string, (call: Call) => Compiled>> = {
  to_char: timeText,
  split_part: splitPart,
  '->': documentPart,
  '->>': documentText,
  abi_uint: wordNumber,
  abi_int: wordNumber,
  abi_address: wordAddress,
  abi_bool: wordFlag,
}

/** Seconds, with a fraction or without, as a time. */
export function ofSeconds({ call, args: [seconds] }: Call): Compiled | undefined {
  if (!seconds || call.name.toLowerCase() !== 'to_timestamp' || !isNumber(seconds.type)) return undefined
  const micros = `toInt64(round(${asNumber(seconds, scalar('float'))} * 1000000))`
  const time = isWhole(seconds.type)
    ? `toDateTime64(toInt64(${seconds.sql}), 6, 'UTC')`
    : `fromUnixTimestamp64Micro(${micros}, 'UTC')`
  // The engine takes the last time it knows for all that are later.
  const isKnown = `abs(${seconds.sql}) <= ${SECONDS_MAX}`
  return { sql: demanded(isKnown, 'noTime', time), type: scalar('timestamp') }
}

/** To the end of the year 9999. */
const SECONDS_MAX = 253_402_300_799

/** PostgreSQL's marks of times and the engine's, longest first. */
const timeMarks: readonly (readonly [string, string])[] = [
  ['YYYY', '%Y'],
  ['IYYY', '%G'],
  ['HH24', '%H'],
  ['Mon', '%b'],
  ['MM', '%m'],
  ['DD', '%d'],
  ['MI', '%i'],
  ['SS', '%S'],
  ['IW', '%V'],
  ['Q', '%Q'],
]

const marksHint =
  'use YYYY MM DD HH24 MI SS Mon Q IYYY IW, and quotes around other letters: \'YYYY-MM-DD"T"HH24:MI:SS\''

function timeText({ compiler, call, args: [value] }: Call): Compiled {
  const form = call.args[1]
  const isTime = value?.type.scalar === 'timestamp' || value?.type.scalar === 'date'
  if (!value || !isTime || form?.kind !== 'string')
    throw refused(compiler, 'to_char takes a time and a form of it', call.at, 'write a number as x::text')
  let marks = ''
  for (let rest = form.value; rest !== ''; ) {
    const [, quoted] = /^"([^"%]*)"/.exec(rest) ?? []
    const [own = '', mark] = timeMarks.find(([candidate]) => rest.startsWith(candidate)) ?? []
    if (quoted === undefined && mark === undefined && /^[A-Za-z"%]/.test(rest))
      throw refused(compiler, `to_char does not take ${rest} here`, form.at, marksHint)
    marks += quoted ?? mark ?? rest.slice(0, 1)
    rest = rest.slice(quoted === undefined ? own.length || 1 : quoted.length + 2)
  }
  return { sql: `formatDateTime(${value.sql}, ${quoteText(marks)})`, type: scalar('text') }
}

function splitPart({ compiler, call, args: [value, by] }: Call): Compiled {
  const [, separator, place] = call.args
  const isPlain = separator?.kind === 'string' && separator.value !== ''
  if (!value || !by || !isPlain || place?.kind !== 'number' || !/^[1-9]\d*$/.test(place.text))
    throw refused(
      compiler,
      'split_part takes a separator and a place from 1, both written out',
      call.at,
      "write split_part(x, ',', 1)",
    )
  const parts = `splitByString(${by.sql}, ifNull(${value.sql}, ''))`
  return {
    sql: `if(isNull(${value.sql}), NULL, arrayElement(${parts}, ${place.text}))`,
    type: scalar('text'),
  }
}

/** A key, or a place from 0; the engine counts from 1, and both from -1 at the end. */
function stepOf({ compiler, call }: Call): string {
  const step = call.args[1]
  if (step?.kind === 'string') return quoteText(step.value)
  const isBelow = step?.kind === 'unary' && step.word === '-'
  const place = isBelow ? step.operand : step
  if (place?.kind !== 'number' || !/^\d{1,9}$/.test(place.text))
    throw refused(
      compiler,
      `${call.name} takes a key or a place, written out`,
      call.at,
      "write x->'key' or x->0",
    )
  return isBelow ? `-${place.text}` : String(Number(place.text) + 1)
}

function documentOf({ compiler, call, args: [value] }: Call): string {
  if (value?.type.scalar === 'json' && !value.type.isArray) return `ifNull(${value.sql}, '')`
  const hint = "a text is one as x::jsonb: x::jsonb->>'key'"
  throw invalid(compiler, `${call.name} takes a document`, call.at, hint)
}

function documentPart(call: Call): Compiled {
  return { sql: `nullIf(JSONExtractRaw(${documentOf(call)}, ${stepOf(call)}), '')`, type: scalar('json') }
}

/** A text without its quotes, anything else as it is written; null is NULL. */
function documentText(call: Call): Compiled {
  const path = `${documentOf(call)}, ${stepOf(call)}`
  const type = `toString(JSONType(${path}))`
  const raw = `JSONExtractRaw(${path})`
  return {
    sql: `multiIf(${type} = 'String', JSONExtractString(${path}), ${raw} = '' OR ${raw} = 'null', NULL, ${raw})`,
    type: scalar('text'),
  }
}

/** A value read of a word of 32 bytes; NULL for any other bytes. */
function ofWord({ compiler, call, args: [value] }: Call, read: (word: string) => string): string {
  if (value?.type.scalar !== 'bytes' || value.type.isArray)
    throw invalid(
      compiler,
      `${call.name} takes a word of 32 bytes`,
      call.at,
      'write topic1, or substring(data, 1, 32)',
    )
  return bind([value.sql], ([word = '']) => `if(length(${word}) = 32, ${read(word)}, NULL)`)
}

function wordNumber(call: Call): Compiled {
  const isSigned = call.rule.name === 'abi_int'
  const read = (word: string) => `reinterpretAs${isSigned ? 'Int' : 'UInt'}256(reverse(${word}))`
  return { sql: ofWord(call, read), type: isSigned ? scalar('numeric') : unsigned('numeric') }
}

function wordAddress(call: Call): Compiled {
  const zeros = quoteBytes('00'.repeat(12))
  const read = (word: string) => `if(substring(${word}, 1, 12) = ${zeros}, substring(${word}, 13, 20), NULL)`
  return { sql: ofWord(call, read), type: { ...varyingBytes, width: 20 } }
}

function wordFlag(call: Call): Compiled {
  const read = (word: string) => {
    const number = `reinterpretAsUInt256(reverse(${word}))`
    return `if(${number} > 1, NULL, ${number} = 1)`
  }
  return { sql: ofWord(call, read), type: scalar('bool') }
}
