/**
 * Fields of a part whose shape nobody checked: what is not of the expected kind has no value, and is
 * no error.
 */

export type Loose = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function hex(value: unknown): string | null {
  return typeof value === 'string' && value.startsWith('0x') ? value : null
}

/** A number written as bytes or as a quantity, as a quantity. */
export function scalar(value: unknown): string | null {
  const text = hex(value)
  return text === null ? null : withoutLeadingZeros(text)
}

/** A number written as bytes, as a quantity. */
export function withoutLeadingZeros(text: string): string {
  if (text.charCodeAt(2) !== 48) return text
  let start = 2
  while (start < text.length - 1 && text.charCodeAt(start) === 48) start++
  return `0x${text.slice(start)}`
}

/** A 256-bit number as 64 digits; nodes cut or keep its leading zeros. */
export function word(value: unknown): string {
  return (hex(value)?.slice(2) ?? '').padStart(64, '0')
}

/** No longer than a word: otherwise its digits could be told as those of the part beside it. */
export function isWord(value: unknown): boolean {
  return (
    typeof value === 'string' && value.length > 2 && value.length <= WORD_DIGITS && value.startsWith('0x')
  )
}

const WORD_DIGITS = 2 + 64

export function parity(signature: Loose): string | null {
  return scalar(signature['yParity']) ?? scalar(signature['v'])
}
