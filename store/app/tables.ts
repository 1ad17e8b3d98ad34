/** Every table of the `app` schema: rows of the service itself, whatever chains it serves. */
import { filled, given, maybe, type Rows, type Table } from './table.ts'

export const appTables = {
  'app.identity': {
    singleton: filled('boolean'),
    store_uuid: filled('uuid'),
    ledger_id: filled('uuid'),
    created_at: filled('timestamptz'),
  },
  'app.leases': {
    name: given('text'),
    holder: given('text'),
    fence: given('bigint'),
    expires_at: given('timestamptz'),
  },
  'app.secrets': {
    name: given('text'),
    value: given('bytea'),
    created_at: filled('timestamptz'),
    version: filled('integer'),
    wrapped_by: maybe('text'),
    superseded_at: maybe('timestamptz'),
  },
} as const satisfies Readonly<Record<string, Table>>

/** The schema as kysely sees it. */
export type AppSchema = { [Name in keyof typeof appTables]: Rows<(typeof appTables)[Name]> }
