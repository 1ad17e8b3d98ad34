/** Analysts' SQL on ClickHouse. */

import type { Clock } from '#runtime/runtime.ts'
import type { SlotLimits } from '#runtime/Slots.ts'
import type { ExportDebts } from '../exports/Exports.ts'
import { GatedEngine } from '../GatedEngine.ts'
import { type CatalogOf, restrictCatalog } from '../relations/catalog.ts'
import type { SqlValue } from '../result.ts'
import { clickhouseSlots, exportSlots } from '../slotLimits.ts'
import { clickhouseProbes } from '../walls.ts'
import { type ClickHouseStatement, gateClickHouse } from './gate.ts'
import { ClickHouseReader } from './read/ClickHouseReader.ts'
import { estimatePlan, planColumns, sizeColumns } from './read/estimatePlan.ts'

/** Lines of a plan; the longest query the gate takes makes fewer. */
const PLAN_ROWS_MAX = 10_000

export interface ClickHouseUserQueryOptions {
  readonly url: string
  /** The restricted reader. */
  readonly username: string
  readonly password: string
  /**
   * The names that a query may use now. @throws UserQueryError for a chain that is not served, or a bad
   * signature
   */
  readonly catalogOf: CatalogOf
  readonly exportDebts: ExportDebts
  readonly clock: Clock
  readonly slots?: SlotLimits
}

export class ClickHouseUserQueryEngine extends GatedEngine<ClickHouseStatement> {
  constructor({ catalogOf, exportDebts, slots = clickhouseSlots, ...access }: ClickHouseUserQueryOptions) {
    const { clock } = access
    const reader = new ClickHouseReader({ ...access, connectionsMax: slots.running + exportSlots.running })
    super({
      ...{ engine: 'clickhouse', reader, probes: clickhouseProbes, slots, exportDebts, clock },
      ungated: (sql) => ({ sql, relations: [], columns: [] }),
      gate: async ({ chainId, sql, signatures = [], blocks, limit }) =>
        gateClickHouse(sql, restrictCatalog(await catalogOf(chainId, signatures), blocks), limit + 1),
      explain: async ({ sql, relations }, request) => {
        const send = async (text: string, columns: ClickHouseStatement['columns']) => {
          const asked = { ...request, limit: PLAN_ROWS_MAX }
          return (await reader.execute({ sql: text, relations, columns }, asked)).rows
        }
        const lines = await send(`EXPLAIN json = 1, header = 1, indexes = 1 ${sql}`, planColumns)
        const sizes = await send(`EXPLAIN ESTIMATE ${sql}`, sizeColumns)
        const plan: SqlValue = JSON.parse(lines.map(([line]) => line).join('\n'))
        return { relations, plan, estimate: estimatePlan(plan, sizes) }
      },
    })
  }
}
