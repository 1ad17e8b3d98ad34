/** Every table of the `app` schema: rows of the service itself, whatever chains it serves. */
import { accessTables } from './schema/accessTables.ts'
import { catalogTables } from './schema/catalogTables.ts'
import { jobTables } from './schema/jobTables.ts'
import { paymentTables } from './schema/paymentTables.ts'
import { reviewTables } from './schema/reviewTables.ts'
import { serviceTables } from './schema/serviceTables.ts'
import { walletTables } from './schema/walletTables.ts'
import { webhookTables } from './schema/webhookTables.ts'
import type { AppTable, Rows } from './table.ts'

export const appTables = {
  ...serviceTables,
  ...accessTables,
  ...catalogTables,
  ...webhookTables,
  ...paymentTables,
  ...jobTables,
  ...walletTables,
  ...reviewTables,
} as const satisfies Readonly<Record<string, AppTable>>

/** The schema as kysely sees it. */
export type AppSchema = { [Name in keyof typeof appTables]: Rows<(typeof appTables)[Name]> }
