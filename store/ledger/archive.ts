/**
 * The raw archive: the node's own answers, kept compressed beside the rows. A worker reads them
 * back as it reads an answer, so that re-derivation is ingest without a node.
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { BlockAnswer } from '#ingest/read/parsedAnswer.ts'
import type { RawRange } from '#ingest/source.ts'
import { isRecord } from '#primitives.ts'
import { readArchivedBlock, TXS_PER_PART } from '#transform/decode/archive.ts'
import { type OpenPart, openArchivedPart } from '#transform/decode/openArchivedPart.ts'
import { PostgresError } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'
import type { Queryable } from './lane.ts'
import { partitionName } from './partitions.ts'

interface RawRow {
  block_num: number
  part: number
  payload: Buffer
}

/** The place of a transaction. */
export interface TxPlace {
  readonly blockNumber: number
  readonly txIndex: number
}

/** The node's word on a transaction. Parsed at each look. */
export interface ArchivedTx {
  readonly transaction: Readonly<Record<string, unknown>>
  readonly receipt: Readonly<Record<string, unknown>>
  /** The same as the node's own JSON, which is passed on without a look. */
  readonly transactionText: string
  readonly receiptText: string
}

/**
 * Bytes of one read, as stored: some 10 MB of JSON, which bounds what a worker decodes at a time.
 * The block that passes the bound is read too.
 */
const ARCHIVE_BYTES_MAX = 1024 * 1024
/** SQLSTATE of a table that is not there. */
const UNDEFINED_TABLE = '42P01'

/**
 * Reads a range, or as much of its beginning as is good to hold, as it is stored: from attached
 * tables and from chunks still being loaded. Nothing is unpacked here, where requests are answered.
 * @throws ArchiveGapError
 */
export async function readArchive(client: Queryable, schema: string, range: BlockRange): Promise<RawRange> {
  const rows = await readParts(client, schema, range)
  const blocks = partsByBlock(rows, range)
  return {
    range: { from: range.from, to: range.from + blocks.length - 1 },
    bytes: join(blocks.flat()),
    endpoint: 'archive',
    partLengths: blocks.map((payloads) => payloads.map(({ byteLength }) => byteLength)),
  }
}

/** The node's answer for one block without its transactions, or null when it is not held. */
export async function readArchivedHeader(
  client: Queryable,
  schema: string,
  number: number,
): Promise<BlockAnswer | null> {
  const { rows } = await client.query<RawRow>(
    `SELECT block_num, part, payload FROM ${quoteIdentifier(schema)}.raw WHERE block_num = $1 AND part = 0`,
    [number],
  )
  return rows[0] ? readArchivedBlock(number, [rows[0].payload]) : null
}

/** The same for a range of attached blocks, ascending; those that are not held are left out. */
export async function readArchivedHeaders(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
): Promise<BlockAnswer[]> {
  const { rows } = await client.query<RawRow>(
    `SELECT block_num, payload FROM ${quoteIdentifier(schema)}.raw
     WHERE block_num BETWEEN $1 AND $2 AND part = 0 ORDER BY block_num`,
    [from, to],
  )
  return rows.map(({ block_num, payload }) => readArchivedBlock(block_num, [payload]))
}

/**
 * The node's payloads of many transactions, in the order asked; one statement whatever their
 * number.
 */
export async function readArchivedTxs(
  client: Queryable,
  schema: string,
  places: readonly TxPlace[],
): Promise<readonly ArchivedTx[]> {
  const found = await client.query<RawRow>(
    `SELECT block_num, part, payload FROM ${quoteIdentifier(schema)}.raw
     WHERE (block_num, part) IN (SELECT * FROM unnest($1::bigint[], $2::int[]))`,
    [places.map((place) => place.blockNumber), places.map(({ txIndex }) => archivedPartOf(txIndex))],
  )
  // Neighbours share a part, and unpacking it is most of the work: each is read once.
  const parts = new Map(
    found.rows.map((row) => [`${row.block_num}/${row.part}`, openArchivedPart(row.payload)]),
  )
  return places.map(({ blockNumber, txIndex }) =>
    archivedTx(parts.get(`${blockNumber}/${archivedPartOf(txIndex)}`), blockNumber, txIndex),
  )
}

/**
 * Column of a page of transactions (lists/preparedPage.ts): each row's part; null where it is the
 * part of the row before.
 */
export function archivedPartColumn(schema: string): string {
  const part = `page.idx / ${TXS_PER_PART}`
  return `CASE WHEN (lag(page.block_num) OVER neighbours, lag(${part}) OVER neighbours) = (page.block_num, ${part}) THEN NULL
    ELSE (${archivedPartSql(schema, 'page')}) END AS archived_part`
}

/** Reads the part that a row of transactions is in. */
export const archivedPartSql = (schema: string, row: string): string =>
  `SELECT payload FROM ${quoteIdentifier(schema)}.raw AS raw
      WHERE raw.block_num = ${row}.block_num AND raw.part = 1 + ${row}.idx / ${TXS_PER_PART}`

/**
 * A transaction out of its part; parsed when it is looked at. @throws ArchiveGapError then, if it
 * is not there
 */
export function archivedTx(part: OpenPart | undefined, blockNumber: number, txIndex: number): ArchivedTx {
  const index = txIndex % TXS_PER_PART
  return {
    get transaction() {
      return fieldsOf(part?.transaction(index), blockNumber)
    },
    get receipt() {
      return fieldsOf(part?.receipt(index), blockNumber)
    },
    get transactionText() {
      return textOf(part?.transactionText(index), blockNumber)
    },
    get receiptText() {
      return textOf(part?.receiptText(index), blockNumber)
    },
  }
}

function fieldsOf(value: unknown, blockNumber: number): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new ArchiveGapError({ from: blockNumber, to: blockNumber }, 0)
  return value
}

function textOf(text: string | undefined, blockNumber: number): string {
  if (text === undefined) throw new ArchiveGapError({ from: blockNumber, to: blockNumber }, 0)
  return text
}

/** The part that a transaction of a block is in. */
export const archivedPartOf = (txIndex: number): number => 1 + Math.floor(txIndex / TXS_PER_PART)

async function readParts(client: Queryable, schema: string, range: BlockRange): Promise<RawRow[]> {
  const rows = new Map<string, RawRow>()
  const keep = (found: readonly RawRow[]) => {
    for (const row of found) rows.set(`${row.block_num}/${row.part}`, row)
  }
  // A chunk may be attached between two statements: read in this order it is then found twice,
  // never missed.
  const chunks = await client.query<{ from_block: number }>(
    `SELECT from_block FROM ${quoteIdentifier(schema)}.chunks WHERE from_block <= $2 AND tip >= $1 AND tip >= from_block`,
    [range.from, range.to],
  )
  for (const { from_block } of chunks.rows) {
    const relation = relationOf(schema, partitionName('raw', from_block))
    keep(await selectParts(client, relation, range).catch(noneOfGoneTable))
  }
  keep(await selectParts(client, `${quoteIdentifier(schema)}.raw`, range))
  return [...rows.values()].sort((a, b) => a.block_num - b.block_num || a.part - b.part)
}

/** A chunk that moved into a partition since it was listed: its rows are found there. */
function noneOfGoneTable(error: unknown): RawRow[] {
  if (new PostgresError(error).sqlState === UNDEFINED_TABLE) return []
  throw error
}

/**
 * Those of the range's first blocks here, up to the bound. A payload's length is known without
 * reading it.
 */
async function selectParts(client: Queryable, relation: string, range: BlockRange): Promise<RawRow[]> {
  const result = await client.query<RawRow>(
    `SELECT block_num, part, payload FROM (
       SELECT block_num, part, payload,
              sum(octet_length(payload)) OVER (ORDER BY block_num RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
       FROM ${relation} WHERE block_num BETWEEN $1 AND $2) AS parts
     WHERE before IS NULL OR before < $3 ORDER BY block_num, part`,
    [range.from, range.to, ARCHIVE_BYTES_MAX],
  )
  return result.rows
}

/**
 * Payloads by block, up to the same bound as of one relation: where rows end below it, there are
 * none.
 */
function partsByBlock(rows: readonly RawRow[], range: BlockRange): Buffer[][] {
  const parts = Map.groupBy(rows, (row) => row.block_num)
  const blocks: Buffer[][] = []
  let bytes = 0
  for (let number = range.from; number <= range.to && bytes < ARCHIVE_BYTES_MAX; number++) {
    const payloads = (parts.get(number) ?? []).map((row) => row.payload)
    if (payloads.length === 0) throw new ArchiveGapError(range, number - range.from)
    blocks.push(payloads)
    for (const { byteLength } of payloads) bytes += byteLength
  }
  return blocks
}

/**
 * In a buffer of its own, which is going to be transferred: Buffer.concat may take a piece of a
 * shared pool.
 */
function join(payloads: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(payloads.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const payload of payloads) {
    joined.set(payload, at)
    at += payload.byteLength
  }
  return joined
}

/** The archive does not hold what coverage says it holds; `millrace verify` names it. */
export class ArchiveGapError extends failure('ArchiveGapError', 'archive_gap', 'stop') {
  constructor(range: BlockRange, found: number) {
    super(`the raw archive of blocks ${range.from}..${range.to} ends after ${found} blocks`)
  }
}
