/**
 * `millrace rederive`: makes derived rows again from the raw archive in both stores, without a
 * node.
 */

import type { Runtime } from '#runtime/runtime.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { outdateAll, rederiveRows } from '#store/maintain/rederive.ts'
import type { Logger } from '#telemetry.ts'
import { counted, grouped } from '#text/quantity.ts'
import type { ProjectionName } from '#transform/tables.ts'
import type { Config } from '../../config.ts'
import { fillClickHouse, type OfflineChain, withOfflineChain } from '../../offlineChain.ts'
import { InterruptedError } from '../../process/stopSignal.ts'

export interface RederiveArguments {
  /** Null: the only chain held. */
  readonly chainId: number | null
  /** Also what this version of the program made. */
  readonly all: boolean
}

/** Lines of progress come no faster, and on a terminal alone. */
const PROGRESS_MS = 1_000

/**
 * Goes on where an interrupted run stopped. @throws InterruptedError, LeaseHeldError,
 * DataDirectoryError, SettingError
 */
export async function rederive(
  config: Config,
  { chainId: asked, all }: RederiveArguments,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await withOfflineChain(config, asked, runtime, log, async (chain) => {
    const { engines, schema, lease, identity } = chain
    if (all) await outdateAll({ postgres: engines.postgres, schema, fence: lease.fence })
    const { names, blocks: made } = await rederivePostgres(chain, stop)
    const tell = progressOf(chain, 'ClickHouse')
    let written = 0
    await fillClickHouse(chain, stop, (blocks) => {
      written += blocks
      tell(counted(written, 'block'))
    })
    print(
      identity.chainId,
      names.length === 0
        ? 'nothing was made by other rules; --all makes everything anew'
        : `made anew: ${names.join(', ')} (Postgres ${counted(made, 'block')}, ClickHouse ${counted(written, 'block')})`,
    )
  })
}

async function rederivePostgres(
  chain: OfflineChain,
  stop: AbortSignal,
): Promise<{ readonly names: readonly ProjectionName[]; readonly blocks: number }> {
  const { engines, identity, schema, lease, pool } = chain
  const tell = progressOf(chain, 'Postgres')
  let blocks = 0
  const options = {
    postgres: engines.postgres,
    clickhouse: engines.clickhouse,
    schema,
    database: databaseOf(identity.chainId),
    fence: lease.fence,
    decode: pool.decode,
    onProgress: (done: number, total: number) => {
      blocks = done
      tell(`${grouped(done)} of ${counted(total, 'block')}`)
    },
  }
  const names = await rederiveRows(options, stop).catch((error: unknown) => {
    throw stop.aborted ? new InterruptedError() : error
  })
  return { names, blocks }
}

/** Tells now and then how far one store is. */
function progressOf({ runtime, identity }: OfflineChain, store: string): (text: string) => void {
  let toldMs = Number.NEGATIVE_INFINITY
  return (text) => {
    if (!process.stdout.isTTY) return
    const nowMs = runtime.clock.monotonic()
    if (nowMs - toldMs < PROGRESS_MS) return
    toldMs = nowMs
    print(identity.chainId, `${store}: ${text}`)
  }
}

const print = (chainId: number, text: string): void => void process.stdout.write(`chain ${chainId} ${text}\n`)
