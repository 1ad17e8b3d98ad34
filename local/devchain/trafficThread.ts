/**
 * The traffic in a thread of its own. Its Ethereum library takes a second to load and every
 * transaction is signed in JavaScript: on the main thread that held up connections to the databases
 * for longer than they wait, on a busy machine.
 */
import { Worker } from 'node:worker_threads'
import { messageOf } from '#errors.ts'
import type { Hex } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

/** The thread's task. */
export interface TrafficTask {
  readonly rpcUrl: string
  readonly chainId: number
  readonly seed: string
  /** Accounts of the operator, which get money where they have none. */
  readonly gifts: readonly Hex[]
}

/** The thread's log line. */
export interface TrafficLogLine {
  readonly level: keyof Logger
  readonly fields: object
  readonly message: string
}

/** The block under way may be finished; a thread that is still loading is not worth waiting for. */
const END_TIMEOUT_MS = 2_000

/** Runs until the signal. Resolves when the thread has ended; never rejects. */
export function runTraffic(task: TrafficTask, log: Logger, clock: Clock, signal: AbortSignal): Promise<void> {
  const worker = new Worker(new URL('./traffic.worker.ts', import.meta.url), { workerData: task })
  const ended = Promise.withResolvers<void>()
  const gone = new AbortController()
  worker.on('message', ({ level, fields, message }: TrafficLogLine) => log[level](fields, message))
  worker.on('error', (error) =>
    log.error({ problem: messageOf(error) }, 'the traffic on the dev chain ended'),
  )
  worker.on('exit', () => {
    gone.abort()
    ended.resolve()
  })
  const end = () => {
    worker.postMessage('end')
    clock.sleep(END_TIMEOUT_MS, gone.signal).then(
      () => worker.terminate(),
      () => {},
    )
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return ended.promise
}
