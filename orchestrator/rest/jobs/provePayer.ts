import { ApiError } from '#http/errors.ts'
import type { AccessRequest, Caller } from '#http/request/access.ts'
import type { Proved } from '#payments/PayerProofs.ts'
import type { OrchestratorServices } from '../../operations.ts'

/**
 * Which account asks for this very request, or the challenge that it is answered with.
 * @throws ApiError payment_required where nothing is sold
 */
export function provePayer(
  { method, url, headers, body }: AccessRequest,
  caller: Caller,
  { jobs }: Pick<OrchestratorServices, 'jobs'>,
): Promise<Proved> {
  if (!jobs) throw new ApiError('payment_required', 'Jobs are not sold here.')
  return jobs.proofs.prove(headers, { method, url, body }, caller.id)
}
