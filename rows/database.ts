/** Typed statements on the service's own rows. */
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  type RawBuilder,
  sql,
} from 'kysely'
import type pg from 'pg'
import { type Postgres, PostgresError } from '#store/postgres.ts'
import type { AppSchema } from './tables.ts'

export type AppDatabase = Kysely<AppSchema>

const opened = new WeakMap<pg.Pool, AppDatabase>()

/**
 * Statements run on the pool of the service's rows, or on the one given; its owner ends it. One for
 * each pool, whoever asks.
 */
export function appDatabase({ pool, rows = pool }: AppPools): AppDatabase {
  const known = opened.get(rows)
  if (known) return known
  const app = new Kysely<AppSchema>({ dialect: new PostgresDialect({ pool: namingErrors(rows) }) })
  opened.set(rows, app)
  return app
}

type AppPools = Pick<Postgres, 'pool'> & Partial<Pick<Postgres, 'rows'>>

/** The database's clock: the one that all processes share. */
export const databaseNow = sql<Date>`clock_timestamp()`

/** A moment so many milliseconds after the database's present one. */
export const fromNow = (ms: number) => sql<Date>`clock_timestamp() + ${ms} * interval '1 ms'`

/** Rows removed by one statement. */
const REMOVED_ROWS = 1_000

/**
 * Removes some of the rows that are older, and leaves those that others hold; false when none is
 * left.
 */
export async function removeOlder(
  app: AppDatabase,
  table: keyof AppSchema,
  column: string,
  moment: RawBuilder<Date>,
  among: RawBuilder<boolean> = sql<boolean>`true`,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${sql.table(table)} WHERE ${sql.ref(column)} < ${moment} AND ${among}
      LIMIT ${REMOVED_ROWS} FOR UPDATE SKIP LOCKED))
  `.execute(app)
  return numAffectedRows === BigInt(REMOVED_ROWS)
}

/** Every error of the driver becomes a PostgresError, whose remedy says whether a retry may help. */
const namingErrors = (pool: pg.Pool): PostgresPool => ({
  options: pool.options,
  connect: async () =>
    new AroundClient(await pool.connect().catch(asPostgresError), (statement) =>
      statement().catch(asPostgresError),
    ),
  end: async () => {},
})

/** Each statement of a connection, within what is to be done around it. */
export class AroundClient implements PostgresPoolClient {
  readonly #client: PostgresPoolClient
  readonly #around: Around

  constructor(client: PostgresPoolClient, around: Around) {
    this.#client = client
    this.#around = around
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    asked: string | PostgresCursor<R>,
    values: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof asked !== 'string') return this.#client.query<R>(asked)
    return this.#around(() => this.#client.query<R>(asked, values))
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy)
  }
}

type Around = <Result>(statement: () => Promise<Result>) => Promise<Result>

function asPostgresError(cause: unknown): never {
  throw new PostgresError(cause)
}
