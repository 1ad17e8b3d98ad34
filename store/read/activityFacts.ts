/** The facts that activities are found in, of transactions named by their places. */
import { type Address, address, type Hash, type Hex, hash } from '#primitives.ts'
import type { ActivityFacts } from '#transform/activities/activity.ts'
import type { LogFacts } from '#transform/projection.ts'
import type { TxPlace } from '../ledger/archive.ts'
import { preparedName } from '../postgres.ts'
import { quoteIdentifier, toHex } from '../sql.ts'
import type { PageSource } from './lists/read.ts'

type Where = Pick<PageSource, 'client' | 'schema'>

interface TxRow {
  block_num: number
  idx: number
  block_timestamp: Date
  hash: Buffer
  from: Buffer
  to: Buffer | null
  contract_address: Buffer | null
  status: 0 | 1 | null
  value: string
  fee_payer: Buffer | null
}

interface LogRow {
  block_num: number
  log_idx: number
  tx_hash: Buffer
  address: Buffer
  topics: (Buffer | null)[]
  data: Buffer
  is_virtual_forward: boolean
  is_fee: boolean
}

/** In the order asked; two statements, whatever the number. */
export async function readActivityFacts(
  { client, schema }: Where,
  places: readonly TxPlace[],
): Promise<readonly ActivityFacts[]> {
  if (places.length === 0) return []
  const text = `SELECT block_num, idx, block_timestamp, hash, "from", "to", contract_address, status, value, fee_payer
     FROM unnest($1::bigint[], $2::int[]) AS asked (block_num, idx)
     JOIN ${quoteIdentifier(schema)}.txs AS txs USING (block_num, idx)`
  const values = [places.map((place) => place.blockNumber), places.map((place) => place.txIndex)]
  const found = await client.query<TxRow>({ name: preparedName(text), text, values })
  const logs = await readLogs({ client, schema }, found.rows)
  const facts = new Map(
    found.rows.map((row) => [`${row.block_num}/${row.idx}`, factsOf(row, logs.get(toHex(row.hash)) ?? [])]),
  )
  return places.map(({ blockNumber, txIndex }) => {
    const of = facts.get(`${blockNumber}/${txIndex}`)
    if (!of) throw new Error(`no transaction at ${blockNumber}/${txIndex} in the snapshot it was found in`)
    return of
  })
}

/** Ascending within each transaction. */
async function readLogs({ client, schema }: Where, txs: readonly TxRow[]): Promise<Map<string, LogRow[]>> {
  const tables = quoteIdentifier(schema)
  const text = `SELECT logs.block_num, logs.log_idx, logs.tx_hash, logs.address, logs.data, logs.is_virtual_forward,
       ARRAY[logs.topic0, logs.topic1, logs.topic2, logs.topic3] AS topics, coalesce(paid.is_fee, false) AS is_fee
     FROM unnest($1::bigint[], $2::bytea[]) AS asked (block_num, tx_hash)
     JOIN ${tables}.logs AS logs ON logs.tx_hash = asked.tx_hash AND logs.block_num = asked.block_num
     LEFT JOIN ${tables}.token_transfers AS paid ON paid.block_num = logs.block_num AND paid.log_idx = logs.log_idx
     ORDER BY logs.block_num, logs.log_idx`
  const values = [txs.map((tx) => tx.block_num), txs.map((tx) => tx.hash)]
  const found = await client.query<LogRow>({ name: preparedName(text), text, values })
  return Map.groupBy(found.rows, (row) => toHex(row.tx_hash))
}

function factsOf(tx: TxRow, logs: readonly LogRow[]): ActivityFacts {
  return {
    block: { number: tx.block_num, timestampSeconds: tx.block_timestamp.getTime() / 1000 },
    txHash: asHash(tx.hash),
    from: asAddress(tx.from),
    to: tx.to && asAddress(tx.to),
    contractAddress: tx.contract_address && asAddress(tx.contract_address),
    status: tx.status,
    paid: tx.to?.equals(tx.from) ? 0n : BigInt(tx.value),
    feePayer: tx.fee_payer && asAddress(tx.fee_payer),
    feeLogIndex: logs.find((log) => log.is_fee)?.log_idx ?? null,
    logs: logs.map(logOf),
  }
}

function logOf(log: LogRow): LogFacts {
  return {
    address: asAddress(log.address),
    topics: log.topics.filter((topic) => topic !== null).map(asHash),
    data: toHex(log.data) satisfies Hex,
    logIndex: log.log_idx,
    isVirtualForward: log.is_virtual_forward,
  }
}

const asHash = (bytes: Buffer): Hash => hash(toHex(bytes))
const asAddress = (bytes: Buffer): Address => address(toHex(bytes))
