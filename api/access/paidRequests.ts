/** The port of payments: what goes beyond the quota may be paid for. */
import { ApiError } from '#http/errors.ts'
import type { AccessRequest } from '#http/request/access.ts'
import type { Payments } from '#payments/Payments.ts'

export type PaidRequests = Pick<Payments, 'sells' | 'challenge' | 'begin'>

/** The payment that came with a request; undefined for none. @throws ApiError for two */
export function paymentIn({
  headers: { authorization },
}: Pick<AccessRequest, 'headers'>): string | undefined {
  const found = authorization?.match(/(?:^|,\s*)payment\s+[^\s,]+/gi) ?? []
  if (found.length > 1) throw new ApiError('request_invalid', 'A request carries one payment.')
  return found[0]?.replace(/^,\s*/, '')
}
