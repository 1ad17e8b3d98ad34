/**
 * Which rules a chain's fees and transactions follow. Tempo's networks are known by their ids. The
 * id of its local network is also that of other dev chains, so there the blocks held decide, and
 * before there are any, the node.
 */
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { readGenesisTokens } from '#store/follow/tokens/genesisTokens.ts'
import { readFeesInTokens } from '#store/ledger/feesInTokens.ts'
import type { Postgres } from '#store/postgres.ts'
import type { ChainKind } from '#transform/profile.ts'

const networks: ReadonlySet<number> = new Set([4_217, 42_431])

/** A node that has answered before answers this within a second. */
const NODE_MS = 10_000

/** @param postgres null for a command that holds nothing. @throws SourceError */
export async function kindOf(
  chainId: number,
  source: Pick<RpcSource, 'callAll'>,
  postgres: Postgres | null,
): Promise<ChainKind> {
  if (chainId !== DEV_CHAIN_ID) return kindOfId(chainId)
  const paidInTokens = postgres ? await readFeesInTokens(postgres, chainId) : null
  if (paidInTokens !== null) return paidInTokens ? 'tempo' : 'evm'
  const signal = AbortSignal.timeout(NODE_MS)
  const tokens = await readGenesisTokens(contractCalls(source), { signal })
  return tokens.length > 0 ? 'tempo' : 'evm'
}

/** The same where no node is asked. Without a fee in any block both kinds have the same rows. */
export async function heldKindOf(postgres: Postgres, chainId: number): Promise<ChainKind> {
  if (chainId !== DEV_CHAIN_ID) return kindOfId(chainId)
  return (await readFeesInTokens(postgres, chainId)) === false ? 'evm' : 'tempo'
}

const kindOfId = (chainId: number): ChainKind => (networks.has(chainId) ? 'tempo' : 'evm')
