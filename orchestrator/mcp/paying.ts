/** Payments and proofs of accounts that come with a message, and those that are asked for in its place. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Challenged } from '#http/request/access.ts'
import {
  CREDENTIAL,
  PAYMENT_REQUIRED,
  paymentRequired,
  VERIFICATION_FAILED,
  withCredential,
} from '#payments/methods/mppOverMcp.ts'
import type { ToolCall } from './tool.ts'

/**
 * Headers of a message, with the credential of its `_meta`.
 * @throws ProtocolError for one that is none
 */
export function payingHeaders({ asking, meta }: Pick<ToolCall, 'asking' | 'meta'>): IncomingHttpHeaders {
  const headers = withCredential(asking.headers, meta)
  if (headers) return headers
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${CREDENTIAL} is no credential.`)
}

/** A challenge in the place of the payment or the proof that was given. */
export const paymentRefused = (challenged: Challenged, message: string): ProtocolError =>
  new ProtocolError(VERIFICATION_FAILED, message, paymentRequired(challenged))

/** A challenge where none was given. */
export const paymentAsked = (challenged: Challenged, message: string): ProtocolError =>
  new ProtocolError(PAYMENT_REQUIRED, message, paymentRequired(challenged))
