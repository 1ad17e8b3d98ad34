/** Analysts' SQL on ClickHouse: the gate, a slot, then the restricted reader. */

import type { Clock } from '#runtime.ts'
import { type CatalogOf, restrictCatalog } from '../relations.ts'
import {
  collectResult,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type UserQueryEngine,
} from '../result.ts'
import { clickhouseSlots, type SlotLimits, Slots } from '../slots.ts'
import { assertNoneOpen, clickhouseProbes, findOpenWalls } from '../walls.ts'
import { ClickHouseReader } from './ClickHouseReader.ts'
import { gateClickHouse } from './gate.ts'

export interface ClickHouseUserQueryOptions {
  readonly url: string
  /** The restricted reader. */
  readonly username: string
  readonly password: string
  /** What a query may name now. @throws UserQueryError for a chain that is not served, or a bad signature */
  readonly catalogOf: CatalogOf
  readonly clock: Clock
  readonly slots?: SlotLimits
}

export class ClickHouseUserQueryEngine implements UserQueryEngine {
  readonly engine = 'clickhouse'
  readonly #catalogOf: ClickHouseUserQueryOptions['catalogOf']
  readonly #reader: ClickHouseReader
  readonly #slots: Slots
  /** Probes of the last check that were let through; none may be for a query to run. */
  #openWalls: readonly string[] = []

  constructor({ catalogOf, slots = clickhouseSlots, ...access }: ClickHouseUserQueryOptions) {
    this.#catalogOf = catalogOf
    this.#slots = new Slots(slots, access.clock)
    this.#reader = new ClickHouseReader({ ...access, connectionsMax: slots.running })
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
    assertNoneOpen(this.#openWalls)
    const catalog = restrictCatalog(
      await this.#catalogOf(request.chainId, request.signatures ?? []),
      request.blocks,
    )
    const statement = gateClickHouse(request.sql, catalog, request.limit + 1)
    yield* this.#slots.hold(() => this.#reader.stream(statement, request), request.signal)
  }

  async close(): Promise<void> {
    await this.#reader.close()
  }
}
