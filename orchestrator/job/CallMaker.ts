/**
 * Makes requests out of outputs of any size. Four megabytes, with one number among them that a double
 * cannot hold, are read for up to three seconds: a thread does that, which ends when it has nothing to do.
 */
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { type CallFrom, type CallTask, callFrom } from './callFrom.ts'

/** Characters of outputs that are read at once: 15 ms at most, for a list of digits. */
const INLINE_CHARACTERS_MAX = 16_384
/** Calls that are made together are far fewer; only a leak gets here, and it is to be loud. */
const QUEUED_MAX = 1_024
/** A new thread costs some 100 ms of a core. */
const IDLE_MS = 30_000

export class CallMaker {
  readonly #threads: Piscina<CallTask, CallFrom>

  constructor(log: Logger) {
    this.#threads = new Piscina({
      filename: fileURLToPath(new URL('./callFrom.ts', import.meta.url)),
      name: callFrom.name,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      maxQueue: QUEUED_MAX,
    })
    // One that dies while idle has no task to reject; without a listener its error would end the process.
    this.#threads.on('error', (error: unknown) => log.error({ problem: messageOf(error) }, 'a thread died'))
  }

  /** @throws the signal's reason when aborted; an Error where the thread died: another takes its place */
  async make(task: CallTask, signal: AbortSignal): Promise<CallFrom> {
    let characters = 0
    for (const text of task.outputs.values()) characters += text.length
    if (characters <= INLINE_CHARACTERS_MAX) return callFrom(task)
    try {
      return await this.#threads.run(task, { signal })
    } catch (cause) {
      signal.throwIfAborted()
      throw cause
    }
  }

  /** Rejects what is still under way. */
  async close(): Promise<void> {
    await this.#threads.destroy()
  }
}
