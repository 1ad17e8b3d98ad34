/** The program's watch and rule over what a simulation has in place of endpoints, threads and stores. */
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import type { FinalityRule } from '#ingest/finality/rules/finalityRule.ts'
import { ProvedFinality } from '#ingest/finality/rules/provedFinality.ts'
import { FinalityWatch } from '#ingest/finality/watch/FinalityWatch.ts'
import type {
  FinalityChecks,
  FinalityKeeper,
  FinalityNetwork,
  FinalityStore,
} from '#ingest/finality/watch/finalityNetwork.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { groupA } from './standIn.ts'

export interface Watched {
  readonly rule: FinalityRule
  look(): Promise<unknown>
}

export interface WatchPorts {
  readonly network: FinalityNetwork
  readonly checks: FinalityChecks
  readonly store: FinalityStore
  readonly keeper: FinalityKeeper
  readonly head: () => number
  readonly runtime: Runtime
}

const CHAIN_ID = 1

/** As a program starts: what was stored is taken first. */
export async function openWatch({ keeper, runtime, ...ports }: WatchPorts): Promise<Watched> {
  const rule = new ProvedFinality()
  const keys = initialKeys(CHAIN_ID, { identity: groupA.key, fromEpoch: 0 }, TEST_EPOCH_BLOCKS)
  if (!keys) throw new TypeError('a key is configured')
  const watch = new FinalityWatch({
    ...{ chainId: CHAIN_ID, keys, rule, ...ports, certificatesAlone: true, keeper: () => keeper },
    ...{ failpoint: runtime.failpoint, clock: runtime.clock, log: silentLogger },
  })
  await watch.load()
  const { signal } = new AbortController()
  return { rule, look: () => watch.look(signal) }
}
