import { fileURLToPath } from 'node:url'
import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina'
import { DecodeWorkerError } from '#ingest/DecodeWorkerError.ts'
import type { RawRange } from '#ingest/source.ts'
import type { SenderSample } from '#ingest/verify/senders/senderSample.ts'
import type { Logger } from '#telemetry.ts'
import type { EncodedBatch } from '../batch.ts'
import type { ChainProfile } from '../profile.ts'
import type { DecodeResult, DecodeTask } from './decode.worker.ts'
import { reviveFailure } from './decodeFailure.ts'

export interface DecodePoolOptions {
  readonly threads: number
  readonly profile: ChainProfile
  readonly log: Logger
  /**
   * Heap of one worker. Parsed JSON takes some 8 times its text, in the worst case (`{},{},..`) 20
   * times, and a parser that hits the limit takes the whole process with it: whoever bounds the
   * bytes of a range stays below a 20th of this.
   */
  readonly workerHeapMegabytes?: number
}

/**
 * Worker threads that turn fetched ranges into encoded batches. How much is in flight is the
 * caller's to bound, in bytes.
 */
export interface DecodePool {
  /**
   * Recovers the senders of the sample; without one none, as of what our own archive holds. The
   * range's bytes are transferred, so they are gone for the caller; after a failure the range is
   * fetched again.
   * @throws NodeAnswerError, RefutedError, SenderRefutedError or EncodeError, as decodeRange does.
   * @throws DecodeWorkerError when the worker died; a new one takes its place.
   * @throws the signal's reason when aborted. A range that is already being decoded costs its
   * thread then.
   */
  decode(raw: RawRange, signal?: AbortSignal, senders?: SenderSample): Promise<EncodedBatch>
  /** Ranges handed in from now on are decoded by these rules. */
  adopt(profile: ChainProfile): void
  /** Rejects what is still under way. */
  close(): Promise<void>
}

/** For ranges of up to 200 MB. */
const WORKER_HEAP_MEGABYTES_DEFAULT = 4096

/** Far above what callers bound by bytes; only a leak gets here, and it is to be loud. */
const QUEUED_MAX = 1024

export function createDecodePool(options: DecodePoolOptions): DecodePool {
  const { threads, log } = options
  let { profile } = options
  const pool = new Piscina<unknown, DecodeResult>({
    filename: fileURLToPath(new URL('./decode.worker.ts', import.meta.url)),
    name: 'decode',
    minThreads: threads,
    maxThreads: threads,
    maxQueue: QUEUED_MAX,
    resourceLimits: { maxOldGenerationSizeMb: options.workerHeapMegabytes ?? WORKER_HEAP_MEGABYTES_DEFAULT },
  })
  // A worker that dies while idle has no task to reject; without a listener its error would end the
  // process.
  pool.on('error', (error: unknown) => log.error({ error }, 'a decode worker died while idle'))
  return {
    decode: (raw, signal, senders) => decode(pool, senders ? { ...profile, senders } : profile, raw, signal),
    adopt: (changed) => {
      profile = changed
    },
    close: () => pool.destroy(),
  }
}

async function decode(
  pool: Piscina<unknown, DecodeResult>,
  profile: ChainProfile,
  raw: RawRange,
  signal: AbortSignal | undefined,
): Promise<EncodedBatch> {
  signal?.throwIfAborted()
  if (raw.bytes.buffer.detached) throw new TypeError('the bytes of this range were handed over before')
  const task: DecodeTask = { profile, raw: { ...raw, bytes: ownBuffer(raw.bytes) } }
  const result = await run(pool, task, raw, signal)
  if (!result.ok) throw reviveFailure(result.failure)
  return result.batch
}

async function run(
  pool: Piscina<unknown, DecodeResult>,
  task: DecodeTask,
  raw: RawRange,
  signal: AbortSignal | undefined,
): Promise<DecodeResult> {
  try {
    const moved = move({ [valueSymbol]: task, [transferableSymbol]: [task.raw.bytes.buffer] })
    return await pool.run(moved, { signal: signal ?? null })
  } catch (cause) {
    signal?.throwIfAborted()
    throw new DecodeWorkerError(raw.range.from, raw.range.to, { cause })
  }
}

/**
 * A view on a part of a larger buffer is copied: transferring would take away what else is in
 * there.
 */
function ownBuffer(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
}
