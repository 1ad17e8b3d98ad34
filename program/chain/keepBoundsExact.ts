/** Makes again what an older version stored otherwise, beside the lanes, until it is done. */
import { type Next, repeat } from '#runtime/repeat.ts'
import { type ClickHouseLane, PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { mendBounds } from '#store/maintain/mendBounds.ts'
import type { Writing } from './writing.ts'

/** Between two looks at held blocks: reads and lanes come first. */
const PAUSE_MS = 50
/** After a failure, such as an engine that is down. */
const RETRY_MS = 30_000

export async function keepBoundsExact(
  { options, state, pool }: Writing,
  lane: Pick<ClickHouseLane, 'withdraw'>,
  fence: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { postgres, log, runtime } = options
  const pause = () => runtime.clock.sleep(PAUSE_MS, signal)
  const failed = { log, ms: RETRY_MS, message: 'rows of an older version wait to be made again' }
  await repeat({ clock: runtime.clock, signal, failed }, async (): Promise<Next> => {
    await mendBounds(
      {
        postgres,
        schema: state.schema,
        fence,
        partitionBlocks: PARTITION_BLOCKS,
        decode: (raw) => pool.decode(raw),
        withdraw: (range, mend) => lane.withdraw(range, mend),
        pause,
      },
      signal,
    )
    return 'ended'
  })
}
