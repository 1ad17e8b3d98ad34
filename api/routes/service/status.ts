/**
 * GET /status: where every chain stands, in both stores. The shape is here; the program fills it.
 */

import { endpoint } from '#http/endpoint.ts'
import { recognised } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { certificateParts } from '#ingest/finality/certificate/CertificateRefusedError.ts'

const ranges = s.array(s.object({ from: s.count, to: s.count }), {
  description: 'Block ranges, inclusive, ascending.',
})

const problem = s.nullable(s.text({ description: 'What stands in the way, in words.' }))

const store = s.named('StoreStatus', {
  tip: s.nullable(s.count),
  state: s.text({ description: '`running`, `retrying`, `stopped`, `rebuilding` or `down`.' }),
  problem,
  coverage: ranges,
})

const history = s.named('HistoryProgress', {
  target: s.object({ from: s.count, to: s.count }),
  blocksTotal: s.count,
  blocksDone: s.count,
  blocksPerSecond: s.nullable(s.number()),
  etaSeconds: s.nullable(s.number()),
  chunks: s.array(s.object({ from: s.count, to: s.count, tip: s.nullable(s.count) }), {
    description: 'Pieces not committed yet; `tip` is the newest block loaded.',
  }),
})

const rpcEndpoint = s.named('RpcEndpointStatus', {
  name: s.text({ description: 'Host and port, without credentials.' }),
  state: s.oneOf(['unknown', 'healthy', 'paused', 'quarantined']),
  head: s.nullable(s.count),
  concurrency: s.count,
  inFlight: s.count,
  latencyP95Ms: s.nullable(s.number()),
  cost: s.object({ requests: s.count, calls: s.count, sentBytes: s.count, receivedBytes: s.count }),
  lastFailure: problem,
})

const relay = s.named('RelayStatus', {
  isApart: s.boolean({ description: 'True where the calls of JSON-RPC clients have nodes of their own.' }),
  endpoints: s.array(
    s.named('RelayEndpointStatus', {
      name: rpcEndpoint.properties.name,
      head: rpcEndpoint.properties.head,
      inFlight: rpcEndpoint.properties.inFlight,
      cost: rpcEndpoint.properties.cost,
    }),
    { description: 'What the calls of JSON-RPC clients have cost since the start.' },
  ),
})

const audit = s.named('AuditStatus', {
  state: s.oneOf(['waiting', 'agrees', 'differs']),
  auditedTo: s.nullable(s.count),
  historyTo: s.nullable(s.count),
  historyRounds: s.count,
  comparedBlocks: s.count,
  differences: s.array(
    s.object({
      store: s.oneOf(['postgres', 'clickhouse']),
      table: s.text(),
      block: s.count,
      expectedRows: s.count,
      foundRows: s.count,
      kind: s.oneOf(['count', 'content', 'sender']),
    }),
  ),
  problem,
})

/** A sum over all blocks, which is counted beside requests. */
const counted = s.nullable(s.count)

const finality = s.named(
  'FinalityStatus',
  {
    rule: s.oneOf(['proved', 'agreed'], {
      description:
        'Of the newest final block: a certificate that the chain’s validators signed, or the word of endpoints.',
    }),
    height: s.nullable(s.count),
    certificateHeight: s.nullable(s.count),
    epoch: s.nullable(s.count),
    identity: s.nullable(s.hex),
    lastCheckedMs: s.nullable(
      s.integer({ minimum: 0, description: 'When a certificate was checked last, in Unix milliseconds.' }),
    ),
    endpointsServing: s.integer({
      minimum: 0,
      description: 'Endpoints that gave a certificate at the last look; 0 where this process does not ask.',
    }),
    statedKey: s.nullable(
      s.object(
        { fromEpoch: s.count, identity: s.hex },
        {
          description:
            'A key that its makers stated and that was not seen signing: no certificate under it was checked here.',
        },
      ),
    ),
    lastRefused: s.nullable(
      s.object(
        {
          atMs: s.integer({ minimum: 0, description: 'In Unix milliseconds.' }),
          part: s.oneOf(certificateParts, { description: 'The first that is wrong.' }),
          problem,
        },
        { description: 'The certificate that this process refused last; it moved nothing.' },
      ),
    ),
  },
  { description: 'What makes blocks final, and the newest certificate; all null before the first one.' },
)

const chain = s.named('ChainStatus', {
  chainId: s.count,
  kind: s.oneOf(['tempo', 'evm']),
  role: s.oneOf(['writer', 'standby'], {
    description: '`standby` where another process on the same databases writes the chain, or none does yet.',
  }),
  isLocal: s.boolean({ description: 'True for the dev chain that the program makes up without `RPC_URL`.' }),
  startBlock: s.count,
  head: s.nullable(s.count),
  finalized: s.nullable(s.count),
  finality,
  lagBlocks: s.nullable(s.count),
  coverage: ranges,
  stores: s.object({ postgres: store, clickhouse: store }),
  lanes: s.array(s.object({ name: s.oneOf(['head', 'history']), state: s.text(), problem })),
  projections: s.array(
    s.object({
      name: s.text(),
      state: s.oneOf(['unavailable', 'waiting', 'filling', 'following', 'stopped']),
      problem,
      tip: s.nullable(s.count),
      strays: s.nullable(
        s.integer({
          minimum: 0,
          description:
            'Events that belong to nothing held, such as fills of orders never placed; in no answer.',
        }),
      ),
      differs: s.nullable(
        s.text({ description: 'What a node says otherwise, or what stands still alone, in words.' }),
      ),
    }),
    {
      description:
        'What is computed from blocks in order: token attributes, balances. Empty where another process writes.',
    },
  ),
  endpoints: s.array(rpcEndpoint, {
    description: 'The nodes asked, and what each has cost since the start.',
  }),
  relay,
  history: s.nullable(history),
  parity: s.object(
    {
      state: s.oneOf(['waiting', 'equal', 'differs']),
      comparedBlocks: s.count,
      rounds: s.integer({ minimum: 0, description: 'Times all blocks have been compared.' }),
      problem,
    },
    { description: 'Both stores compared by content, all the time; `differs` is an alarm.' },
  ),
  forks: s.array(
    s.object({
      name: s.text(),
      activatesAt: s.timestamp,
      isActive: s.boolean(),
      isDraft: s.boolean({ description: 'True where a draft of it is known; the fork may differ.' }),
      toldBy: s.integer({ minimum: 1, description: 'Endpoints that announce it.' }),
    }),
    {
      description:
        'Forks, active or within seven days, that nodes of Tempo, Ethereum or Sepolia announce and this version does not know: what they bring is taken unproved and marked, or not decoded. Those of Ethereum have their fork id for a name.',
    },
  ),
  verification: s.object({
    checks: s.oneOf(['roots', 'links']),
    headerRule: s.text(),
    unproved: s.array(s.text(), {
      description: 'What blocks of this chain do not prove, found out by recomputing several of them.',
    }),
    provisional: s.array(s.text(), {
      description:
        'Of these, and of how headers hash (`header`), what one endpoint of several told alone; asked again when a second one answers.',
    }),
    provedBlocks: counted,
    unprovableBlocks: counted,
    unprovableTxs: counted,
    foreignReceipts: s.integer({
      minimum: 0,
      description:
        'Receipts left out because they are of no transaction of their block, or told twice; of this process, since its start.',
    }),
    audit: s.nullable(audit),
  }),
})

const webhooks = s.named('WebhookStatus', {
  chains: s.array(
    s.object({
      chainId: s.count,
      stream: s.oneOf(['blocks', 'fills']),
      block: s.integer({ minimum: -1, description: 'Last block whose events were looked for.' }),
      lagBlocks: s.count,
      problem,
    }),
    { description: 'How far events were looked for; `fills` waits for the order book.' },
  ),
  pending: s.nullable(
    s.object(
      { unfinal: s.count, waiting: s.count, sending: s.count, retrying: s.count },
      { description: 'Events to be sent, by what they wait for; each counted up to 100,000.' },
    ),
  ),
  attempts: s.object(
    { succeeded: s.count, failed: s.count },
    { description: 'Of this process, since its start.' },
  ),
  problem,
})

const statusSchema = s.named('Status', {
  version: s.text({ description: 'Of the program; /openapi.json has the same.' }),
  ready: s.boolean(),
  startedAt: s.timestamp,
  degraded: s.boolean({ description: 'True while any alarm holds.' }),
  alarms: s.array(
    s.object({
      chainId: s.count,
      code: s.oneOf([
        'parity_differs',
        'audit_differs',
        'finality_violated',
        'lane_stopped',
        'lane_waiting',
        'head_stalled',
        'finality_held',
        'finality_equivocated',
        'finality_key_unknown',
        'finality_certificates_missing',
        'relay_degraded',
        'projection_stopped',
        'projection_waiting',
        'projection_differs',
        'header_rule_unknown',
        'fork_unknown',
        'postgres_degraded',
        'clickhouse_degraded',
        'unprovable',
        'webhooks_stalled',
        'payment_reversed',
        'payment_differs',
        'books_differ',
        'books_unchecked',
        'settlement_unknown',
        'channels_unsettled',
        'payouts_waiting',
        'payouts_large',
        'payments_stopped',
        'wallet_low',
        'spend_unknown',
        'endpoint_suspended',
      ]),
      problem: s.text(),
      since: s.timestamp,
    }),
    { description: 'What the owner must know, also sent to ALARM_URL.' },
  ),
  chains: s.array(chain),
  webhooks: s.nullable(webhooks),
  notes: s.array(s.text(), { description: 'What an operator should know, such as open access.' }),
})

export type StatusReport = s.Static<typeof statusSchema>
export type ChainStatus = s.Static<typeof chain>

/**
 * `all`: both stores hold what the chain had at start. `head`: the newest blocks are there, history
 * may still load.
 */
export type ReadyScope = 'all' | 'head'

/** The program's knowledge of itself. */
export interface StatusSource {
  /** `reason` says in words what is missing. */
  ready(scope: ReadyScope): Promise<{ readonly ready: boolean; readonly reason?: string }>
  /**
   * Resolves once readers see the block, on every chain where none is named; rejects with the
   * signal's reason.
   */
  waitForBlock(block: number, chainId: number | undefined, signal: AbortSignal): Promise<void>
  status(): Promise<StatusReport> | StatusReport
}

export const readStatusEndpoint = endpoint({
  path: '/status',
  summary: 'Where every chain stands: head, stores, coverage, verification, history.',
  description:
    'Names of nodes, what they announce, failures and texts of alarms are for the operator: the machine itself, and keys with the scope `*`.',
  tag: 'System',
  chain: 'none',
  access: recognised,
  response: statusSchema,
  read: (_call, { status }: { readonly status: StatusSource }) => status.status(),
  present: (report, { caller }) => (caller.isOperator ? report : forStrangers(report)),
  cache: 'none',
})

/** The public part of the status: where the data stands, and not how the machine and its nodes are. */
function forStrangers(report: StatusReport): StatusReport {
  return {
    ...report,
    alarms: report.alarms.map((alarm) => ({ ...alarm, problem: alarm.code })),
    chains: report.chains.map(chainForStrangers),
    webhooks: null,
    notes: [],
  }
}

function chainForStrangers(chain: ChainStatus): ChainStatus {
  const untold = <Part extends object>(part: Part) => ({ ...part, problem: null })
  const { finality, stores, verification } = chain
  return {
    ...chain,
    finality: { ...finality, lastRefused: finality.lastRefused && untold(finality.lastRefused) },
    stores: { postgres: untold(stores.postgres), clickhouse: untold(stores.clickhouse) },
    lanes: chain.lanes.map(untold),
    projections: chain.projections.map((projection) => ({ ...untold(projection), differs: null })),
    endpoints: [],
    relay: { ...chain.relay, endpoints: [] },
    forks: [],
    parity: untold(chain.parity),
    verification: { ...verification, audit: verification.audit && untold(verification.audit) },
  }
}
