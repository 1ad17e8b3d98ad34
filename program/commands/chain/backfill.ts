/** `millrace backfill`: indexes history into both stores and ends. */
import { SettingError } from '#errors.ts'
import { type BlockRange, blockCount, intersection } from '#ingest/range.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Chain } from '../../chain/Chain.ts'
import type { Config } from '../../config.ts'
import { InterruptedError } from '../../process/stopSignal.ts'
import { openProgram } from '../../program.ts'

export interface BackfillBounds {
  /** Null: the first block of the chain's history, as the settings say. */
  readonly from: number | null
  /** Inclusive; null: up to what is final now. */
  readonly to: number | null
}

const PROGRESS_MS = 1_000

/**
 * Fills the range on every chain of the settings, in order, and prints how far it is. @throws
 * InterruptedError
 */
export async function backfill(
  config: Config,
  bounds: BackfillBounds,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  const program = await openProgram(config, runtime, log, stop)
  try {
    for (const chain of program.chains) await backfillChain(chain, bounds, runtime, stop)
  } finally {
    for (const chain of program.chains) await chain.stop()
    await program.close()
  }
}

async function backfillChain(
  chain: Chain,
  bounds: BackfillBounds,
  runtime: Runtime,
  stop: AbortSignal,
): Promise<void> {
  const { chainId, startBlock } = chain.state
  const done = new AbortController()
  const filling: { range: BlockRange | null; progress: Promise<void> } = {
    range: null,
    progress: Promise.resolve(),
  }
  const rangeOf = (finalized: number) => {
    filling.range = rangeWithin(bounds, { chainId, startBlock, finalized })
    if (filling.range) filling.progress = printProgress(chain, filling.range, runtime, done.signal)
    return filling.range
  }
  try {
    await chain.fill(rangeOf, stop)
  } catch (error) {
    throw stop.aborted ? new InterruptedError() : error
  } finally {
    done.abort()
    await filling.progress
  }
  const { range } = filling
  print(chainId, range ? `both stores hold blocks ${range.from} to ${range.to}` : 'nothing to fill')
}

/** Null where nothing of it is there. @throws SettingError where nothing is final */
function rangeWithin(
  bounds: BackfillBounds,
  {
    chainId,
    startBlock,
    finalized,
  }: { readonly chainId: number; readonly startBlock: number; readonly finalized: number },
): BlockRange | null {
  if (finalized < 0) throw new SettingError('RPC_URL', `no block of chain ${chainId} is final yet`)
  if (bounds.to !== null && bounds.to > finalized)
    print(chainId, `blocks above ${finalized} are not final yet and are left out`)
  const range = { from: bounds.from ?? startBlock, to: Math.min(bounds.to ?? finalized, finalized) }
  return blockCount(range) > 0 ? range : null
}

async function printProgress(
  chain: Chain,
  range: BlockRange,
  { clock }: Runtime,
  signal: AbortSignal,
): Promise<void> {
  // A log that nobody watches keeps what was done, not how far it is.
  if (!process.stdout.isTTY) return
  let last = ''
  await repeat({ clock, signal, firstMs: PROGRESS_MS }, () => {
    const text = progressText(chain, range)
    if (text !== last) print(chain.state.chainId, text)
    last = text
    return PROGRESS_MS
  })
}

/**
 * The stores' own coverage, so that what was there before counts. ClickHouse follows Postgres and
 * is what ends it.
 */
function progressText({ state, historyProgress }: Chain, range: BlockRange): string {
  const share = (store: 'postgres' | 'clickhouse') => {
    const held = intersection(state.coverage(store), [range]).reduce(
      (sum, piece) => sum + blockCount(piece),
      0,
    )
    return `${Math.floor((held / blockCount(range)) * 100)} %`
  }
  const rate = historyProgress?.blocksPerSecond
    ? `, ${Math.round(historyProgress.blocksPerSecond)} blocks/s`
    : ''
  return `blocks ${range.from} to ${range.to}: Postgres ${share('postgres')}, ClickHouse ${share('clickhouse')}${rate}`
}

const print = (chainId: number, text: string): void => void process.stdout.write(`chain ${chainId} ${text}\n`)
