/** The chains that the books are compared with: the index, or the nodes that settings name. */
import { http } from 'viem'
import { askOf } from '#money/node.ts'
import type { BookedChains } from '#payments/books/checkBooks.ts'
import type { NodeChain } from '#payments/books/nodeChain.ts'
import { listChainIds } from '#store/maintain/heldChains.ts'
import type { Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import type { Config } from '../../config.ts'

export async function bookedChains(
  { access, wallet }: Pick<Config, 'access' | 'wallet'>,
  postgres: Postgres,
): Promise<BookedChains> {
  const ids = await listChainIds(postgres)
  const x402 = access.payments?.x402
  const named = [
    ...(x402 ? [{ chainId: x402.chainId, rpcUrls: [x402.rpcUrl] }] : []),
    ...(wallet?.chains ?? []),
  ]
  const others = new Map<number, NodeChain>()
  for (const { chainId, rpcUrls } of named) {
    const nodes = rpcUrls.filter((url) => url.startsWith('http')).map((url) => askOf(http(url)))
    const known = others.get(chainId)?.nodes ?? []
    if (!ids.includes(chainId)) others.set(chainId, { chainId, nodes: [...known, ...nodes] })
  }
  return {
    indexed: ids.map((chainId) => ({ chainId, schema: schemaOf(chainId), reads: postgres.reads })),
    others: [...others.values()],
  }
}
