/** Proves that the readers cannot do more than they should: an engine with an open wall serves nobody. */
import { messageOf } from '#errors.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

/** An engine whose walls are probed. */
interface WalledEngine {
  readonly engine: string
  /** Names of the walls that are open. */
  checkWalls(chainId: number): Promise<readonly string[]>
}

/** Somebody may grant the reader more than it should have at any time. */
const CHECK_MS = 3_600_000

export async function checkAllWalls(
  engines: readonly WalledEngine[],
  chainIds: readonly number[],
  log: Logger,
): Promise<void> {
  for (const engine of engines) for (const chainId of chainIds) await checkWalls(engine, chainId, log)
}

/** Proves it again every hour, until aborted. */
export async function keepWallsChecked(
  engines: readonly WalledEngine[],
  chainIds: readonly number[],
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  await repeat({ clock, signal, firstMs: CHECK_MS }, async () => {
    await checkAllWalls(engines, chainIds, log)
    return CHECK_MS
  })
}

async function checkWalls(engine: WalledEngine, chainId: number, log: Logger): Promise<void> {
  try {
    const open = await engine.checkWalls(chainId)
    if (open.length > 0)
      log.error(
        { engine: engine.engine, chainId, open },
        'the SQL reader may do what it must not; its engine serves nobody',
      )
  } catch (error) {
    log.warn(
      { engine: engine.engine, chainId, error: messageOf(error) },
      'the walls around SQL could not be checked',
    )
  }
}
