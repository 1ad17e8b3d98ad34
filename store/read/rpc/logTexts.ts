/**
 * Logs as the JSON a node told. The archive has it, but for one log a part of it is unpacked; the
 * rows hold the same values, so that the archive is only asked which members a node writes, and how.
 */
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import { isRecord } from '#primitives.ts'
import { archivedPartOf, archivedTx, readArchivedTxs } from '../../ledger/archive.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { OpenParts } from '../../ledger/OpenParts.ts'
import { toBytes } from '../../sql.ts'

/** A row of logs, as `storedTypes` reads it. */
export interface LogRow {
  readonly block_num: number
  readonly log_idx: number
  readonly tx_idx: number
  readonly tx_hash: string
  readonly address: string
  readonly topic0: string | null
  readonly topic1: string | null
  readonly topic2: string | null
  readonly topic3: string | null
  readonly data: string
  /** Time of its block. */
  readonly seconds: number
  readonly block_hash: string
  /** Position among the logs of its transaction, where a log's number may be another than told. */
  readonly position: number | null
  /** Present for the first log and the last. */
  readonly archived_part: string | null
}

/** A log as a node told it, and where it stands. */
export interface StoredLog {
  readonly blockNumber: number
  readonly logIndex: number
  /** JSON. */
  readonly text: string
}

/** Null where the node's words are not those of the rows: the archive has them. */
export function writeLogs(rows: readonly LogRow[], parts: OpenParts): readonly StoredLog[] | null {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return []
  if (first.position !== null) return null
  const told = toldLog(first, parts)
  const write = writerOf(Object.keys(told ?? {}))
  // Nodes differ in the members they write, and one may write some in a way of its own.
  const isAlike = [first, last].every((row) => write(row) === JSON.stringify(toldLog(row, parts)))
  if (!isAlike) return null
  return rows.map((row) => ({ blockNumber: row.block_num, logIndex: row.log_idx, text: write(row) }))
}

/** A log out of the part that came with its row. */
function toldLog(row: LogRow, parts: OpenParts): Readonly<Record<string, unknown>> | undefined {
  const { archived_part: packed, block_hash: blockHash, block_num: number, tx_idx: txIndex } = row
  if (packed === null) return undefined
  const part = parts.open({ blockHash, part: archivedPartOf(txIndex) }, () => toBytes(packed))
  return logIn(logsOf(archivedTx(part, number, txIndex).receipt), row)
}

/** How a node writes a member; one that is not here comes from the archive. */
const members: Readonly<Record<string, (row: LogRow) => string>> = {
  address: ({ address }) => `"${address}"`,
  topics: ({ topic0, topic1, topic2, topic3 }) =>
    `[${[topic0, topic1, topic2, topic3].flatMap((topic) => (topic === null ? [] : [`"${topic}"`])).join()}]`,
  data: ({ data }) => `"${data}"`,
  blockHash: ({ block_hash: hash }) => `"${hash}"`,
  blockNumber: ({ block_num: number }) => `"${rpcQuantity(number)}"`,
  blockTimestamp: ({ seconds }) => `"${rpcQuantity(seconds)}"`,
  transactionHash: ({ tx_hash: hash }) => `"${hash}"`,
  transactionIndex: ({ tx_idx: index }) => `"${rpcQuantity(index)}"`,
  logIndex: ({ log_idx: index }) => `"${rpcQuantity(index)}"`,
  removed: () => 'false',
}

function writerOf(names: readonly string[]): (row: LogRow) => string {
  const writers = names.map((name, index) => {
    const label = `${index === 0 ? '' : ','}"${name}":`
    const write = members[name] ?? (() => 'null')
    return (row: LogRow) => label + write(row)
  })
  return (row) => `{${writers.reduce((text, write) => text + write(row), '')}}`
}

/** As the archive has them. */
export async function archivedLogs(
  client: Queryable,
  schema: string,
  rows: readonly LogRow[],
): Promise<readonly StoredLog[]> {
  const txs = [...new Map(rows.map((row) => [txKey(row), row])).values()]
  const archived = await readArchivedTxs(
    client,
    schema,
    txs.map((row) => ({ blockNumber: row.block_num, txIndex: row.tx_idx })),
  )
  // Each receipt is parsed once, whatever the number of its logs.
  const logs = new Map(txs.map((row, index) => [txKey(row), logsOf(archived[index]?.receipt)]))
  return rows.map((row) => {
    const told = logIn(logs.get(txKey(row)) ?? [], row)
    if (!told) throw new Error(`receipt ${txKey(row)} has no log ${row.log_idx}, but a row says so`)
    return { blockNumber: row.block_num, logIndex: row.log_idx, text: JSON.stringify(told) }
  })
}

const txKey = (row: LogRow): string => `${row.block_num}/${row.tx_idx}`

type Fields = Readonly<Record<string, unknown>>

const logIn = (logs: readonly Fields[], { position, log_idx: index }: LogRow): Fields | undefined =>
  position === null ? logs.find((log) => Number(log['logIndex']) === index) : logs[position]

function logsOf(receipt: Fields | undefined): readonly Fields[] {
  const logs: unknown = receipt?.['logs']
  return Array.isArray(logs) ? logs.filter(isRecord) : []
}
