/** Analysts' SQL on Postgres: the gate, a slot, then the restricted reader. */

import type { Clock } from '#runtime/runtime.ts'
import { type SlotLimits, Slots } from '#runtime/slots.ts'
import type { Logger } from '#telemetry.ts'
import { Exports } from '../exports/Exports.ts'
import { isExport } from '../limits.ts'
import type { CatalogOf } from '../relations/catalog.ts'
import {
  collectResult,
  type QueryPlan,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type UserQueryEngine,
} from '../result.ts'
import { exportSlots, postgresSlots, sqlSlotErrors } from '../slotLimits.ts'
import { assertNoneOpen, findOpenWalls, postgresProbes } from '../walls.ts'
import { withPlaces } from '../words/failurePlaces.ts'
import { CheckedStatements } from './gate/CheckedStatements.ts'
import { loadPostgresGrammar } from './gate/gate.ts'
import { estimatePlan, tableSizesSql } from './read/estimatePlan.ts'
import { type BoundStatement, PostgresReader } from './read/PostgresReader.ts'

export interface PostgresUserQueryOptions {
  /** Logs in as the restricted reader (roles.ts). */
  readonly url: string
  /**
   * What a query may name now. @throws UserQueryError for a chain that is not served, or a bad
   * signature
   */
  readonly catalogOf: CatalogOf
  readonly clock: Clock
  readonly log: Logger
  readonly slots?: SlotLimits
}

export class PostgresUserQueryEngine implements UserQueryEngine {
  readonly engine = 'postgres'
  readonly #catalogOf: PostgresUserQueryOptions['catalogOf']
  readonly #reader: PostgresReader
  readonly #slots: Slots
  readonly #exports: Exports
  readonly #checked = new CheckedStatements()
  /** Probes of the last check that were let through; none may be for a query to run. */
  #openWalls: readonly string[] = []

  constructor({ url, catalogOf, clock, log, slots = postgresSlots }: PostgresUserQueryOptions) {
    this.#catalogOf = catalogOf
    this.#slots = new Slots(slots, clock, sqlSlotErrors)
    this.#exports = new Exports(clock)
    this.#reader = new PostgresReader({
      url,
      connectionsMax: slots.running + exportSlots.running,
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
    const { signal: asked, party } = request
    const read = (signal: AbortSignal) => this.#reader.stream(statement, { ...request, signal })
    const slots = isExport(request.limit) ? this.#exports : this.#slots
    yield* withPlaces(request.sql, slots.hold(read, asked, party))
  }

  async explain(request: QueryRequest): Promise<QueryPlan> {
    const statement = await this.#gate(request)
    const { sql, relations } = statement
    return await this.#slots.run(
      async () => {
        const explained = { relations, values: statement.values ?? [], sql: `EXPLAIN (FORMAT JSON) ${sql}` }
        const [plan] = (await this.#reader.execute(explained, request)).rows[0] ?? []
        const sizing = { sql: tableSizesSql(request.chainId), relations }
        const sizes = (await this.#reader.execute(sizing, request)).rows
        const tree = plan ?? null
        return { engine: 'postgres', relations, plan: tree, estimate: estimatePlan(tree, sizes) }
      },
      request.signal,
      request.party,
    )
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
