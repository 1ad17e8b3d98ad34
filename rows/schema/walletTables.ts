/** Tables of the wallet that pays for what jobs call. */
import { filled, given, maybe, type Table } from '../table.ts'

export const walletTables = {
  'app.wallet': {
    singleton: filled('boolean'),
    history: filled('text'),
    next_history: maybe('text'),
    frozen_until: maybe('timestamptz'),
  },
  'app.spends': {
    id: given('text'),
    job_id: given('text'),
    node_id: given('text'),
    attempt: given('integer'),
    service_id: given('text'),
    state: filled('text'),
    protocol: given('text'),
    chain_id: given('bigint'),
    currency: given('bytea'),
    amount: given('numeric'),
    recipient: given('bytea'),
    payer: given('bytea'),
    units: given('numeric'),
    day: given('text'),
    credential: maybe('bytea'),
    reference: maybe('bytea'),
    tx_hash: maybe('bytea'),
    valid_before: maybe('timestamptz'),
    from_block: maybe('bigint'),
    tries: filled('integer'),
    reserved_at: filled('timestamptz'),
    sent_at: maybe('timestamptz'),
    ended_at: maybe('timestamptz'),
  },
  'app.spend_answers': {
    spend_id: given('text'),
    status: given('integer'),
    content_type: given('text'),
    body: given('bytea'),
    kept_at: filled('timestamptz'),
  },
  'app.wallet_days': {
    kind: given('text'),
    subject: given('text'),
    day: given('text'),
    units: given('numeric'),
  },
} as const satisfies Readonly<Record<string, Table>>
