/** The worker threads queries run on: started when first needed, at most so many, with a bounded queue before them. */

import { on } from 'node:events'
import { Worker } from 'node:worker_threads'

import type { LaneEvent, LaneJob, LaneRequest } from './clickhouseLane.ts'
import { QueryError, queryError } from './queryError.ts'

export interface LaneLimits {
  /** Queries that run at the same time. */
  readonly lanesMax: number
  /** Of these, how many may be the restricted reader's, so that users never keep the indexer from writing. */
  readonly readerLanesMax: number
  /** Queries that may wait for a lane. */
  readonly waitingMax: number
}

/** The lanes of one data directory. */
export class Lanes {
  readonly #dataPath: string
  readonly #configFile: string
  readonly #limits: LaneLimits
  readonly #idle: Lane[] = []
  readonly #waiting: { readonly reader: boolean; readonly admit: () => void }[] = []
  #running = 0
  #readersRunning = 0

  constructor(dataPath: string, configFile: string, limits: LaneLimits) {
    this.#dataPath = dataPath
    this.#configFile = configFile
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  /**
   * Runs a job on a free lane and yields what happens. Leaving the loop early stops the query's stream; the lane is
   * free again when the engine has let go.
   * @throws QueryError as the engine gave it, or when too many queries wait already.
   */
  async *run(job: LaneJob): AsyncGenerator<LaneEvent, void, undefined> {
    await this.#admit(job.readOnly)
    const lane = this.#idle.pop() ?? new Lane(this.#dataPath, this.#configFile)
    try {
      yield* lane.run(job)
    } finally {
      if (lane.alive) this.#idle.push(lane)
      this.#leave(job.readOnly)
    }
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
    const { lanesMax, readerLanesMax } = this.#limits
    return this.#running < lanesMax && (!reader || this.#readersRunning < readerLanesMax)
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

/** One worker thread. */
class Lane {
  readonly #worker: Worker
  #alive = true

  constructor(dataPath: string, configFile: string) {
    this.#worker = new Worker(new URL('./clickhouseLane.ts', import.meta.url), {
      workerData: { dataPath, configFile },
    })
    this.#worker.once('exit', () => {
      this.#alive = false
    })
  }

  get alive(): boolean {
    return this.#alive
  }

  async *run(job: LaneJob): AsyncGenerator<LaneEvent, void, undefined> {
    const events = on(this.#worker, 'message', { close: ['exit'] })
    let finished = false
    this.#send({ type: 'run', job })
    try {
      for await (const [event] of events) {
        const laneEvent: LaneEvent = event
        finished = laneEvent.type === 'end' || laneEvent.type === 'error'
        if (laneEvent.type === 'error') throw new QueryError(laneEvent.number, laneEvent.message)
        yield laneEvent
        if (finished) return
        if (laneEvent.type === 'chunk') this.#send({ type: 'pull' })
      }
      finished = true
      throw queryError('QUERY_WAS_CANCELLED', 'The engine stopped.')
    } finally {
      if (!finished && this.#alive) await this.#drain()
    }
  }

  /** Waits until the engine has let go of a query nobody wants any more. */
  async #drain(): Promise<void> {
    this.#send({ type: 'cancel' })
    for await (const [event] of on(this.#worker, 'message', { close: ['exit'] })) {
      const laneEvent: LaneEvent = event
      if (laneEvent.type === 'end' || laneEvent.type === 'error') return
      this.#send({ type: 'cancel' })
    }
  }

  #send(request: LaneRequest): void {
    this.#worker.postMessage(request)
  }
}
