/** The program's watch and rule over what a simulation has in place of endpoints, threads and stores. */
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { AgreedFinality } from '#ingest/finality/rules/AgreedFinality.ts'
import { chosenRule } from '#ingest/finality/rules/chosenRule.ts'
import type { Claim } from '#ingest/finality/rules/claim.ts'
import type { FinalityRule } from '#ingest/finality/rules/finalityRule.ts'
import { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
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

export type Deciding = Pick<FinalityRule, 'name' | 'granted' | 'number'>

export interface Watched {
  look(): Promise<unknown>
  /** Each endpoint is asked what it says is final. */
  conclude(claimOf: (endpoint: string) => Claim | null): void
  /** The rule that decides now. */
  readonly deciding: Deciding
}

export interface WatchPorts {
  readonly endpoints: readonly string[]
  readonly choice: 'certificate' | 'both'
  /** A planted mistake. */
  readonly wordsCountOn: boolean
  readonly network: FinalityNetwork
  readonly checks: FinalityChecks
  readonly store: FinalityStore
  readonly keeper: FinalityKeeper
  readonly head: () => number
  readonly runtime: Runtime
}

const CHAIN_ID = 1

/** As a program starts: what was stored is taken first. */
export async function openWatch(ports: WatchPorts): Promise<Watched> {
  const { endpoints, choice, wordsCountOn, keeper, runtime, network, checks, store, head } = ports
  const { clock, failpoint } = runtime
  const proved = new ProvedFinality()
  const claimants = endpoints.map((name) => ({ name, claim: null as Claim | null, claimedAtMs: 0 }))
  const agreed = new AgreedFinality({ endpoints: claimants, clock, finalityDepth: 0, goneMs: 60_000 })
  const rule = chosenRule(choice, agreed, proved)
  const keys = initialKeys(CHAIN_ID, { identity: groupA.key, fromEpoch: 0 }, TEST_EPOCH_BLOCKS)
  if (!keys) throw new TypeError('a key is configured')
  const watch = new FinalityWatch({
    ...{ chainId: CHAIN_ID, keys, rule: proved, network, checks, store, head, keeper: () => keeper },
    ...{ certificatesAlone: choice === 'certificate', failpoint, clock, log: silentLogger },
  })
  await watch.load()
  const { signal } = new AbortController()
  const conclude = (claimOf: (endpoint: string) => Claim | null) => {
    const claimedAtMs = clock.monotonic()
    for (const one of claimants) Object.assign(one, { claim: claimOf(one.name), claimedAtMs })
    rule.conclude(new Set(), claimedAtMs)
    if (wordsCountOn) agreed.conclude(new Set(), claimedAtMs)
  }
  const isWord = () => wordsCountOn && agreed.number > rule.number
  return {
    look: () => watch.look(signal),
    conclude,
    get deciding() {
      return isWord() ? agreed : rule
    },
  }
}
