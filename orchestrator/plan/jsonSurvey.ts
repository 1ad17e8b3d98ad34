/** The contents of a JSON text, found in one pass over its characters, before anything is made of it. */

export interface JsonSurvey {
  /** Members and items at all depths: what a reader of the value visits. */
  readonly values: number
  /** Numbers whose digits had to be compared. */
  readonly longNumbers: number
  /**
   * Numbers that a double cannot hold as written: a plan that is hashed and priced must be the one
   * that was sent. `1.0` and `1e2` are 1 and 100.
   */
  readonly inexact: readonly string[]
}

/** A plan of 100 nodes with 200 values each; a visit of all, each a reference, takes some 40 ms. */
export const VALUES_MAX = 20_000
/** Numbers of more than 15 digits, each 100 digits one; a look at them all takes some 20 ms. */
export const LONG_NUMBERS_MAX = 5_000
/** Inexact numbers told: a plan made of them needs no longer list. */
const INEXACT_MAX = 20

/** Ends early where a bound is passed. */
export function surveyOf(text: string): JsonSurvey {
  const inexact: string[] = []
  let values = 1
  let longNumbers = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === comma || char === openBrace || char === openBracket) values += 1
    else if (char === minus || isDigit(char)) {
      const end = endOfNumber(text, at)
      const token = text.slice(at, end)
      at = end - 1
      if (!isShort(token)) longNumbers += Math.ceil(token.length / 100)
      if (!isExact(token) && inexact.length < INEXACT_MAX) inexact.push(token.slice(0, 100))
    }
    if (values > VALUES_MAX || longNumbers > LONG_NUMBERS_MAX) break
  }
  return { values, longNumbers, inexact }
}

/** Whether any number is one that a double cannot hold as written. */
export function hasInexact(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === minus || isDigit(char)) {
      const end = endOfNumber(text, at)
      if (!isExact(text.slice(at, end))) return true
      at = end - 1
    }
  }
  return false
}

const [quote, backslash, comma, openBrace, openBracket, minus] = [0x22, 0x5c, 0x2c, 0x7b, 0x5b, 0x2d]
const isDigit = (char: number): boolean => char >= 0x30 && char <= 0x39
/** Digits, and `.`, `e`, `E`, `+`, `-`. */
const isOfNumber = (char: number): boolean =>
  isDigit(char) || char === 0x2e || char === 0x65 || char === 0x45 || char === 0x2b || char === minus

/** The place of the closing quote, or the text's end. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at++
  return at
}

/** Up to 15 digits a double gives back. */
const isShort = (token: string): boolean => token.length <= 15 && !/[eE]/.test(token)

export function isExact(token: string): boolean {
  if (isShort(token)) return true
  if (token.length > DIGITS_MAX) return false
  const value = Number(token)
  const told = String(value)
  return told === token || (Number.isFinite(value) && decimalOf(token) === decimalOf(told))
}

/** A number of more characters is refused: some of a double's have 767 digits. */
const DIGITS_MAX = 800

/** Sign, digits and exponent of ten, without zeros that say nothing. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}
