/**
 * Pieces of JSON text, found without parsing it: what is passed on keeps its bytes. The text is
 * taken to be valid; where it is not, an answer is null or a piece that its reader refuses.
 */
import type { Slice } from './JsonCursor.ts'

/** The members of the object that begins at `from`, by name; null where none does. */
export function sliceMembers(text: string, from = 0): ReadonlyMap<string, Slice> | null {
  const members = new Map<string, Slice>()
  let at = skipSpace(text, from)
  if (text[at] !== '{') return null
  at = skipSpace(text, at + 1)
  if (text[at] === '}') return members
  for (;;) {
    if (text[at] !== '"') return null
    const nameEnd = closingQuote(text, at + 1)
    const colon = skipSpace(text, nameEnd + 1)
    if (text[colon] !== ':') return null
    const value = sliceValue(text, colon + 1)
    members.set(nameOf(text, at, nameEnd), value)
    at = skipSpace(text, value.to)
    if (text[at] === '}') return members
    if (text[at] !== ',') return null
    at = skipSpace(text, at + 1)
  }
}

/** The items of the list that begins at `from`; null where none does. */
export function sliceItems(text: string, from = 0): Slice[] | null {
  const items: Slice[] = []
  let at = skipSpace(text, from)
  if (text[at] !== '[') return null
  at = skipSpace(text, at + 1)
  if (text[at] === ']') return items
  for (;;) {
    const item = sliceValue(text, at)
    items.push(item)
    at = skipSpace(text, item.to)
    if (text[at] === ']') return items
    if (text[at] !== ',') return null
    at += 1
  }
}

export const sliceText = (text: string, { from, to }: Slice): string => text.slice(from, to)

/** The end of the object or list that begins at `from`. */
export function endOfObject(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) at = closingQuote(text, at + 1)
    else if (character === openObject || character === openList) depth++
    else if ((character === closeObject || character === closeList) && --depth === 0) return at + 1
  }
  return text.length
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}

function sliceValue(text: string, start: number): Slice {
  const from = skipSpace(text, start)
  const first = text[from]
  if (first === '"') return { from, to: closingQuote(text, from + 1) + 1 }
  if (first === '{' || first === '[') return { from, to: endOfObject(text, from) }
  let to = from
  while (to < text.length && !endsWord.has(text.charCodeAt(to))) to++
  return { from, to }
}

/** Characters behind a number or a word: comma, closing brackets, space. */
const endsWord: ReadonlySet<number> = new Set([0x2c, closeList, closeObject, 0x20, 0x0a, 0x0d, 0x09])

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** A name may be written with escapes. */
function nameOf(text: string, from: number, end: number): string {
  const name = text.slice(from + 1, end)
  return name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name
}
