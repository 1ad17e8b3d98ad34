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
  'app.users': {
    id: given('text'),
    address: maybe('bytea'),
    email: maybe('text'),
    created_at: filled('timestamptz'),
    updated_at: filled('timestamptz'),
  },
  'app.organizations': {
    id: given('text'),
    name: given('text'),
    created_at: filled('timestamptz'),
    updated_at: filled('timestamptz'),
    deleted_at: maybe('timestamptz'),
  },
  'app.memberships': {
    org_id: given('text'),
    user_id: given('text'),
    role: given('text'),
    created_at: filled('timestamptz'),
  },
  'app.projects': {
    id: given('text'),
    org_id: given('text'),
    name: given('text'),
    created_at: filled('timestamptz'),
    updated_at: filled('timestamptz'),
    deleted_at: maybe('timestamptz'),
  },
  'app.invitations': {
    id: given('text'),
    org_id: given('text'),
    email: given('text'),
    address: maybe('bytea'),
    role: given('text'),
    invited_by: given('text'),
    created_at: filled('timestamptz'),
    expires_at: given('timestamptz'),
  },
  'app.api_keys': {
    id: given('text'),
    org_id: given('text'),
    project_id: given('text'),
    name: maybe('text'),
    environment: given('text'),
    scopes: given('text[]'),
    digest: given('bytea'),
    token_last4: given('text'),
    created_by: maybe('text'),
    created_at: filled('timestamptz'),
    expires_at: maybe('timestamptz'),
    revoked_at: maybe('timestamptz'),
    allowed_ips: maybe('text[]'),
    chains: maybe('text[]'),
    origins: maybe('text[]'),
    quota: maybe('integer'),
    address_quota: maybe('integer'),
  },
  'app.defaults': {
    singleton: filled('boolean'),
    org_id: given('text'),
    project_id: given('text'),
    user_id: given('text'),
  },
  'app.quota_windows': {
    subject: given('text'),
    started_at: given('timestamptz'),
    used: given('integer'),
    quota: given('integer'),
  },
} as const satisfies Readonly<Record<string, Table>>

/** The schema as kysely sees it. */
export type AppSchema = { [Name in keyof typeof appTables]: Rows<(typeof appTables)[Name]> }
