/** Analysts' SQL on ClickHouse: the gate, a slot, then the restricted reader. */

import type { Clock } from '#runtime.ts'
import { QueryTurns } from '../QueryTurns.ts'
import { type CatalogOf, restrictCatalog } from '../relations.ts'
import {
  collectResult,
  type QueryPlan,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type SqlValue,
  type UserQueryEngine,
} from '../result.ts'
import { clickhouseSlots, exportSlots, type SlotLimits } from '../slots.ts'
import { assertNoneOpen, clickhouseProbes, findOpenWalls } from '../walls.ts'
import { withPlaces } from '../words/failurePlaces.ts'
import { ClickHouseReader } from './ClickHouseReader.ts'
import { estimatePlan, planColumns, sizeColumns } from './estimatePlan.ts'
import { type ClickHouseStatement, gateClickHouse } from './gate.ts'

/** Lines of a plan; the longest query the gate takes makes fewer. */
const PLAN_ROWS_MAX = 10_000

export interface ClickHouseUserQueryOptions {
  readonly url: string
  /** The restricted reader. */
  readonly username: string
  readonly password: string
  /**
   * What a query may name now. @throws UserQueryError for a chain that is not served, or a bad
   * signature
   */
  readonly catalogOf: CatalogOf
  readonly clock: Clock
  readonly slots?: SlotLimits
}

export class ClickHouseUserQueryEngine implements UserQueryEngine {
  readonly engine = 'clickhouse'
  readonly #catalogOf: ClickHouseUserQueryOptions['catalogOf']
  readonly #reader: ClickHouseReader
  readonly #turns: QueryTurns
  /** Probes of the last check that were let through; none may be for a query to run. */
  #openWalls: readonly string[] = []

  constructor({ catalogOf, slots = clickhouseSlots, ...access }: ClickHouseUserQueryOptions) {
    this.#catalogOf = catalogOf
    this.#turns = new QueryTurns(slots, access.clock)
    this.#reader = new ClickHouseReader({ ...access, connectionsMax: slots.running + exportSlots.running })
  }

  /**
   * Sends the probes of walls.ts as the reader; while some are let through, no query runs.
   * @returns their names
   */
  async checkWalls(chainId: number): Promise<readonly string[]> {
    this.#openWalls = await findOpenWalls(clickhouseProbes(chainId), chainId, (sql, request) =>
      this.#reader.execute({ sql, relations: [], columns: [] }, request),
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
    const { sql, relations } = await this.#gate(request)
    const send = async (text: string, columns: ClickHouseStatement['columns']) =>
      (await this.#reader.execute({ sql: text, relations, columns }, { ...request, limit: PLAN_ROWS_MAX }))
        .rows
    return await this.#turns.run(request, async () => {
      const lines = await send(`EXPLAIN json = 1, header = 1, indexes = 1 ${sql}`, planColumns)
      const sizes = await send(`EXPLAIN ESTIMATE ${sql}`, sizeColumns)
      const plan: SqlValue = JSON.parse(lines.map(([line]) => line).join('\n'))
      return { engine: 'clickhouse', relations, plan, estimate: estimatePlan(plan, sizes) }
    })
  }

  async #gate(request: QueryRequest): Promise<ClickHouseStatement> {
    assertNoneOpen(this.#openWalls)
    const catalog = restrictCatalog(
      await this.#catalogOf(request.chainId, request.signatures ?? []),
      request.blocks,
    )
    return gateClickHouse(request.sql, catalog, request.limit + 1)
  }

  async close(): Promise<void> {
    await this.#reader.close()
  }
}
