import { ProtocolError } from '@modelcontextprotocol/server'
import type { Challenged } from '#http/request/access.ts'
import { paymentRequired, VERIFICATION_FAILED } from '#payments/methods/mppOverMcp.ts'

/** A challenge in the place of the payment or the proof that was given. */
export const paymentRefused = (challenged: Challenged, message: string): ProtocolError =>
  new ProtocolError(VERIFICATION_FAILED, message, paymentRequired(challenged))
