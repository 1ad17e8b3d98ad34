/**
 * Wakes those who wait for a chain's commits, or for those of its followers, in other processes on
 * the same database, by NOTIFY; and tells the writer of a chain that they read it. A notice only
 * saves them from waiting for their next poll: it carries no rows, and one that is lost costs that
 * wait.
 */
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Postgres } from '../postgres.ts'
import type { ReadDemand } from '../ReadDemand.ts'
import type { ChainState } from './ChainState.ts'
import type { CommitBell } from './commits.ts'

const CHANNEL = 'millrace_commits'
/** Between two tries to listen, while Postgres is away. */
const RETRY_MS = 1_000

export class CommitNotices {
  readonly #postgres: Postgres
  /** Says of a notice which process it is from: its own followers are awake. */
  readonly #sender: string
  readonly #bells = new Map<string, Pick<CommitBell, 'ring'>>()
  readonly #demands = new Map<string, Pick<ReadDemand, 'ask'>>()
  readonly #untold = new Set<string>()
  #telling: Promise<void> | null = null

  constructor(postgres: Postgres, sender: string) {
    this.#postgres = postgres
    this.#sender = sender
  }

  /** Has a chain's bells rung when another process tells of commits. */
  add({ schema, bell, followed, demand }: Pick<ChainState, 'schema' | 'bell' | 'followed' | 'demand'>): void {
    this.#bells.set(schema, bell)
    this.#bells.set(followersOf(schema), followed)
    this.#demands.set(readersOf(schema), demand)
  }

  /** Tells the others, outside of the commit and waited for by nobody; many at once are one notice. */
  tell(schema: string): void {
    this.#tell(schema)
  }

  /** The same of a commit of the chain's followers. */
  tellFollowed(schema: string): void {
    this.#tell(followersOf(schema))
  }

  /** Tells the writer of the chain that its rows in ClickHouse are read here. */
  tellRead(schema: string): void {
    this.#tell(readersOf(schema))
  }

  #tell(name: string): void {
    this.#untold.add(name)
    this.#telling ??= this.#tellAll()
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0) {
      const names = [...this.#untold]
      this.#untold.clear()
      await this.#postgres.pool
        .query(`SELECT pg_notify($1, $2 || ' ' || one) FROM unnest($3::text[]) AS one`, [
          CHANNEL,
          this.#sender,
          names,
        ])
        .catch(() => {})
    }
    this.#telling = null
  }

  /** Listens until aborted, on a connection of its own. */
  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    await repeat({ clock, signal, failed: () => RETRY_MS }, async () => {
      await this.#listen(signal)
      return RETRY_MS
    })
    await this.#telling
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const client = await this.#postgres.pool.connect()
    const ended = Promise.withResolvers<void>()
    const end = () => ended.resolve()
    client.on('notification', ({ payload }) => this.#hear(payload ?? ''))
    client.once('error', end)
    client.once('end', end)
    signal.addEventListener('abort', end, { once: true })
    try {
      await client.query(`LISTEN ${CHANNEL}`)
      // A commit told while nobody listened.
      for (const bell of this.#bells.values()) bell.ring()
      if (!signal.aborted) await ended.promise
    } finally {
      signal.removeEventListener('abort', end)
      client.release(true)
    }
  }

  #hear(notice: string): void {
    const [sender, name = ''] = notice.split(' ')
    if (sender === this.#sender) return
    this.#bells.get(name)?.ring()
    this.#demands.get(name)?.ask()
  }
}

/** The name that notices give the followers of a chain. */
const followersOf = (schema: string): string => `${schema}:followers`

/** And its readers. */
const readersOf = (schema: string): string => `${schema}:readers`
