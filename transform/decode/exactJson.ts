/**
 * JSON whose numbers leave as they came, for payloads that are put out again: a double keeps 15
 * digits of a number, and no `1.0`.
 */

/** ES2026; TypeScript's libraries do not have it yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

/**
 * As JSON.parse, but a number that a double would not give back is something only JSON.stringify
 * can read.
 */
export function parseExact(text: string): unknown {
  return suspect.test(text) ? JSON.parse(text, keepText) : JSON.parse(text)
}

/** As JSON.stringify, with a bigint as an integer of all its digits. */
export const stringifyExact = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? JSON.rawJSON(`${member}`) : member,
  )

/**
 * Sixteen digits, a fraction or an exponent. Nodes write none (nor does any recording), so that
 * parsing with a function, 5 to 13 times slower, is rare.
 */
const suspect = /[:[,]\s*-?(?:\d{16}|\d+[.eE])/

function keepText(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source } = context ?? {}
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? JSON.rawJSON(source)
    : value
}
