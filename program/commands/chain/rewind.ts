/**
 * `millrace rewind`: takes a chain back to an earlier block in both stores; the next start goes on
 * from there.
 */

import type { Runtime } from '#runtime/runtime.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { rewindLedger } from '#store/maintain/rewind.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { fillClickHouse, withOfflineChain } from '../../offlineChain.ts'

export interface RewindArguments {
  /** Newest block that stays. */
  readonly to: number
  /** Null: the only chain held. */
  readonly chainId: number | null
  /** Final blocks may go too. */
  readonly belowFinalized: boolean
}

/**
 * @throws RewindBelowFinalizedError, LeaseHeldError, DataDirectoryError, SettingError,
 * InterruptedError
 */
export async function rewind(
  config: Config,
  { to, chainId: asked, belowFinalized }: RewindArguments,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await withOfflineChain(config, asked, runtime, log, async (chain) => {
    const { engines, identity, schema, lease } = chain
    const { chainId, startBlock } = identity
    const taken = await rewindLedger({
      postgres: engines.postgres,
      schema,
      fence: lease.fence,
      startBlock,
      partitionBlocks: PARTITION_BLOCKS,
      to,
      belowFinalized,
    })
    if (!taken) return print(`chain ${chainId} holds nothing above block ${to}`)
    await fillClickHouse(chain, stop)
    print(
      `chain ${chainId} took back blocks ${taken.from} to ${taken.to}; the next start goes on from block ${to}`,
    )
  })
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)
