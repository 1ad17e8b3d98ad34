/**
 * Strict reading of query strings and paths: unknown, repeated and malformed parameters are
 * refused, all at once.
 */
import { shorten } from '#primitives.ts'
import { ApiError, type ErrorCode, type RequestProblem } from '../errors.ts'
import { type Parameter, ParameterError, type Parameters, type PathValues, type Values } from './parameter.ts'

/** A parsed query string, as Fastify gives it: a repeated name has several texts. */
export type RawQuery = Readonly<Record<string, string | readonly string[]>>

/** Problems named per response; a request made of mistakes needs no longer list. */
const PROBLEMS_MAX = 20

/**
 * @throws ApiError query_invalid with one problem for each bad, missing, repeated or unknown
 * parameter.
 */
export function parseQuery<Set extends Parameters>(raw: RawQuery, parameters: Set): Values<Set> {
  const problems: RequestProblem[] = []
  const values: Record<string, unknown> = {}
  for (const name in raw) {
    if (!Object.hasOwn(parameters, name)) {
      problems.push({ path: ['query', shorten(name)], message: 'unknown parameter' })
    }
  }
  for (const [name, parameter] of Object.entries(parameters)) {
    const read = readParameter(raw[name], parameter)
    if ('problem' in read) problems.push({ path: ['query', name], message: read.problem })
    else values[name] = read.value
  }
  if (problems.length > 0) throw invalid('query_invalid', problems)
  return values as Values<Set>
}

/** @throws ApiError with the code of the first path parameter that is not valid. */
export function parsePath<Set extends Parameters>(
  raw: Readonly<Record<string, string>>,
  parameters: Set,
): PathValues<Set> {
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    const read = readParameter(raw[name], { ...parameter, presence: 'required' })
    if ('problem' in read) {
      throw invalid(parameter.code, [{ path: ['param', name], message: read.problem }])
    }
    values[name] = read.value
  }
  return values as PathValues<Set>
}

type Read = { readonly value: unknown } | { readonly problem: string }

function readParameter(raw: string | readonly string[] | undefined, parameter: Parameter): Read {
  if (raw === undefined) {
    return parameter.presence === 'required' ? { problem: 'is required' } : { value: parameter.fallback }
  }
  if ([raw].flat().some((text) => text.includes('\0') || !text.isWellFormed()))
    return { problem: 'holds NUL or half a character' }
  try {
    if (parameter.valuesMax !== undefined) return { value: readList(raw, parameter, parameter.valuesMax) }
    if (typeof raw !== 'string') return { problem: 'is given more than once' }
    return { value: parameter.parse(raw) }
  } catch (error) {
    if (error instanceof ParameterError) return { problem: error.message }
    throw error
  }
}

function readList(raw: string | readonly string[], parameter: Parameter, valuesMax: number): unknown {
  const given = typeof raw === 'string' ? [raw] : raw
  const texts = parameter.repeatsOnly ? given : given.flatMap((text) => text.split(','))
  if (texts.length > valuesMax) throw new ParameterError(`expected at most ${valuesMax} values`)
  const values = texts.map((text) => parameter.parse(text))
  return parameter.collect ? parameter.collect(values) : values
}

function invalid(code: ErrorCode, problems: readonly RequestProblem[]): ApiError {
  const [first] = problems
  const where = first ? `${first.path.at(-1)}: ${first.message}` : ''
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new ApiError(code, `Not valid: ${where}${more}.`, { details: problems.slice(0, PROBLEMS_MAX) })
}
