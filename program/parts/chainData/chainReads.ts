/** The chains of a program, as routes read them. */
import { nodeReader } from '#api/node/nodeReader.ts'
import type { ChainReads } from '#api/services.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Program } from '../../program.ts'
import type { OperatorLists } from '../operatorLists.ts'

export function chainReadsOf(
  { chains, reachable, engines: { postgres } }: Program,
  { declaredOf }: OperatorLists,
  clock: Clock,
): ReadonlyMap<number, ChainReads> {
  const configs = new Map(reachable.map(({ chainId, config }) => [chainId, config]))
  return new Map(
    chains.map(({ state, profile, nodes }) => {
      const { chainId } = state
      const config = configs.get(chainId)
      if (!config) throw new Error(`chain ${chainId} is served and not configured`)
      const node = nodeReader(nodes, clock)
      return [chainId, { chainId, kind: profile.kind, postgres, state, node, declared: declaredOf(config) }]
    }),
  )
}
