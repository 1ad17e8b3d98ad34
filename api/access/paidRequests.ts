/** The port of payments: what goes beyond the quota may be paid for. */
import { ApiError } from '#http/errors.ts'
import type { AccessRequest, Admission } from '#http/request/access.ts'

/** A request that may be paid for. */
export interface PayableRequest {
  readonly method: string
  readonly url: string
  readonly body: unknown
  readonly scope: string
  /** What it counts as. */
  readonly units: number
  /** Accept-Payment. */
  readonly accept: string | undefined
}

export interface PaidRequests {
  /** Whether requests of the scope are sold now. */
  sells(scope: string): boolean
  /** What it costs. Writes no row. */
  challenge(request: PayableRequest): Promise<Admission>
  /**
   * Claims the payment that came with the request.
   * @param authorization with its scheme, `Payment`
   * @throws ApiError payment_used, settlement_pending
   */
  begin(authorization: string, request: PayableRequest): Promise<Admission>
}

/** The payment that came with a request; undefined for none. @throws ApiError for two */
export function paymentIn({
  headers: { authorization },
}: Pick<AccessRequest, 'headers'>): string | undefined {
  const found = authorization?.match(/(?:^|,\s*)payment\s+[^\s,]+/gi) ?? []
  if (found.length > 1) throw new ApiError('request_invalid', 'A request carries one payment.')
  return found[0]?.replace(/^,\s*/, '')
}
