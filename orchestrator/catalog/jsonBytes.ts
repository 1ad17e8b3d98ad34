/** Bytes of a stranger's value as JSON, without writing it: a reference may make it large. */
import { isRecord } from '#primitives.ts'

/** Deeper values are attacks on recursive readers. */
const DEPTH_MAX = 64

/** ES2026; TypeScript's libraries do not have it yet. */
const json = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } }

/** Whether it is a number whose text is kept (lossless.ts), which has no members. */
export const isKeptNumber = json.isRawJSON

/** Counted up to `most` and a little above: what is larger takes no longer. */
export function jsonBytes(value: unknown, most: number, depth = 0): number {
  if (depth > DEPTH_MAX) return Number.POSITIVE_INFINITY
  if (typeof value === 'string')
    return value.length > most ? value.length : Buffer.byteLength(JSON.stringify(value))
  if (typeof value !== 'object' || value === null) return String(value).length
  if (isKeptNumber(value)) return value.rawJSON.length
  let bytes = 2
  const add = (each: unknown) => {
    bytes += 1 + jsonBytes(each, most - bytes, depth + 1)
    return bytes <= most
  }
  if (Array.isArray(value)) value.every(add)
  else if (isRecord(value)) Object.entries(value).every(([name, each]) => add(name) && add(each))
  return bytes
}

/**
 * Whether a database keeps the JSON text of a value as it is: half characters and NUL, which
 * `JSON.stringify` writes as escapes, are no text to it.
 */
export const isStorable = (json: string): boolean => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
