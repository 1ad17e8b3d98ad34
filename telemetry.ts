import { pino } from 'pino'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The logger of every component. Fields first, then a sentence. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * JSON lines on stderr unless told otherwise; stdout belongs to the terminal view and to command
 * output.
 */
export function createLogger(
  level: string,
  destination: { write(line: string): void } = pino.destination(2),
): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

/** Discards everything; for tests and one-shot commands. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** The one registry behind GET /metrics. */
export const registry = new Registry()

const registers = [registry]

/** Every metric of the program, declared once with unit and labels. */
export const metrics = {
  headBlock: new Gauge({
    name: 'millrace_head_block',
    help: 'Newest block the node reports.',
    labelNames: ['chain'],
    registers,
  }),
  finalizedBlock: new Gauge({
    name: 'millrace_finalized_block',
    help: 'Newest block that cannot change.',
    labelNames: ['chain'],
    registers,
  }),
  writer: new Gauge({
    name: 'millrace_writer',
    help: 'Whether this process writes the chain: 1, or 0 on a standby.',
    labelNames: ['chain'],
    registers,
  }),
  tipBlock: new Gauge({
    name: 'millrace_tip_block',
    help: 'Newest block held, per store.',
    labelNames: ['chain', 'store'],
    registers,
  }),
  blocksCommitted: new Counter({
    name: 'millrace_blocks_committed_total',
    help: 'Blocks committed, per store and lane.',
    labelNames: ['chain', 'store', 'lane'],
    registers,
  }),
  rowsCommitted: new Counter({
    name: 'millrace_rows_committed_total',
    help: 'Rows committed, per store.',
    labelNames: ['chain', 'store'],
    registers,
  }),
  reverts: new Counter({
    name: 'millrace_reverts_total',
    help: 'Reorganizations handled.',
    labelNames: ['chain'],
    registers,
  }),
  blocksRefuted: new Counter({
    name: 'millrace_blocks_refuted_total',
    help: 'Blocks rejected because their content did not hash into their header.',
    labelNames: ['chain'],
    registers,
  }),
  parityDifferences: new Gauge({
    name: 'millrace_parity_differences',
    help: 'Tables and blocks found to differ between the stores; anything but 0 is an alarm.',
    labelNames: ['chain'],
    registers,
  }),
  auditedBlocks: new Counter({
    name: 'millrace_audited_blocks_total',
    help: 'Blocks read again from the node and compared with both stores, by pass: recent, history or recheck.',
    labelNames: ['chain', 'pass'],
    registers,
  }),
  auditDifferences: new Gauge({
    name: 'millrace_audit_differences',
    help: 'Tables and blocks that are not what the node says; anything but 0 is an alarm.',
    labelNames: ['chain'],
    registers,
  }),
  alarm: new Gauge({
    name: 'millrace_alarm',
    help: 'Alarms raised and not over: 1, else 0.',
    labelNames: ['chain', 'code'],
    registers,
  }),
  alarmDeliveries: new Counter({
    name: 'millrace_alarm_deliveries_total',
    help: 'Alarms sent to ALARM_URL, by outcome: delivered or dropped.',
    labelNames: ['outcome'],
    registers,
  }),
  webhookAttempts: new Counter({
    name: 'millrace_webhook_attempts_total',
    help: 'Attempts to deliver events, by outcome: succeeded or failed.',
    labelNames: ['outcome'],
    registers,
  }),
  webhookDelay: new Histogram({
    name: 'millrace_webhook_delay_seconds',
    help: 'From an event’s commit for its subscription to its first attempt.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 30, 300],
    registers,
  }),
  rpcRequests: new Counter({
    name: 'millrace_rpc_requests_total',
    help: 'HTTP requests to nodes, by outcome.',
    labelNames: ['chain', 'endpoint', 'outcome'],
    registers,
  }),
  rpcCalls: new Counter({
    name: 'millrace_rpc_calls_total',
    help: 'JSON-RPC calls to nodes; a request may hold many.',
    labelNames: ['chain', 'endpoint'],
    registers,
  }),
  rpcBytes: new Counter({
    name: 'millrace_rpc_bytes_total',
    help: 'Bytes exchanged with nodes, by direction: sent or received.',
    labelNames: ['chain', 'endpoint', 'direction'],
    registers,
  }),
  rpcSeconds: new Histogram({
    name: 'millrace_rpc_request_seconds',
    help: 'Duration of HTTP requests to nodes.',
    labelNames: ['chain', 'endpoint'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  }),
  relayCalls: new Counter({
    name: 'millrace_relay_calls_total',
    help: 'Calls of JSON-RPC clients passed to nodes, by outcome.',
    labelNames: ['chain', 'endpoint', 'outcome'],
    registers,
  }),
  relaySeconds: new Histogram({
    name: 'millrace_relay_call_seconds',
    help: 'Duration of calls of JSON-RPC clients at nodes.',
    labelNames: ['chain', 'method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60],
    registers,
  }),
  rpcAnswers: new Counter({
    name: 'millrace_rpc_answers_total',
    help: 'Calls of JSON-RPC clients, by what answered: store, node, or refused.',
    labelNames: ['chain', 'method', 'source'],
    registers,
  }),
  httpSeconds: new Histogram({
    name: 'millrace_http_request_seconds',
    help: 'Duration of API requests.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60],
    registers,
  }),
} as const
