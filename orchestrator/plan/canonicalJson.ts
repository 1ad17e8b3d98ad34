/**
 * JSON in the one form that hashes are made of (RFC 8785), and numbers that would not survive it.
 */
import { createHash } from 'node:crypto'
import { failure } from '#errors.ts'
import { isRecord } from '#primitives.ts'

/** @throws NotCanonicalError for what JSON cannot hold: lone surrogates, infinities */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isRecord(value)) {
    // UTF-16 code units, which is how JavaScript compares.
    const names = Object.keys(value).sort()
    return `{${names.map((name) => `${textOf(name)}:${canonicalJson(value[name])}`).join(',')}}`
  }
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new NotCanonicalError('a number is infinite')
  return JSON.stringify(value)
}

export const canonicalHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex')

function textOf(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonicalError('a text is not well-formed Unicode')
  return JSON.stringify(text)
}

/**
 * Numbers in a JSON text that a double cannot hold as written, up to `countMax`: a plan that is
 * hashed and priced must be the one that was sent. `1.0` and `1e2` are 1 and 100.
 */
export function inexactNumbers(text: string, countMax = 20): string[] {
  const found: string[] = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    if (token.startsWith('"') || isExact(token)) continue
    found.push(token.slice(0, 100))
    if (found.length === countMax) break
  }
  return found
}

function isExact(token: string): boolean {
  // Up to 15 digits a double gives back.
  if (token.length <= 15 && !/[eE]/.test(token)) return true
  const value = Number(token)
  return Number.isFinite(value) && decimalOf(token) === decimalOf(String(value))
}

/** Sign, digits and exponent of ten, without zeros that say nothing. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** The message says what JSON cannot hold. */
export class NotCanonicalError extends failure('NotCanonicalError', 'not_canonical', 'stop') {}
