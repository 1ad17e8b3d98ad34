/** JSON from outside: its shape, its depth, and the check of a body against its schema. */
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Check } from 'typebox/value'
import { shorten } from '#primitives.ts'
import { jsonIn } from '#text/jsonIn.ts'
import { ApiError, type RequestProblem } from '../errors.ts'
import { withoutNulls } from './absent.ts'
import { problemsOf, sentenceOf } from './problems.ts'

/** Deeper bodies are attacks on recursive readers, not requests. */
const DEPTH_MAX = 64

/**
 * @throws ApiError body_invalid for text nested too deeply. Counts brackets outside strings; parses
 * nothing.
 */
export function assertDepth(text: string): void {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === backslash) i++
      else if (char === quote) inString = false
    } else if (char === quote) inString = true
    else if (char === openBrace || char === openBracket) {
      if (++depth > DEPTH_MAX)
        throw new ApiError('body_invalid', `The body is nested deeper than ${DEPTH_MAX}.`)
    } else if (char === closeBrace || char === closeBracket) depth--
  }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d,
]

/**
 * Whether every text in a JSON text is one: NUL and halves of characters, which only escapes can
 * write, are kept by no database and mean something else to each reader.
 */
export function isWellFormedJson(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    const code = escapedCode(text, at)
    if (code === 0 || isLowHalf(code)) return false
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!isLowHalf(escapedCode(text, at + ESCAPE_CHARACTERS))) return false
      at += ESCAPE_CHARACTERS
    }
    at += code < 0 ? 2 : ESCAPE_CHARACTERS
  }
  return true
}

/** A backslash, `u` and four digits. */
const ESCAPE_CHARACTERS = 6

/** The code unit that an escape at this place writes by its number; negative where none stands. */
const escapedCode = (text: string, at: number): number =>
  text.startsWith('\\u', at) ? Number.parseInt(text.slice(at + 2, at + ESCAPE_CHARACTERS), 16) : -1

const isLowHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** @param text no deeper than `assertDepth` allows. @throws ApiError body_invalid that names the place */
export function assertWellFormed(text: string): void {
  if (!isWellFormedJson(text)) throw bodyInvalid([malformedText(text)])
}

/** The first text of a JSON text that is none, told at its place below `at`. */
export function malformedText(text: string, at: RequestProblem['path'] = ['body']): RequestProblem {
  const steps = placeOfMalformed(jsonIn(text)) ?? []
  return { path: [...at, ...steps], message: 'holds NUL or half a character' }
}

/** Undefined where every text is one; a bad name is told at its object. */
function placeOfMalformed(value: unknown): RequestProblem['path'] | undefined {
  if (typeof value === 'string') return isMalformed(value) ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    if (isMalformed(name)) return []
    const place = placeOfMalformed(member)
    if (place) return [Array.isArray(value) ? Number(name) : shorten(name), ...place]
  }
  return undefined
}

const isMalformed = (text: string): boolean => text.includes('\0') || !text.isWellFormed()

/** Problems named per response. */
const PROBLEMS_MAX = 20

/**
 * A check of bodies against a schema. It @throws ApiError body_invalid with the path of each
 * problem.
 */
export function bodyCheck(schema: TSchema): (body: unknown) => void {
  const validator = Compile(schema)
  return (body) => {
    assertBodyGiven(body)
    if (!validator.Check(body)) throw bodyInvalid(problemsOf(validator.Errors(body), body))
  }
}

/** The reader of a body: the value that its schema admits. It @throws ApiError body_invalid */
export function bodyReader({ method, body }: Bodied): (given: unknown) => unknown {
  if (!body) return (given) => given
  const check = body.read ? assertBodyGiven : bodyCheck(body.schema)
  // In a change of what is there, null could mean more than absence.
  const isTidied = method === 'POST' && !body.read
  return (given) => {
    const read = isTidied ? withoutNulls(body.schema, given) : given
    check(read)
    return read
  }
}

/** An endpoint's body. */
interface Bodied {
  readonly method: string
  readonly body: { readonly schema: TSchema; readonly read?: unknown } | null
}

/** Whether a POST may come without a body: it stands for one without members, where that is valid. */
export const isBodyOptional = ({ method, body }: Bodied): boolean =>
  method === 'POST' && body !== null && body.read === undefined && Check(body.schema, {})

/** @throws ApiError body_invalid for a request without a body */
function assertBodyGiven(body: unknown): void {
  if (body === undefined) throw bodyInvalid([{ path: ['body'], message: 'is required' }])
}

/** @returns ApiError body_invalid that names the first problem in a sentence */
export const bodyInvalid = (problems: readonly RequestProblem[]): ApiError =>
  new ApiError('body_invalid', sentenceOf(problems), { details: problems.slice(0, PROBLEMS_MAX) })
