/** A chain with certificates, put together as `program/chains.ts` does it but for the epochs' length. */
import { type ConfiguredKey, initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { chosenRule, type FinalityChoice } from '#ingest/finality/rules/chosenRule.ts'
import { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { Relay } from '#ingest/relay/Relay.ts'
import { finalityNetwork } from '#ingest/rpc/finality/finalityEndpoints.ts'
import { createSource, type PooledSource } from '#ingest/rpc/rpcSource.ts'
import type { Hash } from '#primitives.ts'
import { Chain } from '#program/chain/Chain.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { earlierProofs } from '#store/finality/finalityProofs.ts'
import { silentLogger } from '#telemetry.ts'
import { type Access, openDatabases } from '../../pipeline/support/indexedChain.ts'
import { TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { namedHolder } from '../../support/namedHolder.ts'

/** Plain data but for the runtime, so that another process can be given it. */
export interface CertifiedChainOptions {
  readonly access: Access
  readonly urls: readonly string[]
  readonly rule: FinalityChoice
  readonly key: ConfiguredKey
  readonly startBlock: number
  readonly genesisHash: Hash
  readonly runtime: Runtime
}

export interface OpenedChain {
  readonly chain: Chain
  readonly source: PooledSource
  /** The obstacle to finality, for people; empty while there is none. */
  held(): string
  close(): Promise<void>
}

/** Opens the databases and the chain; `chain.start()` begins to index. */
export async function openCertifiedChain(options: CertifiedChainOptions): Promise<OpenedChain> {
  const { access, urls, rule, key, startBlock, genesisHash, runtime } = options
  const { chainId } = access
  const log = silentLogger
  const { postgres, clickhouse } = await openDatabases(access, log)
  const proved = new ProvedFinality()
  for (const proof of await earlierProofs(postgres, chainId)) proved.take(proof)
  const finality = (agreed: Parameters<typeof chosenRule>[1]) => chosenRule(rule, agreed, proved)
  const source = createSource({
    ...{ chainId, genesisHash, urls, finalityDepth: 0, finality, runtime, log },
    announcements: false,
  })
  const keys = initialKeys(chainId, key, TEST_EPOCH_BLOCKS)
  const chain = new Chain({
    identity: { chainId, genesisHash, headerRule: 'tempo', startBlock },
    ...{ kind: 'tempo', checks: 'roots', source, postgres, clickhouse, runtime, log },
    finality: { choice: rule, proved, keys, network: finalityNetwork(source.pool, runtime.clock) },
    relay: new Relay([], runtime.clock, false, { number: -1, finalized: -1 }),
    clickhouseRowsFolder: access.clickhouseRowsFolder,
    callContracts: async (calls) => calls.map(() => null),
    workerThreads: 1,
    holder: namedHolder('certified'),
  })
  const held = () =>
    [...chain.certificates.problems.map(({ message }) => message), source.finalityHeld ?? ''].join(' ')
  return {
    ...{ chain, source, held },
    close: async () => {
      await chain.stop()
      await clickhouse.close()
      await postgres.close()
    },
  }
}
