import { SourceError } from '#ingest/rpc/client/errors.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { ChainHead } from '#ingest/source.ts'
import type { Clock } from '#runtime/runtime.ts'

/** Tries, and the pause behind the first one; each further pause is twice as long, 2 s in all. */
const TRIES_MAX = 4
const PAUSE_MS = 300

/**
 * The head, for a start, which would end by one lost answer; lanes and first readings ask again by
 * themselves. @throws SourceError when no endpoint answers any try
 */
export async function patientHead(source: Pick<RpcSource, 'head'>, clock: Clock): Promise<ChainHead> {
  for (let nth = 0; ; nth++) {
    try {
      return await source.head()
    } catch (error) {
      const isLast = nth + 1 >= TRIES_MAX
      if (!(error instanceof SourceError) || error.failure === 'unauthorized' || isLast) throw error
      await clock.sleep(PAUSE_MS * 2 ** nth)
    }
  }
}
