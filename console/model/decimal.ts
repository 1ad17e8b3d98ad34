/**
 * Exact order of decimal numbers given as text, of any length; 256-bit amounts do not fit a
 * JavaScript number.
 */

/** Negative, zero or positive, like every comparison of Array.sort. */
export function compareDecimals(a: string, b: string): number {
  const left = split(a)
  const right = split(b)
  if (left.negative !== right.negative) return left.negative ? -1 : 1
  const magnitude = compareMagnitudes(left, right)
  return left.negative ? -magnitude : magnitude
}

/** A whole number of smallest units as a decimal number, without zeros that say nothing. */
export function decimalOf(units: string, decimals: number): string {
  const digits = units.padStart(decimals + 1, '0')
  const at = digits.length - decimals
  const fraction = digits.slice(at).replace(/0+$/, '')
  return digits.slice(0, at) + (fraction === '' ? '' : `.${fraction}`)
}

/** The exact sum of decimal numbers, as `0.1` and `-0.02`; `0` of none. */
export function sumOfDecimals(texts: readonly string[]): string {
  const parts = texts.map(split)
  const decimals = Math.max(0, ...parts.map(({ fraction }) => fraction.length))
  const units = parts.reduce((sum, { negative, whole, fraction }) => {
    const size = BigInt(whole + fraction.padEnd(decimals, '0') || '0')
    return negative ? sum - size : sum + size
  }, 0n)
  return units < 0n ? `-${decimalOf(`${-units}`, decimals)}` : decimalOf(`${units}`, decimals)
}

interface Parts {
  readonly negative: boolean
  /** Without leading zeros. */
  readonly whole: string
  /** Without trailing zeros. */
  readonly fraction: string
}

function split(text: string): Parts {
  const negative = text.startsWith('-')
  const [whole = '', fraction = ''] = text.replace(/^[-+]/, '').split('.')
  const parts = { whole: whole.replace(/^0+/, ''), fraction: fraction.replace(/0+$/, '') }
  // There is one zero.
  return { negative: negative && parts.whole + parts.fraction !== '', ...parts }
}

function compareMagnitudes(a: Parts, b: Parts): number {
  if (a.whole.length !== b.whole.length) return a.whole.length - b.whole.length
  if (a.whole !== b.whole) return a.whole < b.whole ? -1 : 1
  return a.fraction < b.fraction ? -1 : a.fraction > b.fraction ? 1 : 0
}
