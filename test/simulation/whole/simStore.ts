/**
 * The service's rows in a real database, whose clock is that of a simulation. Its processes reach them over
 * lines that are slow and break; what a transaction has begun is undone where its connection ends.
 */
import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type pg from 'pg'
import type { AppDatabase } from '#rows/database.ts'
import type { AppSchema } from '#rows/tables.ts'
import { PostgresError } from '#store/postgres.ts'
import { type Kernel, type SimProcess, settled } from '../kernel.ts'
import { EPOCH_MS } from './simChain.ts'

/** The statements that a statement becomes where a bug is planted; the last has its values. */
export type Rewrite = (text: string, values: readonly unknown[]) => readonly string[]

const line = { latencyMs: [1, 12], tailMs: 3_000 } as const
/** Share of statements after which a connection is lost: one of these in each history. */
const lossShares = [0.001, 0.002, 0.01] as const
const IN_TRANSACTION = 3
const none = { command: 'SELECT', rowCount: 0, rows: [] } as const

/** Functions that hide those of `pg_catalog`, and defaults that were bound to them before. */
const CLOCK = `
  CREATE SCHEMA sim;
  CREATE FUNCTION sim.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT to_timestamp(current_setting('sim.ms')::float8 / 1000) $$;
  CREATE FUNCTION sim.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT sim.clock_timestamp() $$;
  CREATE FUNCTION sim.pg_control_system(OUT system_identifier bigint) LANGUAGE sql STABLE
    AS $$ SELECT current_setting('sim.cluster')::bigint $$;
  SET search_path = sim, pg_catalog;
  DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'app'
      AND column_default ~ '(now|clock_timestamp)\\(\\)'
    LOOP EXECUTE format('ALTER TABLE app.%I ALTER %I SET DEFAULT sim.now()', c.table_name, c.column_name); END LOOP;
  END $$;`

const COLUMNS = `
  SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
  WHERE table_schema = 'app' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'
    AND table_name !~ 'migration' GROUP BY 1 ORDER BY 1`

interface Table {
  readonly name: string
  readonly columns: string
}

export class SimStore {
  readonly #client: pg.PoolClient
  readonly #pending = new Set<Promise<unknown>>()
  #tables: readonly Table[] = []
  #copied: readonly Table[] = []
  #nowMs = () => 0
  #rewrite: Rewrite = (text) => [text]
  #cluster = 1
  #lane: Connection[] = []
  lost = 0
  lossShare = 0
  /** Connections break, as long as faults last. */
  isTroubled = true

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  async prepare(): Promise<void> {
    await this.#client.query(CLOCK)
    this.#tables = (await this.#client.query<Table>(COLUMNS)).rows
  }

  /** An empty database for another history. */
  async begin(kernel: Kernel, rewrite: Rewrite): Promise<void> {
    this.#lane = []
    this.#nowMs = () => EPOCH_MS + kernel.nowMs
    this.#rewrite = rewrite
    this.lost = 0
    this.lossShare = kernel.pick(lossShares)
    this.isTroubled = true
    const names = (await this.#filled()).map(({ name }) => `app.${name}`)
    if (names.length > 0) await this.#client.query(`TRUNCATE ${names.join(', ')} CASCADE`)
    await this.#setClock()
  }

  /** Until all statements are answered, and what follows from their answers has begun. */
  async settle(): Promise<void> {
    do {
      await Promise.all(this.#pending)
      await settled()
    } while (this.#pending.size > 0)
  }

  /** @param lossless for those whose connections never break */
  connect(kernel: Kernel, process: SimProcess, lossless = false): AppDatabase {
    const open = () =>
      new Promise<PostgresPoolClient>((resolve) => {
        const connection = new Connection(this, kernel, process, lossless)
        const granted = () =>
          kernel.deliver(process, 0, `${process.name} is connected`, () => resolve(connection))
        this.#enter(connection, granted)
      })
    return kyselyOver(open)
  }

  /** Without time, once all processes are gone. */
  get app(): AppDatabase {
    return kyselyOver(
      async () =>
        ({
          query: (text: string, values: readonly unknown[]) => this.run(text, values),
          release: () => {},
        }) as PostgresPoolClient,
    )
  }

  /** Transactions of a dead process are undone, or done where their commit was under way. */
  drop(process: SimProcess, kernel: Kernel): void {
    for (const one of this.#lane.filter(({ process: of }) => of === process)) one.end(kernel.chance(0.5))
  }

  /** @param isCommitting what is under way is an end that has arrived */
  leave(connection: Connection, isCommitting = false): void {
    const isFirst = this.#lane[0] === connection
    this.#lane = this.#lane.filter((one) => one !== connection)
    if (connection.isOpen)
      this.#track(this.#client.query(isCommitting ? 'COMMIT' : 'ROLLBACK').catch(() => {}))
    if (isFirst) this.#lane[0]?.granted()
  }

  #enter(connection: Connection, granted: () => void): void {
    connection.granted = granted
    if (this.#lane.push(connection) === 1) granted()
  }

  async run<Row>(
    text: string,
    values: readonly unknown[],
    isWithin = false,
  ): Promise<PostgresQueryResult<Row>> {
    const texts = this.#rewrite(text, values)
    const asked = texts.at(-1)
    if (asked === undefined) return { ...none, command: 'INSERT', rowCount: 1, rows: [] }
    const work = async () => {
      if (!isWithin) await this.#setClock()
      for (const before of texts.slice(0, -1)) await this.#client.query(before)
      return this.#client.query(asked, [...values])
    }
    return this.#track(work()) as never
  }

  #track<Answer>(work: Promise<Answer>): Promise<Answer> {
    const pending = work.then(
      () => {},
      () => {},
    )
    this.#pending.add(pending)
    pending.then(() => this.#pending.delete(pending))
    return work
  }

  #setClock(): Promise<unknown> {
    const values = [String(this.#nowMs()), String(this.#cluster)]
    const text = "SELECT set_config('sim.ms', $1, false), set_config('sim.cluster', $2, false)"
    return this.#client.query({ name: 'clock', text, values })
  }

  async backup(): Promise<void> {
    this.#copied = await this.#filled()
    for (const { name } of this.#copied)
      await this.#client.query(
        `DROP TABLE IF EXISTS sim.${name}; CREATE TABLE sim.${name} AS TABLE app.${name}`,
      )
  }

  /** @param isOther the cluster, by which a restored database may be known */
  async restore(isOther: boolean): Promise<void> {
    if (isOther) this.#cluster += 1
    const emptied = (await this.#filled()).map(({ name }) => `DELETE FROM app.${name}`)
    const filled = this.#copied.map(
      ({ name, columns }) =>
        `INSERT INTO app.${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM sim.${name}`,
    )
    const quietly = ['BEGIN', 'SET LOCAL session_replication_role = replica', ...emptied, ...filled, 'COMMIT']
    await this.#client.query(quietly.join(';'))
  }

  async #filled(): Promise<readonly Table[]> {
    const each = this.#tables.map(({ name }) => `(SELECT '${name}' AS name FROM app.${name} LIMIT 1)`)
    const { rows } = await this.#client.query<{ name: string }>(each.join(' UNION ALL '))
    const names = new Set(rows.map(({ name }) => name))
    return this.#tables.filter(({ name }) => names.has(name))
  }

  /** Backup or restore, for the operator: not within a transaction of others. */
  operate(work: () => Promise<void>): void {
    if (this.#lane.length > 0) throw new Error('somebody is connected')
    this.#track(work())
  }

  get isFree(): boolean {
    return this.#lane.length === 0
  }
}

/** One at a time holds the database, so that a history is the same each time. */
class Connection implements PostgresPoolClient {
  readonly #store: SimStore
  readonly #kernel: Kernel
  readonly process: SimProcess
  readonly #lossless: boolean
  #hasEnded = false
  /** The end of a transaction is under way. */
  #isEnding = false
  isOpen = false
  granted: () => void = () => {}

  constructor(store: SimStore, kernel: Kernel, process: SimProcess, lossless: boolean) {
    this.#store = store
    this.#kernel = kernel
    this.process = process
    this.#lossless = lossless
  }

  query<Row>(asked: unknown, values: readonly unknown[] = []): never {
    return this.#ask<Row>(String(asked), values) as never
  }

  async #ask<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    if (this.#hasEnded) return lostOr(text)
    const kernel = this.#kernel
    this.#isEnding = text === 'commit'
    const name = `${this.process.name} ${text.trim().slice(0, 24)}`
    const answer = await kernel.call(this.process, name, kernel.travel(line), () =>
      this.#serve<Row>(text, values),
    )
    this.#isEnding = false
    if (!this.#hasEnded && this.#breaks()) {
      this.#store.lost += 1
      this.end()
      throw new PostgresError(new Error('the connection was lost'))
    }
    if ('error' in answer) throw new PostgresError(answer.error)
    return answer.result
  }

  /** Within a transaction more often, for what it leaves behind. */
  #breaks(): boolean {
    const { isTroubled, lossShare } = this.#store
    if (this.#lossless || !isTroubled) return false
    return this.#kernel.chance(this.isOpen ? IN_TRANSACTION * lossShare : lossShare)
  }

  #serve<Row>(text: string, values: readonly unknown[]) {
    if (this.#hasEnded) return { error: new Error('the connection has ended') }
    const isWithin = this.isOpen
    if (text === 'begin' || text.startsWith('start transaction')) this.isOpen = true
    if (text === 'commit' || text === 'rollback') this.isOpen = false
    return this.#store.run<Row>(text, values, isWithin).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
  }

  /** @param mayCommit an end that is under way arrives */
  end(mayCommit = false): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#store.leave(this, mayCommit && this.#isEnding)
  }

  release(): void {
    this.end()
  }
}

/** A connection that has ended has undone its transaction already. */
function lostOr(text: string): never {
  if (text === 'rollback') return { ...none, command: 'ROLLBACK' } as never
  throw new PostgresError(new Error('the connection has ended'))
}

function kyselyOver(connect: () => Promise<PostgresPoolClient>): AppDatabase {
  const pool: PostgresPool = { options: {}, connect, end: async () => {} }
  return new Kysely<AppSchema>({ dialect: new PostgresDialect({ pool }) })
}
