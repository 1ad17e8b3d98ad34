/** Analysts' SQL on Postgres. */

import type { Clock } from '#runtime/runtime.ts'
import type { SlotLimits } from '#runtime/Slots.ts'
import type { Logger } from '#telemetry.ts'
import type { ExportDebts } from '../exports/Exports.ts'
import { GatedEngine } from '../GatedEngine.ts'
import type { CatalogOf } from '../relations/catalog.ts'
import { exportSlots, postgresSlots } from '../slotLimits.ts'
import { postgresProbes } from '../walls.ts'
import { CheckedStatements } from './gate/CheckedStatements.ts'
import { loadPostgresGrammar } from './gate/gate.ts'
import { estimatePlan, tableSizesSql } from './read/estimatePlan.ts'
import { type BoundStatement, PostgresReader, type PostgresReaderOptions } from './read/PostgresReader.ts'

export interface PostgresUserQueryOptions {
  /** Logs in as the restricted reader (roles.ts). */
  readonly url: string
  /**
   * The names that a query may use now. @throws UserQueryError for a chain that is not served, or a bad
   * signature
   */
  readonly catalogOf: CatalogOf
  readonly behind?: PostgresReaderOptions['behind']
  readonly exportDebts: ExportDebts
  readonly clock: Clock
  readonly log: Logger
  readonly slots?: SlotLimits
}

export class PostgresUserQueryEngine extends GatedEngine<BoundStatement> {
  constructor({ slots = postgresSlots, ...options }: PostgresUserQueryOptions) {
    const { url, catalogOf, behind, exportDebts, clock, log } = options
    const connectionsMax = slots.running + exportSlots.running
    const reader = new PostgresReader({ url, connectionsMax, behind, clock, log })
    const checked = new CheckedStatements()
    super({
      ...{ engine: 'postgres', reader, probes: postgresProbes, slots, exportDebts, clock },
      ungated: (sql) => ({ sql, relations: [] }),
      gate: async ({ chainId, sql, signatures = [], blocks, limit }) => {
        await loadPostgresGrammar()
        const catalog = await catalogOf(chainId, signatures)
        const { isBound, ...statement } = checked.check(sql, catalog, limit + 1, blocks?.length)
        return { ...statement, values: isBound && blocks ? blocks.flatMap(({ from, to }) => [from, to]) : [] }
      },
      explain: async ({ sql, relations, values = [] }, request) => {
        const explained = { relations, values, sql: `EXPLAIN (FORMAT JSON) ${sql}` }
        const [plan = null] = (await reader.execute(explained, request)).rows[0] ?? []
        const sizing = { sql: tableSizesSql(request.chainId), relations }
        const sizes = (await reader.execute(sizing, request)).rows
        return { relations, plan, estimate: estimatePlan(plan, sizes) }
      },
    })
  }
}
