/** How the text of a setting is read: into which form, and what that form must satisfy. */
import * as s from '#http/schema.ts'

export interface Kind<Schema extends s.TSchema = s.TSchema> {
  readonly schema: Schema
  /** The text in the form that the schema checks. */
  readonly fromText: (text: string) => unknown
  /** The text without its secrets, for people; left out, it has none. */
  readonly shown?: (text: string) => string
}

const asText = (text: string): string => text

export const text = { schema: s.text(), fromText: asText }

export const whole = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) => ({
  schema: s.integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` }),
  fromText: (text: string) => (/^\d{1,16}$/.test(text) ? Number(text) : text),
})

export const oneOf = <const Words extends readonly string[]>(...words: Words) => ({
  schema: s.oneOf(words, { description: `one of ${words.join(', ')}` }),
  fromText: asText,
})

/** The same, or a word. */
export const wholeOr = <const Word extends string>(minimum: number, maximum: number, word: Word) => {
  const { schema, fromText } = whole(minimum, maximum)
  const description = `${word}, or a whole number from ${minimum} to ${maximum}`
  return { schema: s.union([schema, s.literal(word)], { description }), fromText }
}

/** Text of a pattern, for which a rule holds. */
export const matching = (
  pattern: string,
  description: string,
  holds: (text: string) => boolean = () => true,
) => ({ schema: s.refine(s.text({ pattern, description }), holds), fromText: asText })

/** A URL of one of these protocols. Its login, path and query may be keys. */
export const url = (...protocols: readonly string[]) => ({
  ...matching(
    `^(${protocols.join('|')})://`,
    `a URL that begins with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    URL.canParse,
  ),
  shown: withHostAlone,
})

/** `https://node.example/…` */
function withHostAlone(text: string): string {
  const { protocol, host, pathname, search, hash } = new URL(text)
  return `${protocol}//${host}${pathname.length > 1 || search || hash ? '/…' : ''}`
}

/** A text that nobody is to see. */
export const secret = <Of extends Kind>(kind: Of) => ({ ...kind, shown: () => '(hidden)' })

/** Values with commas between. */
export const list = <Schema extends s.TSchema>({ schema, fromText, shown = asText }: Kind<Schema>) => ({
  schema: s.array(schema),
  fromText: (text: string) => entriesOf(text).map(fromText),
  shown: (text: string) => entriesOf(text).map(shown).join(', '),
})

const entriesOf = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
