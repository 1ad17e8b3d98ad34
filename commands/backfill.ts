/** `millrace backfill`: indexes history into both stores and ends. */
import { type BlockRange, blockCount } from '#ingest/range.ts'
import type { Chain } from '../chain.ts'
import type { Config } from '../config.ts'
import type { Runtime } from '../runtime.ts'
import type { Logger } from '../telemetry.ts'
import { openProgram } from './program.ts'

export interface BackfillArguments {
  readonly from: number
  /** Inclusive; without it, up to what is final now. */
  readonly to: number | null
}

const PROGRESS_MS = 1_000

/** Fills the range on every chain of the settings, in order, and prints how far it is. */
export async function backfill(
  config: Config,
  range: BackfillArguments,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const program = await openProgram(config, runtime, log)
  try {
    for (const chain of program.chains) await backfillChain(chain, range, runtime)
  } finally {
    await program.close()
  }
}

async function backfillChain(chain: Chain, { from, to }: BackfillArguments, runtime: Runtime): Promise<void> {
  const { finalized } = await chain.source.head()
  const range: BlockRange = { from, to: Math.min(to ?? finalized, finalized) }
  if (blockCount(range) <= 0) return
  const done = new AbortController()
  const progress = printProgress(chain, range, runtime, done.signal)
  try {
    await chain.fill(range)
  } finally {
    done.abort()
    await progress
    await chain.stop()
  }
}

async function printProgress(
  chain: Chain,
  range: BlockRange,
  { clock }: Runtime,
  signal: AbortSignal,
): Promise<void> {
  const print = () => {
    const done = chain.historyProgress
    const share = done ? Math.floor((done.blocksDone / Math.max(1, done.blocksTotal)) * 100) : 0
    const rate = done?.blocksPerSecond ? `, ${Math.round(done.blocksPerSecond)} blocks/s` : ''
    process.stdout.write(
      `chain ${chain.state.chainId} blocks ${range.from} to ${range.to}: ${share} %${rate}\n`,
    )
  }
  while (!signal.aborted) {
    await clock.sleep(PROGRESS_MS, signal).catch(() => {})
    print()
  }
}
