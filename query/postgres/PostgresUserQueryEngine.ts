/** Analysts' SQL on Postgres: the gate, a slot, then the restricted reader. */

import type { Clock } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import { QueryTurns } from '../QueryTurns.ts'
import type { CatalogOf } from '../relations.ts'
import {
  collectResult,
  type QueryPlan,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type UserQueryEngine,
} from '../result.ts'
import { exportSlots, postgresSlots, type SlotLimits } from '../slots.ts'
import { assertNoneOpen, findOpenWalls, postgresProbes } from '../walls.ts'
import { withPlaces } from '../words/failurePlaces.ts'
import { CheckedStatements } from './CheckedStatements.ts'
import { estimatePlan, tableSizesSql } from './estimatePlan.ts'
import { loadPostgresGrammar } from './gate.ts'
import { type BoundStatement, PostgresReader, type PostgresReaderOptions } from './PostgresReader.ts'

export interface PostgresUserQueryOptions {
  /** Logs in as the restricted reader (roles.ts). */
  readonly url: string
  /**
   * What a query may name now. @throws UserQueryError for a chain that is not served, or a bad
   * signature
   */
  readonly catalogOf: CatalogOf
  readonly behind?: PostgresReaderOptions['behind']
  readonly clock: Clock
  readonly log: Logger
  readonly slots?: SlotLimits
}

export class PostgresUserQueryEngine implements UserQueryEngine {
  readonly engine = 'postgres'
  readonly #catalogOf: PostgresUserQueryOptions['catalogOf']
  readonly #reader: PostgresReader
  readonly #turns: QueryTurns
  readonly #checked = new CheckedStatements()
  /** Probes of the last check that were let through; none may be for a query to run. */
  #openWalls: readonly string[] = []

  constructor({ url, catalogOf, behind, clock, log, slots = postgresSlots }: PostgresUserQueryOptions) {
    this.#catalogOf = catalogOf
    this.#turns = new QueryTurns(slots, clock)
    this.#reader = new PostgresReader({
      url,
      connectionsMax: slots.running + exportSlots.running,
      behind,
      clock,
      log,
    })
  }

  /**
   * Sends the probes of walls.ts as the reader; while some are let through, no query runs.
   * @returns their names
   */
  async checkWalls(chainId: number): Promise<readonly string[]> {
    this.#openWalls = await findOpenWalls(postgresProbes(chainId), chainId, (sql, request) =>
      this.#reader.execute({ sql, relations: [] }, request),
    )
    return this.#openWalls
  }

  run(request: QueryRequest): Promise<QueryResult> {
    return collectResult(this.stream(request))
  }

  async *stream(request: QueryRequest): AsyncGenerator<ResultEvent, void, undefined> {
    const statement = await this.#gate(request)
    const read = (signal: AbortSignal) => this.#reader.stream(statement, { ...request, signal })
    yield* withPlaces(request.sql, this.#turns.hold(request, read))
  }

  async explain(request: QueryRequest): Promise<QueryPlan> {
    const statement = await this.#gate(request)
    const { sql, relations } = statement
    return await this.#turns.run(request, async () => {
      const explained = { relations, values: statement.values ?? [], sql: `EXPLAIN (FORMAT JSON) ${sql}` }
      const [plan] = (await this.#reader.execute(explained, request)).rows[0] ?? []
      const sizing = { sql: tableSizesSql(request.chainId), relations }
      const sizes = (await this.#reader.execute(sizing, request)).rows
      const tree = plan ?? null
      return { engine: 'postgres', relations, plan: tree, estimate: estimatePlan(tree, sizes) }
    })
  }

  async #gate({ chainId, sql, signatures = [], blocks, limit }: QueryRequest): Promise<BoundStatement> {
    assertNoneOpen(this.#openWalls)
    await loadPostgresGrammar()
    const catalog = await this.#catalogOf(chainId, signatures)
    const { isBound, ...statement } = this.#checked.check(sql, catalog, limit + 1, blocks?.length)
    return { ...statement, values: isBound && blocks ? blocks.flatMap(({ from, to }) => [from, to]) : [] }
  }

  async close(): Promise<void> {
    await this.#reader.close()
  }
}
