/**
 * The worker threads queries run on: started when first needed, at most so many, with a bounded
 * queue before them.
 */

import { Worker } from 'node:worker_threads'
import { QueryError, queryError, unexpectedError } from './QueryError.ts'
import type { ThreadEvent, ThreadJob, ThreadRequest } from './threadMessages.ts'

export interface ThreadLimits {
  /** Queries that run at the same time. */
  readonly threadsMax: number
  /**
   * How many of these the restricted reader may take, so that users never keep the indexer from
   * writing.
   */
  readonly readerThreadsMax: number
  /** Queries that may wait for a thread. */
  readonly waitingMax: number
}

/** The threads of one data directory. */
export class Threads {
  readonly #dataPath: string
  readonly #configFile: string
  readonly #limits: ThreadLimits
  readonly #all = new Set<QueryThread>()
  readonly #idle: QueryThread[] = []
  readonly #waiting: { readonly reader: boolean; readonly admit: () => void }[] = []
  #running = 0
  #readersRunning = 0

  constructor(dataPath: string, configFile: string, limits: ThreadLimits) {
    this.#dataPath = dataPath
    this.#configFile = configFile
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  /**
   * Runs a job on a free thread and yields what happens. Leaving the loop early stops the query's
   * stream; the thread is free again when the engine has let go.
   * @throws QueryError as the engine gave it, or when too many queries wait already.
   */
  async *run(job: ThreadJob): AsyncGenerator<ThreadEvent, void, undefined> {
    await this.#admit(job.readOnly)
    const thread = this.#idle.pop() ?? this.#start()
    try {
      yield* thread.run(job)
    } finally {
      if (thread.alive) this.#idle.push(thread)
      else this.#all.delete(thread)
      this.#leave(job.readOnly)
    }
  }

  /** Waits for what runs and ends the threads, which may hold sessions; nothing may be run. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.close()))
  }

  #start(): QueryThread {
    const thread = new QueryThread(this.#dataPath, this.#configFile)
    this.#all.add(thread)
    return thread
  }

  #admit(reader: boolean): Promise<void> {
    if (this.#hasRoom(reader)) {
      this.#enter(reader)
      return Promise.resolve()
    }
    if (this.#waiting.length >= this.#limits.waitingMax) {
      throw queryError('TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries are running and waiting.')
    }
    return new Promise((resolve) => {
      this.#waiting.push({ reader, admit: resolve })
    })
  }

  #hasRoom(reader: boolean): boolean {
    const { threadsMax, readerThreadsMax } = this.#limits
    return this.#running < threadsMax && (!reader || this.#readersRunning < readerThreadsMax)
  }

  #enter(reader: boolean): void {
    this.#running += 1
    if (reader) this.#readersRunning += 1
  }

  #leave(reader: boolean): void {
    this.#running -= 1
    if (reader) this.#readersRunning -= 1
    const next = this.#waiting.findIndex((entry) => this.#hasRoom(entry.reader))
    const [entry] = next < 0 ? [] : this.#waiting.splice(next, 1)
    if (entry === undefined) return
    this.#enter(entry.reader)
    entry.admit()
  }
}

/** One worker thread, and what it said that was not read yet. */
class QueryThread {
  readonly #worker: Worker
  readonly #unread: ThreadEvent[] = []
  #wake: (() => void) | undefined
  #alive = true

  constructor(dataPath: string, configFile: string) {
    this.#worker = new Worker(new URL('./clickhouseThread.ts', import.meta.url), {
      workerData: { dataPath, configFile },
    })
    this.#worker.on('message', (events: readonly ThreadEvent[]) => this.#put(events))
    // A thread that throws what is no query's error has a defect; its query fails, and another
    // takes its place.
    this.#worker.on('error', (error) => {
      this.#alive = false
      const { number, message } = unexpectedError(error)
      this.#put([{ type: 'error', number, message }])
    })
  }

  get alive(): boolean {
    return this.#alive
  }

  async close(): Promise<void> {
    if (!this.#alive) return
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#send({ type: 'close' })
    await exited
  }

  async *run(job: ThreadJob): AsyncGenerator<ThreadEvent, void, undefined> {
    let finished = false
    this.#send({ type: 'run', job })
    try {
      while (!finished) {
        const event = await this.#take()
        finished = isLast(event)
        if (event.type === 'error') throw new QueryError(event.number, event.message)
        yield event
        if (!finished && this.#unread.length === 0) this.#send({ type: 'pull' })
      }
    } finally {
      if (!finished) await this.#drain()
    }
  }

  /** Waits until the engine has let go of a query nobody wants. */
  async #drain(): Promise<void> {
    for (;;) {
      if (this.#unread.length === 0) this.#send({ type: 'cancel' })
      if (isLast(await this.#take())) return
    }
  }

  #put(events: readonly ThreadEvent[]): void {
    this.#unread.push(...events)
    this.#wake?.()
  }

  async #take(): Promise<ThreadEvent> {
    for (;;) {
      const event = this.#unread.shift()
      if (event !== undefined) return event
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #send(request: ThreadRequest): void {
    this.#worker.postMessage(request)
  }
}

function isLast(event: ThreadEvent): boolean {
  return event.type === 'end' || event.type === 'error'
}
