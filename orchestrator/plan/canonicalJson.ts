/** JSON in the one form that hashes are made of (RFC 8785). */
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

/** The message says what JSON cannot hold. */
export class NotCanonicalError extends failure('NotCanonicalError', 'not_canonical', 'stop') {}
