/** A quota that work takes from by itself, not a request. */
import { ApiError } from '#http/errors.ts'
import type { Allowance } from '#http/request/access.ts'
import type { Quotas } from './Quotas.ts'
import { retryAfter } from './retryAfter.ts'

/**
 * Each party's limit in a minute under this name, counted over all processes and on every kind of service.
 */
export const allowanceOf =
  (quotas: Quotas, name: string, perMinute: number): Allowance =>
  async (party, units) => {
    const { granted, leftMs } = await quotas.take([{ subject: `${party}:${name}`, limit: perMinute }], units)
    if (granted) return
    throw new ApiError('rate_limit_exceeded', undefined, {
      headers: { 'Retry-After': retryAfter({ scope: name }, leftMs) },
    })
  }
