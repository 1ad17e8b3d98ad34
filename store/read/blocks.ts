/** Reads of blocks. */
import { covers } from '#ingest/range.ts'
import { readSnapshot } from '../cancel.ts'
import { type BlockFinality, readBlockFinality } from '../finality/blockFinality.ts'
import { readArchivedHeader } from '../ledger/archive.ts'
import type { ChainState, Visible } from '../ledger/ChainState.ts'
import type { Queryable } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, toBytes, toHex } from '../sql.ts'
import { blockList } from './lists/list.ts'
import { HistoryIncompleteError, type ListFilters, type PageRequest } from './lists/read.ts'
import { type ListPage, readList } from './lists/readList.ts'
import { type StoredRow, storedTypes } from './lists/row.ts'

/**
 * How a block is named: by height, by hash, by tag, or by a moment (the newest block at or before
 * it).
 */
export type BlockSelector =
  | { readonly by: 'number'; readonly number: number }
  | { readonly by: 'hash'; readonly hash: string }
  | { readonly by: 'tag'; readonly tag: 'latest' | 'finalized' }
  | { readonly by: 'timestamp'; readonly timestampSeconds: number }

export interface BlockDetail {
  readonly row: StoredRow<'blocks'>
  /** The node's own payload with transaction hashes in place of transactions. */
  readonly rpc: Readonly<Record<string, unknown>>
  readonly final: boolean
  /** The finality, if it was asked for. */
  readonly finality: BlockFinality | null
}

export function listBlocks(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<StoredRow<'blocks'>>> {
  return readList(postgres, state, blockList, filters, page)
}

/**
 * The block, or null when the chain has none such.
 * @param wants whether to read its `finality`: up to an epoch of headers
 * @throws HistoryIncompleteError when it lies, or may lie, in history that is not indexed yet
 */
export async function findBlock(
  postgres: Postgres,
  state: ChainState,
  selector: BlockSelector,
  signal: AbortSignal,
  wants = { finality: false },
): Promise<BlockDetail | null> {
  const visible = state.visible()
  if (!visible) return null
  const finals = state.final
  const { where, values } = conditionOf(selector, visible.segment.to, visible.finalized)
  return readSnapshot(postgres, signal, async (client) => {
    const text = `SELECT * FROM ${quoteIdentifier(state.schema)}.blocks ${where}`
    const found = await client.query<StoredRow<'blocks'>>({ text, values, types: storedTypes })
    const [row] = found.rows
    assertIndexed(selector, row && Number(row.num), state, visible)
    if (!row) return null
    const number = Number(row.num)
    const transactions = await transactionHashes(client, state.schema, number)
    const header = await readArchivedHeader(client, state.schema, number)
    const block = typeof header?.block === 'object' && header.block !== null ? header.block : {}
    const final = finals.has(number)
    const finality = wants.finality
      ? await readBlockFinality(client, state, { number, hash: row.hash }, final)
      : null
    return { row, rpc: { ...block, transactions }, final, finality }
  })
}

/**
 * "Not held" means "does not exist" only where history is complete. A hash may be of any block, so
 * it is never sure.
 */
function assertIndexed(
  selector: BlockSelector,
  found: number | undefined,
  state: ChainState,
  { segment, startBlock }: Visible,
): void {
  if (selector.by === 'number' && found === undefined) {
    if (selector.number >= startBlock && selector.number < segment.from)
      throw new HistoryIncompleteError(segment.from)
  }
  if (selector.by === 'timestamp' && (found ?? -1) < segment.to) {
    // The block above is the first one later than the moment; where it is not held, others may lie
    // between.
    const above = found === undefined ? startBlock : found + 1
    if (!covers(state.coverage('postgres'), { from: above, to: above }))
      throw new HistoryIncompleteError(segment.from)
  }
}

async function transactionHashes(client: Queryable, schema: string, number: number): Promise<string[]> {
  const found = await client.query<{ hash: Buffer }>(
    `SELECT hash FROM ${quoteIdentifier(schema)}.txs WHERE block_num = $1 ORDER BY idx`,
    [number],
  )
  return found.rows.map(({ hash }) => toHex(hash))
}

function conditionOf(
  selector: BlockSelector,
  tip: number,
  finalized: number,
): { where: string; values: unknown[] } {
  switch (selector.by) {
    case 'number':
      return { where: 'WHERE num = $1', values: [selector.number] }
    case 'hash':
      return { where: 'WHERE hash = $1', values: [toBytes(selector.hash)] }
    case 'tag':
      return { where: 'WHERE num = $1', values: [selector.tag === 'latest' ? tip : Math.min(finalized, tip)] }
    case 'timestamp':
      return {
        where: 'WHERE timestamp <= to_timestamp($1) ORDER BY timestamp DESC, num DESC LIMIT 1',
        values: [selector.timestampSeconds],
      }
  }
}
