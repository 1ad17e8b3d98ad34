/**
 * The body of a request to POST /mcp: bounded before anything is made of it. A message that holds a
 * text which is none, or params of another form, is refused by itself; others of its batch are
 * answered.
 */
import { ApiError, type RequestProblem } from '#http/errors.ts'
import { assertDepth, assertWellFormed, isWellFormedJson, malformedText } from '#http/request/json.ts'
import { membersOf } from '#primitives.ts'
import { jsonIn } from '#text/jsonIn.ts'
import { type JsonSurvey, LONG_NUMBERS_MAX, surveyOf, VALUES_MAX } from '../plan/jsonSurvey.ts'
import { changedNumbers } from '../plan/readPlan.ts'
import { paramsProblem, withoutAbsent } from './protocolParams.ts'

/** Messages of one request; the protocol has had no batches since 2025-06-18. */
const BATCH_MESSAGES_MAX = 20

export interface McpBody {
  /** As it came. */
  readonly text: string
  /** Its JSON, or undefined, without what is refused. */
  readonly message: unknown
  /** False where every message is refused. */
  readonly isLeft: boolean
  readonly characters: number
  readonly messages: number
  /** Numbers that would come out as others, told at the argument of any of the messages. */
  readonly changed: readonly RequestProblem[]
  /** Answers to the messages that are refused. */
  readonly refused: readonly object[]
}

/** @throws ApiError body_invalid, body_too_large */
export function readMessages(text: string): McpBody {
  assertDepth(text)
  const survey = surveyOf(text)
  assertReadable(survey)
  // Text that is no JSON is one message, which the protocol refuses.
  const given = jsonIn(text)
  const batch = Array.isArray(given) ? given : null
  if (batch && batch.length > BATCH_MESSAGES_MAX)
    throw new ApiError('body_too_large', `A batch has at most ${BATCH_MESSAGES_MAX} messages.`)
  if (!batch) assertWellFormed(text)
  const isWhole = batch === null || isWellFormedJson(text)
  const read = (batch ?? [given]).map((each) => {
    const message = withoutAbsent(each)
    return { message, refusal: refusalOf(message, isWhole || isWellFormedJson(JSON.stringify(message))) }
  })
  const kept = read.filter(({ refusal }) => refusal === null).map(({ message }) => message)
  const refused = read.flatMap(({ refusal }) => refusal ?? [])
  return {
    text,
    message: batch ? kept : kept[0],
    isLeft: kept.length > 0 || refused.length === 0,
    characters: text.length,
    messages: Math.max(read.length, 1),
    changed: changedNumbers(text, survey).map(ofMessage),
    refused,
  }
}

/** From the place in the request to that in the message: `arguments` stand there by themselves. */
function ofMessage({ path: [, ...steps], ...problem }: RequestProblem): RequestProblem {
  const inOne = typeof steps[0] === 'number' ? steps.slice(1) : steps
  return { ...problem, path: inOne[1] === 'arguments' ? inOne.slice(1) : inOne }
}

/** The answer to a message that is refused (JSON-RPC 2.0, section 5.1), else null. */
function refusalOf(message: unknown, isWellFormed: boolean): object | null {
  const { id } = membersOf(message)
  const isId = typeof id === 'number' || (typeof id === 'string' && isWellFormedJson(JSON.stringify(id)))
  const answer = (error: object) => ({ jsonrpc: '2.0', id: isId ? id : null, error })
  if (!isWellFormed) {
    const { path, message: problem } = malformedText(JSON.stringify(message), [])
    return answer({ code: -32600, message: `${path.join('.') || 'A text'} ${problem}.` })
  }
  const problem = isId ? paramsProblem(message) : undefined
  return problem === undefined ? null : answer({ code: -32602, message: problem })
}

/** @throws ApiError body_too_large before anything is made of what takes too long to read */
function assertReadable({ values, longNumbers }: JsonSurvey): void {
  if (values > VALUES_MAX || longNumbers > LONG_NUMBERS_MAX)
    throw new ApiError(
      'body_too_large',
      `A request has at most ${VALUES_MAX} values and ${LONG_NUMBERS_MAX} numbers of over 15 digits.`,
    )
}
