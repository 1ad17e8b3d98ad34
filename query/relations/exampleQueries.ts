/**
 * Queries to begin with, for the console and its readers. Each runs on its engine over any chain
 * (test/console).
 */
import type { Engine } from '#primitives.ts'
import { quoteIdentifier } from '#store/sql.ts'
import type { Relation } from './catalog.ts'

export interface ExampleQuery {
  readonly title: string
  readonly sql: string
}

export const exampleQueries: Readonly<Record<Engine, readonly ExampleQuery[]>> = {
  postgres: [
    {
      title: 'Newest blocks',
      sql: `SELECT num, timestamp, tx_count, log_count, gas_used, hash
FROM blocks
ORDER BY num DESC
LIMIT 500`,
    },
    {
      title: 'Transactions per minute',
      sql: `SELECT date_trunc('minute', block_timestamp) AS minute, count(*) AS transactions
FROM txs
GROUP BY minute
ORDER BY minute`,
    },
    {
      title: 'Contracts with the most logs',
      sql: `SELECT address, count(*) AS logs, count(DISTINCT tx_hash) AS transactions
FROM logs
GROUP BY address
ORDER BY logs DESC
LIMIT 20`,
    },
    {
      title: 'Fees by token',
      sql: `SELECT fee_token, count(*) AS transactions, sum(fee_amount) AS fees
FROM receipts
WHERE fee_token IS NOT NULL
GROUP BY fee_token
ORDER BY fees DESC`,
    },
    {
      title: 'Transactions that failed',
      sql: `SELECT block_timestamp, tx_hash, "from", "to", gas_used
FROM receipts
WHERE status = 0
ORDER BY block_num DESC, tx_idx DESC
LIMIT 100`,
    },
    {
      title: 'Gas used, and its mean over 20 blocks',
      sql: `SELECT num, gas_used,
  round(avg(gas_used) OVER (ORDER BY num ROWS 19 PRECEDING)) AS mean
FROM blocks
ORDER BY num DESC
LIMIT 1000`,
    },
    {
      title: 'Every new log (press Live)',
      sql: `SELECT block_num, log_idx, address, topic0, tx_hash
FROM logs
ORDER BY block_num DESC, log_idx DESC`,
    },
  ],
  clickhouse: [
    {
      title: 'Tokens by transfers',
      sql: `SELECT token, count(*) AS transfers, sum(amount) AS volume
FROM token_transfers
GROUP BY token
ORDER BY transfers DESC
LIMIT 20`,
    },
    {
      title: 'Transfers per minute',
      sql: `SELECT date_trunc('minute', block_timestamp) AS minute, count(*) AS transfers
FROM token_transfers
GROUP BY minute
ORDER BY minute`,
    },
    {
      title: 'Accounts by transactions',
      sql: `SELECT address, count(*) AS transactions
FROM address_txs
WHERE direction = 'from'
GROUP BY address
ORDER BY transactions DESC
LIMIT 20`,
    },
    {
      title: 'Newest transfers',
      sql: `SELECT block_timestamp, token, "from", "to", amount, memo
FROM token_transfers
ORDER BY block_num DESC, log_idx DESC
LIMIT 1000`,
    },
    {
      title: 'Contracts created',
      sql: `SELECT block_timestamp, contract, creator, tx_hash
FROM contract_creations
ORDER BY block_num DESC, tx_idx DESC
LIMIT 100`,
    },
    {
      title: 'Gas by kind of transaction',
      sql: `SELECT type, count(*) AS transactions, sum(gas_used) AS gas, max(gas_used) AS most
FROM txs
GROUP BY type
ORDER BY transactions DESC`,
    },
  ],
}

/** The newest rows of a relation; some rows where none is newer than another. */
export function sampleQuery({ name, blockColumn, columns }: Relation): string {
  const listed = columns.map((column) => plainOrQuoted(column.name)).join(', ')
  const newestFirst = blockColumn === null ? '' : `ORDER BY ${blockColumn} DESC\n`
  return `SELECT ${listed}\nFROM ${name}\n${newestFirst}LIMIT 100`
}

/** Words of SQL that columns are named after; every other name of ours stands without quotes. */
const reserved: ReadonlySet<string> = new Set([
  'from',
  'to',
  'timestamp',
  'type',
  'value',
  'owner',
  'key',
  'day',
  'open',
  'close',
])
const plainOrQuoted = (name: string): string => (reserved.has(name) ? quoteIdentifier(name) : name)
