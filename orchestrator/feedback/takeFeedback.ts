/** An agent's feedback on this service at its user's wish: kept for the operator alone. */
import { ApiError } from '#http/errors.ts'
import * as s from '#http/schema.ts'
import type { AppDatabase } from '#rows/database.ts'
import { insertFeedback, type ProductFeedback } from '#rows/feedback/productFeedback.ts'
import { cleanText } from '../catalog/cleanText.ts'
import { findSensitive, sensitiveMessage } from './findSensitive.ts'

export type Feedback = ProductFeedback

export const MESSAGE_CHARACTERS_MAX = 4_000

export const feedbackResultSchema = s.object({
  status: s.literal('stored'),
})

/** @throws ApiError body_invalid, naming what the message must not hold; rate_limit_exceeded */
export async function takeFeedback(
  rows: AppDatabase,
  caller: string,
  { kind, message }: Feedback,
): Promise<s.Static<typeof feedbackResultSchema>> {
  const found = findSensitive(message)
  if (found.length > 0) throw refusal(sensitiveMessage(found))
  const cleaned = cleanText(message, MESSAGE_CHARACTERS_MAX)
  if (cleaned === '') throw refusal('holds no text')
  if (!(await insertFeedback(rows, caller, { kind, message: cleaned })))
    throw new ApiError('rate_limit_exceeded', 'As much was said today as is taken in a day.')
  return { status: 'stored' }
}

const refusal = (message: string): ApiError =>
  new ApiError('body_invalid', `Not valid: arguments.message: ${message}.`, {
    details: [{ path: ['arguments', 'message'], message }],
  })
