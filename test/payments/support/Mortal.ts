/**
 * A process that dies, as far as others see it: from one step on, no statement and no request of it
 * does anything, and its connections are gone. A step is the moment before a statement or request,
 * or the one before its answer is read.
 */
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type pg from 'pg'
import { custom, http, type Transport } from 'viem'
import type { AppDatabase } from '#rows/database.ts'
import type { AppSchema } from '#rows/tables.ts'

export class Mortal {
  readonly #diesAt: number
  #steps = 0

  /** @param diesAt the step, from 1 on */
  constructor(diesAt: number) {
    this.#diesAt = diesAt
  }

  get isDead(): boolean {
    return this.#steps >= this.#diesAt
  }

  /** @throws when it is dead, or dies here */
  step(): void {
    if (!this.isDead) this.#steps++
    if (this.isDead) throw new Error('the process is dead')
  }

  app(pool: pg.Pool): AppDatabase {
    const connect = async (): Promise<PostgresPoolClient> => new MortalClient(await pool.connect(), this)
    const mortal: PostgresPool = { options: pool.options, connect, end: async () => {} }
    return new Kysely<AppSchema>({ dialect: new PostgresDialect({ pool: mortal }) })
  }

  transport(rpcUrl: string): Transport {
    const { request } = http(rpcUrl)({ retryCount: 0 })
    const asking: (asked: { method: string; params?: unknown }) => Promise<unknown> = request
    return custom({ request: (asked) => this.stepping(() => asking(asked)) }, { retryCount: 0 })
  }

  /** Its work between two steps. @throws when it is dead, or dies here */
  async stepping<Result>(work: () => Promise<Result>): Promise<Result> {
    this.step()
    const result = await work()
    this.step()
    return result
  }
}

class MortalClient implements PostgresPoolClient {
  readonly #client: PostgresPoolClient
  readonly #life: Mortal

  constructor(client: PostgresPoolClient, life: Mortal) {
    this.#client = client
    this.#life = life
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    asked: string | PostgresCursor<R>,
    values: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof asked !== 'string') return this.#client.query<R>(asked)
    return this.#life.stepping(() => this.#client.query<R>(asked, values))
  }

  /** The database takes back what a dead process had begun. */
  release(): void {
    this.#client.release(this.#life.isDead)
  }
}
