/** The chains of a program, as routes read them. */
import { allowanceOf } from '#api/access/allowance.ts'
import type { Quotas } from '#api/access/Quotas.ts'
import { CONTRACT_CALLS_PER_MINUTE, LOOK_UPS_PER_MINUTE, nodeReader } from '#api/node/nodeReader.ts'
import type { ChainReads } from '#api/services.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Program } from '../../program.ts'
import type { OperatorLists } from '../operatorLists.ts'

export function chainReadsOf(
  { chains, reachable, engines: { postgres } }: Program,
  { declaredOf }: OperatorLists,
  quotas: Quotas,
  clock: Clock,
): ReadonlyMap<number, ChainReads> {
  const configs = new Map(reachable.map(({ chainId, config }) => [chainId, config]))
  return new Map(
    chains.map(({ state, profile, nodes }) => {
      const { chainId } = state
      const config = configs.get(chainId)
      if (!config) throw new Error(`chain ${chainId} is served and not configured`)
      const node = nodeReader(nodes, clock, {
        contractCalls: allowanceOf(quotas, `contractCalls:${chainId}`, CONTRACT_CALLS_PER_MINUTE),
        lookUps: allowanceOf(quotas, `lookUps:${chainId}`, LOOK_UPS_PER_MINUTE),
      })
      return [chainId, { chainId, kind: profile.kind, postgres, state, node, declared: declaredOf(config) }]
    }),
  )
}
