/**
 * How deep lists and objects of a node's answer may stand in each other. What is stored is read
 * again by parsers that call themselves at each level, and a few thousand levels, of a field that
 * nobody knows, would be stored and never read.
 */

/** Levels of one value; blocks of any chain have fewer than ten. */
export const NESTING_MAX = 64
/** Levels around a value that a scanner passes over: the batch, its item, block, transaction. */
const LEVELS_AROUND = 8

/** Whether the text, a whole answer or part of one, has more levels than a scanner passes. */
export function isNestedTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = closingQuote(text, at + 1)
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > NESTING_MAX + LEVELS_AROUND) return true
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--
  }
  return false
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** The end of the text where no quote closes it. */
function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === BACKSLASH) at++
    else if (character === QUOTE) return at
  }
  return text.length
}
