/** The place where a text stops being JSON, told without a character of it: it may hold a key. */

/** `line 3, column 14`, both from 1; null where the text is JSON. */
export function jsonPlace(text: string): string | null {
  const at = firstMistake(text)
  if (at === null) return null
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
}

/** Tokens of JSON; what none of them matches is the mistake. */
const token =
  /[ \t\r\n]+|(?<punctuation>[{}[\],:])|(?<string>"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<value>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy

/** The tokens that may come next: inside a container its end too, if nothing was said in it yet. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end'

/** Position of the first character that no JSON text has there; the text's length where it ends early. */
function firstMistake(text: string): number | null {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    token.lastIndex = at
    const groups = token.exec(text)?.groups
    if (!groups) return at
    const kind = groups['punctuation'] ?? (groups['string'] !== undefined ? '"' : groups['value'] && 'v')
    if (kind !== undefined) {
      const next = following(expected, kind, open)
      if (next === null) return at
      expected = next
    }
    at = token.lastIndex
  }
  return open.length === 0 && expected === 'comma or end' ? null : text.length
}

/** The tokens that may follow one that stands where `expected` says; null if it may not stand there. */
function following(expected: Expected, kind: string, open: string[]): Expected | null {
  if (expected === 'colon') return kind === ':' ? 'value' : null
  if (expected.startsWith('key') && kind === '"') return 'colon'
  if (expected.startsWith('value')) {
    if (kind === '"' || kind === 'v') return 'comma or end'
    if (kind === '{' || kind === '[') {
      open.push(kind)
      return kind === '{' ? 'key or }' : 'value or ]'
    }
  }
  const inside = open.at(-1)
  if (expected === 'comma or end' && kind === ',' && inside !== undefined)
    return inside === '{' ? 'key' : 'value'
  const mayEnd = expected === 'comma or end' || expected.endsWith(kind)
  const isOwnEnd = (kind === '}' && inside === '{') || (kind === ']' && inside === '[')
  if (!mayEnd || !isOwnEnd) return null
  open.pop()
  return 'comma or end'
}
