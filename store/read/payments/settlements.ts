/** Transfers that settle payments: what final blocks say of transactions, and of what came in. */
import { type Queryable, readFinalRange, readLane } from '../../ledger/lane.ts'
import { pairHash, relationOf, toBytes, toHex } from '../../sql.ts'

/** A transfer. */
export interface Moved {
  readonly txHash: `0x${string}`
  readonly blockNumber: number
  readonly token: `0x${string}`
  readonly from: `0x${string}`
  readonly to: `0x${string}`
  /** In the token's smallest unit. */
  readonly amount: bigint
  /** 32 bytes; null where it has none. */
  readonly memo: `0x${string}` | null
}

/** A transaction in a final block. */
export interface FinalTransaction {
  readonly blockNumber: number
  readonly succeeded: boolean
  readonly transfers: readonly Moved[]
}

interface TransferRow {
  readonly tx_hash: Buffer
  readonly block_num: number
  readonly token: Buffer
  readonly from: Buffer
  readonly to: Buffer
  readonly amount: string
  readonly memo: Buffer | null
}

interface FoundRow extends Omit<TransferRow, 'token' | 'amount'> {
  readonly status: number | null
  /** Null in a transaction without transfers. */
  readonly token: Buffer | null
  readonly amount: string | null
}

/**
 * As `readFinal`, without those below a gap of the index: they may be of a branch that is not the chain.
 * A proof is written down for good; an audit looks again, and a gap is no reason to miss what it saw.
 */
export async function readLinked(
  client: Queryable,
  schema: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FinalTransaction>> {
  const final = await readFinalRange(client, schema)
  if (!final) return new Map()
  const found = await readFinal(client, schema, hashes)
  return new Map([...found].filter(([, { blockNumber }]) => blockNumber >= final.from))
}

/** Those of the transactions that final blocks have, by hash, with every transfer in them. */
export async function readFinal(
  client: Queryable,
  schema: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FinalTransaction>> {
  const lane = await readLane(client, schema)
  const { rows } = await client.query<FoundRow>(
    `SELECT x.hash AS tx_hash, x.block_num, x.status, t.token, t."from", t."to", t.amount, t.memo
     FROM ${relationOf(schema, 'txs')} x
     LEFT JOIN ${relationOf(schema, 'token_transfers')} t ON t.block_num = x.block_num AND t.tx_idx = x.idx
     WHERE x.hash = ANY($1) AND x.block_num <= $2`,
    [hashes.map(toBytes), lane?.finalized ?? -1],
  )
  const found = new Map<string, FinalTransaction>()
  for (const [txHash, ofOne] of Map.groupBy(rows, (row) => toHex(row.tx_hash))) {
    const [first] = ofOne
    const transfers = ofOne.flatMap(({ token, amount, ...row }) =>
      token && amount !== null ? movedOf({ ...row, token, amount }) : [],
    )
    if (first) found.set(txHash, { blockNumber: first.block_num, succeeded: first.status === 1, transfers })
  }
  return found
}

/** The newest final block that is held; null where none is. */
export async function readFinalBlock(
  client: Queryable,
  schema: string,
): Promise<{ readonly number: number; readonly seconds: number } | null> {
  const { rows } = await client.query<{ num: number; seconds: number }>(
    `SELECT num, floor(extract(epoch FROM timestamp))::bigint AS seconds FROM ${relationOf(schema, 'blocks')} WHERE num = $1`,
    [(await readLane(client, schema))?.finalized ?? -1],
  )
  const [row] = rows
  return row ? { number: row.num, seconds: Number(row.seconds) } : null
}

/** A place in the order of transfers. */
export interface TransferPlace {
  readonly block: number
  readonly log: number
}

/** One side of an account's transfers of a token. */
export interface AccountSide {
  readonly side: 'from' | 'to'
  readonly account: string
  readonly token: string
}

/**
 * Transfers of a token from or to an account in final blocks behind a place, the first ones first, and
 * the place of the last; null where that was the end.
 */
export async function readMoved(
  client: Queryable,
  schema: string,
  { side, account, token }: AccountSide,
  after: TransferPlace,
  limit: number,
): Promise<{ readonly moved: readonly Moved[]; readonly next: TransferPlace | null }> {
  const lane = await readLane(client, schema)
  const column = `"${side}"`
  const { rows } = await client.query<TransferRow & { readonly log_idx: number }>(
    `SELECT tx_hash, block_num, log_idx, token, "from", "to", amount, memo
     FROM ${relationOf(schema, 'token_transfers')}
     WHERE ${pairHash([column, 'token'])} = ${pairHash(['$1::bytea', '$2::bytea'])} AND ${column} = $1 AND token = $2
       AND (block_num, log_idx) > ($3, $4) AND block_num <= $5
     ORDER BY block_num, log_idx LIMIT $6`,
    [toBytes(account), toBytes(token), after.block, after.log, lane?.finalized ?? -1, limit],
  )
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    moved: rows.map(movedOf),
    next: last ? { block: last.block_num, log: last.log_idx } : null,
  }
}

const movedOf = (row: TransferRow): Moved => ({
  txHash: toHex(row.tx_hash),
  blockNumber: row.block_num,
  token: toHex(row.token),
  from: toHex(row.from),
  to: toHex(row.to),
  amount: BigInt(row.amount),
  memo: row.memo && toHex(row.memo),
})
