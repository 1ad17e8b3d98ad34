/**
 * Texts for a parameter, made from its documented schema: those it must refuse and those it must
 * take.
 */
import type { Schema } from './apiDocument.ts'

/** Texts that people, scripts and scanners really send. */
const commonTexts = [
  '',
  ' ',
  'x',
  'nonsense',
  'null',
  'true',
  'TRUE',
  '0',
  '01',
  '1',
  '5',
  '-1',
  '1.5',
  '1e3',
  '0x',
  '0x1',
  `0x${'12'.repeat(20)}`,
  `0x${'aB'.repeat(20)}`,
  `0X${'AB'.repeat(20)}`,
  `0x${'aB'.repeat(32)}`,
  `0x${'12'.repeat(21)}`,
  `0x${'zz'.repeat(20)}`,
  `0x${'12'.repeat(32)}`,
  '9007199254740993',
  '99999999999999999999',
  '2026-01-31T12:00:00Z',
  '2026-02-30T12:00:00Z',
  '2026-01-31',
  'yesterday',
  'a,b',
  ',',
  '\u0000',
  "1'; DROP TABLE blocks; --",
  'x'.repeat(300),
  '11111111-1111-4111-8111-111111111111',
]

/** A URL of ours is at most 8 KiB long. */
const charactersMax = 6_000

/** Texts to try on a parameter: common ones, and those just inside and outside its bounds. */
export function textsFor(schema: Schema): readonly string[] {
  const texts = [...commonTexts, ...boundaryTexts(schema)]
  return [...new Set(texts)].filter((text) => text.length <= charactersMax)
}

function boundaryTexts(schema: Schema): readonly string[] {
  const { minimum, maximum, maxLength, items, maxItems, anyOf = [], enum: words = [] } = schema
  const item = items && validText(items)
  return [
    ...(minimum === undefined ? [] : [`${minimum - 1}`, `${minimum}`]),
    ...(maximum === undefined ? [] : [`${maximum}`, `${maximum + 1}`]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)]),
    ...words.flatMap((word) => [`${word}`, `${word}x`, ` ${word}`]),
    ...(item === undefined || maxItems === undefined
      ? []
      : [
          item,
          `${item},nonsense,${item}`,
          Array(maxItems + 1)
            .fill(item)
            .join(','),
        ]),
    ...anyOf.flatMap(boundaryTexts),
  ]
}

/** A text that the schema accepts. */
export function validText(schema: Schema): string {
  const { examples, enum: words, items, anyOf } = schema
  if (schema.default !== undefined) return `${schema.default}`
  if (examples?.length) return `${examples[0]}`
  if (words?.length) return `${words[0]}`
  if (items) return validText(items)
  if (anyOf?.[0]) return validText(anyOf[0])
  const found = [...commonTexts, ...boundaryTexts(schema)].find(
    (text) => text.trim() !== '' && accepts(schema, text),
  )
  if (found === undefined) throw new TypeError(`no text is known for ${JSON.stringify(schema)}`)
  return found
}

/**
 * Whether a parameter of this schema takes the text.
 * @param explode its lists are given by repeats, so that a comma is a character of a value
 */
export function accepts(schema: Schema, text: string, explode = false): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch) => accepts(branch, text, explode))
  if (schema.enum) return schema.enum.some((word) => `${word}` === text)
  if (schema.const !== undefined) return `${schema.const}` === text
  switch (schema.type) {
    case 'integer':
      return isInteger(text) && Number(text) >= (schema.minimum ?? -Infinity) && Number(text) <= bound(schema)
    case 'boolean':
      return text === 'true' || text === 'false'
    case 'array': {
      const values = explode ? [text] : text.split(',')
      const { items = {}, maxItems = Infinity } = schema
      return values.length <= maxItems && values.every((value) => accepts(items, value))
    }
    default:
      return acceptsString(schema, text)
  }
}

const isInteger = (text: string): boolean =>
  /^-?[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
const bound = ({ maximum }: Schema): number => maximum ?? Number.MAX_SAFE_INTEGER

function acceptsString(
  { format, pattern, minLength = 0, maxLength = Infinity }: Schema,
  text: string,
): boolean {
  if (text.length < minLength || text.length > maxLength) return false
  if (format === 'date-time') return isMoment(text)
  return pattern === undefined || new RegExp(pattern).test(text)
}

function isMoment(text: string): boolean {
  const [, day = ''] =
    /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? []
  const ms = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) && !Number.isNaN(Date.parse(text))
}
