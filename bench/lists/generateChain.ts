/**
 * A chain made in the database by SQL alone: a million transfers in half a minute. Few accounts and
 * tokens are in most rows, most are in few, as on real chains; and some hot ones never meet, which
 * is what a list finds hardest: a page of what two filters leave is then nothing, found only by an
 * index of both.
 */
import type pg from 'pg'
import type { BlockRange } from '#ingest/range.ts'
import { indexDetached } from '#store/ledger/chunkIndexes.ts'
import { extendCoverage } from '#store/ledger/lane.ts'
import { attachDetached, createDetached, partitionName } from '#store/ledger/partitions.ts'
import type { Postgres } from '#store/postgres.ts'
import { quoteIdentifier, toBytes } from '#store/sql.ts'
import { feeManagerAddress, tip20 } from '#transform/addresses.ts'
import { archiveBlock } from '#transform/decode/archive.ts'
import { transfer } from '#transform/events/tokens/erc20.ts'
import { type TableName, tables } from '#transform/tables.ts'

export const txsPerBlock = 50
/** A transaction moves something, and pays its fee. */
const transfersPerTx = 2
export const transfersPerBlock = txsPerBlock * transfersPerTx

/** Tables filled; what a chain has beside them is not read by lists. */
export type FilledTable = Extract<TableName, 'blocks' | 'txs' | 'logs' | 'token_transfers' | 'raw'>

/**
 * Loads blocks as history comes: into detached tables, indexed, then attached. Coverage says so.
 */
export async function generateHistory(
  postgres: Postgres,
  schema: string,
  range: BlockRange,
  filled: readonly FilledTable[],
): Promise<void> {
  await postgres.transaction((client) => createDetached(client, schema, range))
  for (const name of filled)
    await postgres.transaction((client) => fill(client, schema, name, partitionName(name, range.from), range))
  // Nobody else writes.
  await indexDetached(postgres, schema, range.from, () => Promise.resolve())
  await postgres.transaction(async (client) => {
    await attachDetached(client, schema, range)
    await extendCoverage(client, schema, 'postgres', range)
  })
  for (const name of filled) await postgres.pool.query(`VACUUM ANALYZE ${quoteIdentifier(schema)}.${name}`)
}

/** Appends blocks as the head does: rows, tip, commit and coverage in one transaction. */
export async function generateHead(
  postgres: Postgres,
  schema: string,
  range: BlockRange,
  filled: readonly FilledTable[],
): Promise<void> {
  const relation = quoteIdentifier(schema)
  await postgres.transaction(async (client) => {
    for (const name of filled) await fill(client, schema, name, name, range)
    await client.query(
      `UPDATE ${relation}.lanes SET tip = $1, tip_hash = ${hashOf('block', '$1::bigint')}, seq = seq + 1`,
      [range.to],
    )
    await client.query(
      `INSERT INTO ${relation}.commits (seq, kind, from_block, to_block, hash, hashes)
       SELECT seq, 'append', $1, $2, tip_hash, ARRAY(
         SELECT ${hashOf('block', 'num')} FROM generate_series($1::bigint, $2::bigint) AS num) FROM ${relation}.lanes`,
      [range.from, range.to],
    )
    await extendCoverage(client, schema, 'postgres', range)
  })
}

async function fill(
  client: pg.PoolClient,
  schema: string,
  name: FilledTable,
  into: string,
  { from, to }: BlockRange,
): Promise<void> {
  const expressions: Readonly<Record<string, string>> = selections[name].columns
  const columns = tables[name].columns.filter((column) => expressions[column.name] !== undefined)
  const names = columns.map((column) => quoteIdentifier(column.name)).join(', ')
  const values = columns.map((column) => expressions[column.name]).join(', ')
  await client.query(
    `INSERT INTO ${quoteIdentifier(schema)}.${quoteIdentifier(into)} (${names})
     SELECT ${values} FROM generate_series($1::bigint, $2::bigint) AS num ${selections[name].from}`,
    name === 'raw' ? [from, to, archivedPart()] : [from, to],
  )
}

/** A number in [0, 1) that depends on what is counted and on a seed alone. */
const uniform = (counted: string, seed: number) =>
  `((hashint8extended(${counted}, ${seed}) & 1048575) / 1048576.0)`
/** A rank below `count`, small ones far more often: rank 0 has count^(-1/steepness) of all. */
const skewed = (counted: string, seed: number, count: number, steepness: number) =>
  `floor(power(${uniform(counted, seed)}, ${steepness}) * ${count})::bigint`
const hashOf = (what: string, counted: string) => `sha256('${what}'::bytea || int8send(${counted}))`
const accountOf = (rank: string) => `substring(${hashOf('account', rank)} FROM 1 FOR 20)`
const literal = (hex: string) => `'\\x${hex.slice(2)}'::bytea`
/** Every tenth token is no TIP-20. */
const tokenOf = (rank: string) =>
  `CASE WHEN ${rank} % 10 = 9 THEN substring(${hashOf('token', rank)} FROM 1 FOR 20)
    ELSE ${literal(tip20.prefix)} || int8send(${rank}) END`
const timestampOf = `to_timestamp(1767225600 + num / 2)`
const sender = 'accounts.sender'

/**
 * Ranks of what takes part in a transaction. Account 0 and token 1 are hot, and never meet; so are
 * accounts 0 and 1.
 */
const parts = `
  CROSS JOIN LATERAL (SELECT num * ${txsPerBlock} + tx_idx AS tx) AS numbered
  CROSS JOIN LATERAL (SELECT ${skewed('tx', 1, 50_000, 6)} AS sender, ${skewed('tx', 2, 50_000, 6)} AS drawn_recipient,
    ${skewed('tx', 3, 200, 4)} AS drawn_token) AS accounts
  CROSS JOIN LATERAL (SELECT
    CASE WHEN ${sender} = 0 AND drawn_recipient = 1 THEN 2 ELSE drawn_recipient END AS recipient,
    CASE WHEN ${sender} = 0 AND drawn_token = 1 THEN 2 ELSE drawn_token END AS token,
    CASE WHEN ${uniform('tx', 4)} < 0.8 THEN ${sender} WHEN ${sender} = 0 THEN 100000 ELSE 100000 + tx % 3 END AS payer,
    CASE WHEN ${uniform('tx', 5)} < 0.9 THEN 0 WHEN ${sender} = 0 THEN 2 ELSE 1 + tx % 2 END AS fee_token) AS parts`
const eachTx = `CROSS JOIN generate_series(0, ${txsPerBlock - 1}) AS tx_idx ${parts}`
const eachTransfer = `CROSS JOIN generate_series(0, ${transfersPerBlock - 1}) AS log_idx
  CROSS JOIN LATERAL (SELECT log_idx / ${transfersPerTx} AS tx_idx, log_idx % ${transfersPerTx} = 1 AS is_fee) AS logged ${parts}`

const movedToken = `CASE WHEN is_fee THEN ${tokenOf('fee_token')} ELSE ${tokenOf('parts.token')} END`
const movedFrom = `CASE WHEN is_fee THEN ${accountOf('payer')} ELSE ${accountOf(sender)} END`
const movedTo = `CASE WHEN is_fee THEN ${literal(feeManagerAddress)} ELSE ${accountOf('recipient')} END`
const amount = `1 + ${uniform('tx', 6)} * 1000000000`
const padding = literal(`0x${'00'.repeat(12)}`)

/** Account 2 sends what always fails. */
const status = `CASE WHEN ${sender} = 2 OR ${uniform('tx', 7)} < 0.03 THEN 0 ELSE 1 END`

const selections: Readonly<
  Record<FilledTable, { readonly from: string; readonly columns: Readonly<Record<string, string>> }>
> = {
  blocks: {
    from: '',
    columns: {
      num: 'num',
      hash: hashOf('block', 'num'),
      parent_hash: hashOf('block', 'num - 1'),
      timestamp: timestampOf,
      timestamp_ms: '1767225600000 + num * 500',
      gas_limit: '500000000',
      gas_used: `${50_000 * txsPerBlock}`,
      miner: accountOf('num % 8'),
      extra_data: "'\\x'::bytea",
      state_root: hashOf('state', 'num'),
      transactions_root: hashOf('transactions', 'num'),
      receipts_root: hashOf('receipts', 'num'),
      size: '30000',
      tx_count: `${txsPerBlock}`,
      log_count: `${transfersPerBlock}`,
      base_fee_per_gas: '20000000000',
    },
  },
  txs: {
    from: eachTx,
    columns: {
      block_num: 'num',
      idx: 'tx_idx',
      block_timestamp: timestampOf,
      hash: hashOf('tx', 'tx'),
      type: '2',
      from: accountOf(sender),
      to: `CASE WHEN ${uniform('tx', 8)} < 0.7 THEN ${tokenOf('parts.token')} ELSE ${accountOf('recipient')} END`,
      input: `${literal('0xa9059cbb')} || ${hashOf('input', 'tx')} || ${hashOf('more', 'tx')}`,
      gas_limit: '100000',
      nonce: 'num',
      call_count: '1',
      status,
      gas_used: '50000',
      cumulative_gas_used: '50000 * (tx_idx + 1)',
      fee_payer: accountOf('payer'),
      paid_fee_token: tokenOf('fee_token'),
      log_count: `${transfersPerTx}`,
      value: '0',
      gas_price: '20000000000',
      effective_gas_price: '20000000000',
      fee_amount: '1000',
    },
  },
  logs: {
    from: eachTransfer,
    columns: {
      block_num: 'num',
      log_idx: 'log_idx',
      block_timestamp: timestampOf,
      tx_idx: 'tx_idx',
      tx_hash: hashOf('tx', 'tx'),
      address: movedToken,
      topic0: literal(transfer.topic0),
      topic1: `${padding} || ${movedFrom}`,
      topic2: `${padding} || ${movedTo}`,
      data: `${literal(`0x${'00'.repeat(24)}`)} || int8send((${amount})::bigint)`,
      is_virtual_forward: 'false',
    },
  },
  token_transfers: {
    from: eachTransfer,
    columns: {
      block_num: 'num',
      log_idx: 'log_idx',
      block_timestamp: timestampOf,
      tx_idx: 'tx_idx',
      tx_hash: hashOf('tx', 'tx'),
      token: movedToken,
      from: movedFrom,
      to: movedTo,
      memo: `CASE WHEN tx % 10 = 0 AND NOT is_fee THEN ${hashOf('memo', 'tx')} END`,
      is_fee: 'is_fee',
      is_virtual_forward: 'false',
      amount: `(${amount})::numeric(78,0)`,
    },
  },
  raw: {
    from: `CROSS JOIN generate_series(1, ${Math.ceil(txsPerBlock / 16)}) AS part`,
    columns: { block_num: 'num', part: 'part', payload: '$3::bytea' },
  },
}

/**
 * A node's answer for sixteen transactions, compressed: one text for all, because no list reads more of it
 * than its length.
 */
function archivedPart(): Uint8Array {
  const word = (index: number, bytes: number) =>
    `0x${toBytes(transfer.topic0)
      .toString('hex')
      .repeat(3)
      .slice(index, index + bytes * 2)}`
  const place = { blockHash: word(3, 32), blockNumber: '0x3e8' }
  const transactions = Array.from({ length: 16 }, (_, index) => ({
    ...place,
    hash: word(index, 32),
    from: word(index + 9, 20),
    to: word(index + 17, 20),
    transactionIndex: `0x${index.toString(16)}`,
    type: '0x2',
    chainId: '0x1079',
    nonce: '0x10',
    gas: '0x186a0',
    gasPrice: '0x4a817c800',
    maxFeePerGas: '0x4a817c800',
    maxPriorityFeePerGas: '0x0',
    value: '0x0',
    input: `0xa9059cbb${word(index, 64).slice(2)}`,
    accessList: [],
    v: '0x1',
    r: word(index + 4, 32),
    s: word(index + 5, 32),
  }))
  const receipts = transactions.map((tx, index) => ({
    ...place,
    transactionHash: tx.hash,
    transactionIndex: tx.transactionIndex,
    from: tx.from,
    to: tx.to,
    type: '0x2',
    status: '0x1',
    gasUsed: '0xc350',
    cumulativeGasUsed: '0xc350',
    effectiveGasPrice: '0x4a817c800',
    contractAddress: null,
    logsBloom: `0x${'00'.repeat(256)}`,
    logs: [0, 1].map((log) => ({
      ...place,
      address: tx.to,
      topics: [transfer.topic0, word(index, 32), word(index + 1, 32)],
      data: word(index + 2, 32),
      logIndex: `0x${(index * 2 + log).toString(16)}`,
      transactionHash: tx.hash,
      transactionIndex: tx.transactionIndex,
      removed: false,
    })),
  }))
  const [, part] = archiveBlock({ number: 1000, block: { ...place, transactions }, receipts })
  if (!part) throw new Error('sixteen transactions are one part')
  return part
}
