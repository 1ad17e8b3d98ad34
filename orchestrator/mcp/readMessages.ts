/**
 * The body of a request to POST /mcp: bounded before anything is made of it. A message of a batch
 * that holds a text which is none is refused by itself; the others are answered.
 */
import { ApiError } from '#http/errors.ts'
import { assertDepth, assertWellFormed, isWellFormedJson } from '#http/request/json.ts'
import { itemsOf, membersOf } from '../catalog/members.ts'
import { type JsonSurvey, LONG_NUMBERS_MAX, surveyOf, VALUES_MAX } from '../plan/jsonSurvey.ts'

/** Messages of one request; the protocol has had no batches since 2025-06-18. */
const BATCH_MESSAGES_MAX = 20

export interface McpBody {
  /** What is to be answered, as it came or without what is refused; null where nothing is left. */
  readonly text: string | null
  readonly characters: number
  readonly messages: number
  readonly survey: JsonSurvey
  /** Answers to the messages that are refused. */
  readonly refused: readonly object[]
}

/** @throws ApiError body_invalid, body_too_large */
export function readMessages(text: string): McpBody {
  assertDepth(text)
  const survey = surveyOf(text)
  assertReadable(survey)
  const isBatch = text.trimStart().startsWith('[')
  // Text that is no JSON is one message, which the protocol refuses.
  const batch = isBatch ? itemsOf(parsed(text)) : []
  if (batch.length > BATCH_MESSAGES_MAX)
    throw new ApiError('body_too_large', `A batch has at most ${BATCH_MESSAGES_MAX} messages.`)
  const read = { characters: text.length, messages: Math.max(batch.length, 1), survey }
  if (isWellFormedJson(text)) return { ...read, text, refused: [] }
  if (batch.length === 0) assertWellFormed(text)
  const isText = (message: unknown) => isWellFormedJson(JSON.stringify(message))
  const kept = batch.filter(isText)
  const refused = batch.filter((message) => !isText(message)).map(refusalOf)
  return { ...read, text: kept.length > 0 ? JSON.stringify(kept) : null, refused }
}

/** The answer to a request that holds ill-formed text (JSON-RPC 2.0, section 5.1). */
const refusalOf = (message: unknown): object => {
  const { id } = membersOf(message)
  const isId = typeof id === 'number' || (typeof id === 'string' && isWellFormedJson(JSON.stringify(id)))
  const error = { code: -32600, message: 'A text holds NUL or half a character.' }
  return { jsonrpc: '2.0', id: isId ? id : null, error }
}

/** @throws ApiError body_too_large before anything is made of what takes too long to read */
function assertReadable({ values, longNumbers }: JsonSurvey): void {
  if (values > VALUES_MAX || longNumbers > LONG_NUMBERS_MAX)
    throw new ApiError(
      'body_too_large',
      `A request has at most ${VALUES_MAX} values and ${LONG_NUMBERS_MAX} numbers of over 15 digits.`,
    )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
