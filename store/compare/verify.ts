/**
 * Compares both stores with the node, row by row: the node's blocks are fetched, proved and encoded
 * again, and every table's content digest per block must be the one each engine computes from its
 * own rows.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { type BlockRange, difference, intersection, type RangeSet } from '#ingest/range.ts'
import type { Source } from '#ingest/source.ts'
import { SenderRefutedError } from '#ingest/verify/senders/SenderRefutedError.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { differsByLeftOut } from '#transform/leftOut.ts'
import { analyticsTableNames, ledgerTableNames, type TableName } from '#transform/tables.ts'
import { readArchive } from '../ledger/archive.ts'
import { readCoverage, type StoreName } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { type BlockDigest, clickhouseDigests, postgresDigests } from './digests.ts'

/** A table and block in which a store does not hold what the chain implies. */
export interface Difference {
  readonly store: StoreName
  readonly table: TableName
  readonly block: number
  readonly expectedRows: number
  readonly foundRows: number
  /**
   * `count`: rows are missing or doubled. `content`: as many rows, but not the same. `sender`: the
   * node says what is stored, but a transaction was signed by another account; the rows counted are
   * that one.
   */
  readonly kind: 'count' | 'content' | 'sender'
}

export interface VerifyReport {
  readonly range: BlockRange
  readonly comparedBlocks: { readonly postgres: number; readonly clickhouse: number }
  readonly differences: readonly Difference[]
  /** Blocks asked for that a store does not claim to hold. */
  readonly uncovered: { readonly postgres: RangeSet; readonly clickhouse: RangeSet }
  readonly provedBlocks: number
  readonly unprovableBlocks: number
}

export interface VerifyOptions {
  readonly source: Source
  /** Recovers every sender where the chain is verified by its roots; with links only, none. */
  readonly decode: (raw: Awaited<ReturnType<Source['fetch']>>) => Promise<EncodedBatch>
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly schema: string
  readonly database: string
  /** Told after every piece. */
  readonly onProgress?: (blocksDone: number, blocksTotal: number) => void
}

/** For people: where, and what is there instead. */
export const describeDifference = (found: Difference): string => {
  const { store, table, block, kind, expectedRows, foundRows } = found
  const words = {
    count: `${foundRows} rows instead of ${expectedRows}`,
    content: 'other content than the node says',
    sender: 'a sender who did not sign, as the node says it',
  }
  return `${store} ${table} block ${block}: ${words[kind]}`
}

/** Differences reported at most; a store that is wrong everywhere need not be listed whole. */
const DIFFERENCES_MAX = 1_000
/** Blocks compared at a time: digests of a piece are one statement per table and store. */
const PIECE_BLOCKS = 100

/**
 * Compares `range`. @throws what the node or a store throws; a difference is an answer, not an
 * error.
 */
export async function verifyRange(options: VerifyOptions, range: BlockRange): Promise<VerifyReport> {
  const { postgres, schema, onProgress } = options
  const coverage = {
    postgres: await readCoverage(postgres.pool, schema, 'postgres'),
    clickhouse: await readCoverage(postgres.pool, schema, 'clickhouse'),
  }
  const differences: Difference[] = []
  const proofs = { provedBlocks: 0, unprovableBlocks: 0 }
  for (let from = range.from; from <= range.to; ) {
    const asked = { from, to: Math.min(range.to, from + PIECE_BLOCKS - 1) }
    const piece = await comparePiece(options, asked, coverage)
    differences.push(...piece.differences)
    proofs.provedBlocks += piece.provedBlocks
    proofs.unprovableBlocks += piece.unprovableBlocks
    from = piece.to + 1
    onProgress?.(from - range.from, range.to - range.from + 1)
    if (differences.length >= DIFFERENCES_MAX) break
  }
  return {
    range,
    comparedBlocks: {
      postgres: held(coverage.postgres, range),
      clickhouse: held(coverage.clickhouse, range),
    },
    differences: differences.slice(0, DIFFERENCES_MAX),
    uncovered: {
      postgres: difference([range], coverage.postgres),
      clickhouse: difference([range], coverage.clickhouse),
    },
    ...proofs,
  }
}

type Coverage = Readonly<Record<StoreName, RangeSet>>

/** The compared part, up to `to`. */
interface Piece extends Pick<VerifyReport, 'differences' | 'provedBlocks' | 'unprovableBlocks'> {
  readonly to: number
}

/** Compares the range, or its beginning. */
async function comparePiece(options: VerifyOptions, range: BlockRange, coverage: Coverage): Promise<Piece> {
  const { source, decode } = options
  const fetcher = { source, decode, failpoint: () => {}, lane: 'history' as const }
  try {
    const { batch } = await fetchVerified(fetcher, range)
    const differences = await compareBatch(options, batch, coverage)
    return { ...batch.proofs, to: batch.range.to, differences }
  } catch (error) {
    if (!(error instanceof SenderRefutedError) || !(await isStored(options, error))) throw error
    const { blockNumber: block } = error
    if (block > range.from) return comparePiece(options, { from: range.from, to: block - 1 }, coverage)
    const lie = {
      store: 'postgres',
      table: 'txs',
      block,
      expectedRows: 1,
      foundRows: 1,
      kind: 'sender',
    } as const
    return { to: block, differences: [lie], provedBlocks: 0, unprovableBlocks: 0 }
  }
}

/**
 * Whether a lie about a sender was believed when it was told first: few senders are recovered
 * before a block is stored.
 */
async function isStored(
  { postgres, schema, decode }: VerifyOptions,
  { blockNumber }: SenderRefutedError,
): Promise<boolean> {
  try {
    await decode(await readArchive(postgres.pool, schema, { from: blockNumber, to: blockNumber }))
    return false
  } catch (error) {
    return error instanceof SenderRefutedError
  }
}

async function compareBatch(
  options: VerifyOptions,
  batch: EncodedBatch,
  coverage: Coverage,
): Promise<Difference[]> {
  const { postgres, clickhouse, schema, database } = options
  const differences: Difference[] = []
  for (const range of intersection([batch.range], coverage.postgres))
    for (const name of ledgerTableNames) {
      const found = await postgresDigests(postgres.pool, schema, name, range)
      differences.push(...(await compareTable(options, batch, { store: 'postgres', name, range, found })))
    }
  for (const range of intersection([batch.range], coverage.clickhouse))
    for (const name of analyticsTableNames) {
      const found = await clickhouseDigests(clickhouse, database, name, range)
      differences.push(...(await compareTable(options, batch, { store: 'clickhouse', name, range, found })))
    }
  return differences
}

interface Stored {
  readonly store: StoreName
  readonly name: TableName
  readonly range: BlockRange
  readonly found: readonly BlockDigest[]
}

/**
 * A block's proofs are facts about the day it came. Raw payloads may differ between nodes
 * in order and extra fields, and headers in a field that honest nodes leave out.
 */
async function compareTable(options: VerifyOptions, batch: EncodedBatch, stored: Stored) {
  const { store, name, range, found } = stored
  const differences: Difference[] = []
  for (const one of unequal(store, name, expectedOf(batch, name, range), found)) {
    const mayDiffer = one.kind === 'content' && (name === 'raw' || name === 'blocks')
    const isUsual = one.kind === 'content' && name === 'block_proofs'
    if (isUsual || (mayDiffer && (await isSameBlock(options, batch, stored, one.block)))) continue
    differences.push(one)
  }
  return differences
}

/** Whether the archive has the rows that are stored, and the node's but for a field that is left out. */
async function isSameBlock(
  { postgres, schema, decode }: VerifyOptions,
  batch: EncodedBatch,
  { store, name, found }: Stored,
  block: number,
): Promise<boolean> {
  const range = { from: block, to: block }
  try {
    const derived = await decode(await readArchive(postgres.pool, schema, range))
    const own = found.filter((digest) => digest.block === block)
    if (name !== 'raw' && unequal(store, name, expectedOf(derived, name, range), own).length > 0) return false
    return analyticsTableNames.every(
      (table) =>
        unequal(store, table, expectedOf(batch, table, range), expectedOf(derived, table, range)).length ===
          0 ||
        (table === 'blocks' && differsByLeftOut(batch, derived, block)),
    )
  } catch {
    // A payload that cannot be unpacked or parsed is a difference too, whatever it failed with.
    return false
  }
}

function expectedOf(batch: EncodedBatch, name: TableName, range: BlockRange): BlockDigest[] {
  const { blockRowCounts, blockDigests } = batch.tables[name]
  const digests: BlockDigest[] = []
  for (let block = range.from; block <= range.to; block++) {
    const index = block - batch.range.from
    const rows = blockRowCounts[index] ?? 0
    if (rows > 0) digests.push({ block, rows, digest: blockDigests[index] ?? 0 })
  }
  return digests
}

function unequal(
  store: StoreName,
  table: TableName,
  expected: readonly BlockDigest[],
  found: readonly BlockDigest[],
): Difference[] {
  const byBlock = new Map(found.map((digest) => [digest.block, digest]))
  const differences: Difference[] = []
  for (const { block, rows, digest } of expected) {
    const ours = byBlock.get(block)
    byBlock.delete(block)
    if (ours?.rows !== rows)
      differences.push({ store, table, block, expectedRows: rows, foundRows: ours?.rows ?? 0, kind: 'count' })
    else if (ours.digest !== digest)
      differences.push({ store, table, block, expectedRows: rows, foundRows: ours.rows, kind: 'content' })
  }
  for (const { block, rows } of byBlock.values())
    differences.push({ store, table, block, expectedRows: 0, foundRows: rows, kind: 'count' })
  return differences.sort((a, b) => a.block - b.block)
}

const held = (coverage: RangeSet, range: BlockRange): number =>
  intersection([range], coverage).reduce((sum, piece) => sum + piece.to - piece.from + 1, 0)
