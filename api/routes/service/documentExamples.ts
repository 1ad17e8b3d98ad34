/**
 * Values for the reference's examples that exist on the chain served, so that its requests find
 * something.
 */

import type { DocumentExamples } from '#http/document/documents.ts'
import { ApiError } from '#http/errors.ts'
import { anonymous } from '#http/request/access.ts'
import { selectChain } from '#http/request/chain.ts'
import { readExchangeExamples } from '#store/read/exchange/examples.ts'
import { listTransfers } from '#store/read/transfers.ts'
import { type ReadServices, readsOf } from '../../services.ts'

/**
 * Those of the newest final transfer on the chain that a request without `chainId` gets; none while
 * there is none.
 */
export async function readDocumentExamples(
  services: Pick<ReadServices, 'chains'>,
  signal: AbortSignal,
): Promise<DocumentExamples> {
  const chainId = defaultChain(services)
  if (chainId === undefined) return {}
  const { postgres, state, kind } = readsOf(services, chainId)
  const final = { values: { tip20: kind === 'tempo' }, blockNumberTo: state.finalized }
  const newest = { order: 'desc', limit: 1, offset: 0, wantTotal: false, signal } as const
  const [transfer] = (await listTransfers(postgres, state, final, newest)).rows
  if (!transfer) return {}
  const { tx_hash: hash, to: address, token } = transfer
  const traded = await readExchangeExamples(postgres, state.schema)
  return { chainId: `${chainId}`, transactionHash: hash, transaction: hash, address, token, ...traded }
}

function defaultChain({ chains }: Pick<ReadServices, 'chains'>) {
  try {
    return selectChain(undefined, [...chains.keys()], anonymous)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
