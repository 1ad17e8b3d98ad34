/**
 * A process that dies, as far as others see it: from one step on, no statement and no request of it
 * does anything, and its connections are gone. A step is the moment before a statement or request,
 * or the one before its answer is read.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { custom, http, type Transport } from 'viem'
import { type AppDatabase, AroundClient } from '#rows/database.ts'
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

class MortalClient extends AroundClient {
  readonly #life: Mortal

  constructor(client: PostgresPoolClient, life: Mortal) {
    super(client, (statement) => life.stepping(statement))
    this.#life = life
  }

  /** The database takes back what a dead process had begun. */
  override release(): void {
    super.release(this.#life.isDead)
  }
}
