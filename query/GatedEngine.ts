/** Analysts' SQL on one engine: the gate, a slot, then the restricted reader. */
import type { Engine } from '#primitives.ts'
import { RecentLook } from '#runtime/RecentLook.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { SlotLimits } from '#runtime/Slots.ts'
import type { ExportDebts } from './exports/Exports.ts'
import { QueryTurns } from './QueryTurns.ts'
import {
  collectResult,
  type QueryPlan,
  type QueryRequest,
  type QueryResult,
  type ResultEvent,
  type UserQueryEngine,
} from './result.ts'
import { assertNoneOpen, findOpenWalls, type Probe } from './walls.ts'
import { withPlaces } from './words/failurePlaces.ts'

/** The differences between the engines. */
export interface GatedEngineOptions<Statement> {
  readonly engine: Engine
  /** The statement of a request that may run. @throws UserQueryError */
  readonly gate: (request: QueryRequest) => Promise<Statement>
  /** Logs in as the restricted reader. */
  readonly reader: {
    stream(statement: Statement, request: QueryRequest): AsyncIterable<ResultEvent>
    close(): Promise<void>
  }
  /** Asks the reader how it would run the statement; a slot is held meanwhile. */
  readonly explain: (statement: Statement, request: QueryRequest) => Promise<Omit<QueryPlan, 'engine'>>
  /** Statements that the reader must be refused. */
  readonly probes: (chainId: number) => readonly Probe[]
  /** A probe as a statement, past the gate. */
  readonly ungated: (sql: string) => Statement
  readonly slots: SlotLimits
  readonly exportDebts: ExportDebts
  readonly clock: Clock
}

const ONE = 'SELECT 1'
/** An idle engine's time for an answer, a hundred times over. */
const ANSWER_MS_MAX = 2_000

export class GatedEngine<Statement> implements UserQueryEngine {
  readonly engine: Engine
  readonly #options: GatedEngineOptions<Statement>
  readonly #turns: QueryTurns
  /** Whether the engine answers at all. */
  readonly #answers: RecentLook
  /** Probes of the last check that were let through; none may be for a query to run. */
  #openWalls: readonly string[] = []

  constructor(options: GatedEngineOptions<Statement>) {
    this.engine = options.engine
    this.#options = options
    this.#turns = new QueryTurns(options.slots, options.clock, options.exportDebts)
    this.#answers = new RecentLook(options.clock)
  }

  /**
   * Sends the probes of walls.ts as the reader; while some are let through, no query runs.
   * @returns their names
   */
  async checkWalls(chainId: number): Promise<readonly string[]> {
    const { probes, reader, ungated } = this.#options
    this.#openWalls = await findOpenWalls(probes(chainId), chainId, (sql, request) =>
      collectResult(reader.stream(ungated(sql), request)),
    )
    return this.#openWalls
  }

  run(request: QueryRequest): Promise<QueryResult> {
    return collectResult(this.stream(request))
  }

  async *stream(request: QueryRequest): AsyncGenerator<ResultEvent, void, undefined> {
    const { reader } = this.#options
    const statement = await this.#gate(request)
    const read = (signal: AbortSignal) => reader.stream(statement, { ...request, signal })
    yield* withPlaces(request.sql, this.#turns.hold(request, read))
  }

  async explain(request: QueryRequest): Promise<QueryPlan> {
    const statement = await this.#gate(request)
    const explain = async () => ({
      engine: this.engine,
      ...(await this.#options.explain(statement, request)),
    })
    return this.#turns.run(request, explain)
  }

  async assertReady(request: QueryRequest): Promise<void> {
    await this.#gate(request)
    await this.#turns.assertRoom(request)
    await this.#answers.look(() => this.#ask(request.chainId))
  }

  /** The smallest statement, beside the slots: it takes an engine no time. */
  async #ask(chainId: number): Promise<void> {
    const { reader, ungated } = this.#options
    const asked = { chainId, sql: ONE, limit: 1, timeoutMs: ANSWER_MS_MAX }
    await collectResult(reader.stream(ungated(ONE), asked))
  }

  close(): Promise<void> {
    return this.#options.reader.close()
  }

  #gate(request: QueryRequest): Promise<Statement> {
    assertNoneOpen(this.#openWalls)
    return this.#options.gate(request)
  }
}
