/** Tables of the service itself: its identity, leases, secrets, and what clients tell and ask of it. */
import { filled, given, maybe } from '../table.ts'

export const serviceTables = {
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
  'app.product_feedback': {
    id: filled('bigint'),
    caller_digest: given('bytea'),
    kind: given('text'),
    message: given('text'),
    received_at: filled('timestamptz'),
  },
  'app.rpc_filters': {
    id: given('text'),
    chain_id: given('bigint'),
    caller: given('text'),
    kind: given('text'),
    asked: given('jsonb'),
    told_block: given('bigint'),
    told: given('jsonb'),
    polled_at: filled('timestamptz'),
    leased_until: maybe('timestamptz'),
  },
} as const
