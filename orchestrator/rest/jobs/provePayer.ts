import type { AccessRequest, Caller } from '#http/request/access.ts'
import type { Proved } from '#payments/PayerProofs.ts'
import { doorOf, type OrchestratorServices } from '../../operations.ts'

/**
 * Which account asks for this very request, or the challenge that it is answered with.
 * @throws ApiError payment_required where nothing is sold
 */
export async function provePayer(
  { method, url, headers, body }: AccessRequest,
  caller: Caller,
  { jobs }: Pick<OrchestratorServices, 'jobs'>,
): Promise<Proved> {
  return doorOf(jobs).proofs.prove(headers, { method, url, body }, caller.id)
}
