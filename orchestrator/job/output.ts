/**
 * A service's answer as a node's output: JSON as it was written, a text as a JSON text, anything
 * else as base64 beside its type.
 */
import { createHash } from 'node:crypto'
import { failure } from '#errors.ts'
import { assertDepth, isWellFormedJson } from '#http/request/json.ts'

/** An answer. */
export const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024
/** All outputs of one job. */
export const JOB_OUTPUT_BYTES_MAX = 32 * 1_024 * 1_024

export interface NodeOutput {
  /** JSON. */
  readonly text: string
  readonly bytes: number
  /** SHA-256 of the text's bytes. */
  readonly digest: Uint8Array
}

/** @throws OutputRefusedError for JSON that is nested too deeply or holds what is no text */
export function outputOf(contentType: string, body: Buffer): NodeOutput {
  const text = textOf(contentType, body)
  const bytes = Buffer.from(text)
  return { text, bytes: bytes.length, digest: createHash('sha256').update(bytes).digest() }
}

function textOf(contentType: string, body: Buffer): string {
  if (body.length === 0) return 'null'
  const plain = decoded(body)
  if (plain === null) return JSON.stringify({ contentType, base64: body.toString('base64') })
  return isJson(contentType, plain) ? plain : JSON.stringify(plain)
}

function decoded(body: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

/** Some sellers send JSON as text. */
function isJson(contentType: string, text: string): boolean {
  const isNamed = /^application\/(?:[\w.+-]+\+)?json$/.test(contentType)
  if (!isNamed && !/^\s*[[{]/.test(text)) return false
  try {
    assertDepth(text)
    JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw new OutputRefusedError('it is nested too deeply', { cause: error })
  }
  if (!isWellFormedJson(text)) throw new OutputRefusedError('it holds a text with NUL or half a character')
  return true
}

/** The message says what is wrong with the answer. */
export class OutputRefusedError extends failure('OutputRefusedError', 'output_refused', 'stop') {}
