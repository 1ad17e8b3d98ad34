/** Reads of blocks. */

import { readArchivedHeader } from '../archive.ts'
import { runCancellable } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import { blockList } from '../lists/list.ts'
import { type ListFilters, type Page, type PageRequest, readPage } from '../lists/read.ts'
import { decodePostgresRow, type StoredRow } from '../lists/row.ts'
import { type Postgres, quoteIdentifier, toBytes } from '../postgres.ts'
import { emptyPage } from './emptyPage.ts'

/** How a block is named: by height, by hash, by tag, or by a moment (the newest block at or before it). */
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
}

export async function listBlocks(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<Page<'blocks'>> {
  const visible = state.visible()
  return visible ? readPage(postgres, state.schema, blockList, filters, page, visible) : emptyPage
}

/** The block, or null when it is not held. */
export async function findBlock(
  postgres: Postgres,
  state: ChainState,
  selector: BlockSelector,
  signal: AbortSignal,
): Promise<BlockDetail | null> {
  const visible = state.visible()
  if (!visible) return null
  const schema = quoteIdentifier(state.schema)
  const { where, values } = conditionOf(selector, visible.segment.to, visible.finalized)
  const [found] = await runCancellable(postgres, `SELECT * FROM ${schema}.blocks ${where}`, values, signal)
  if (!found) return null
  const row = decodePostgresRow('blocks', found)
  const number = Number(row.num)
  const header = await readArchivedHeader(postgres.pool, state.schema, number)
  const hashes = await runCancellable(
    postgres,
    `SELECT hash FROM ${schema}.txs WHERE block_num = $1 ORDER BY idx`,
    [number],
    signal,
  )
  const transactions = hashes.map(({ hash }) => (Buffer.isBuffer(hash) ? `0x${hash.toString('hex')}` : null))
  const block = typeof header?.block === 'object' && header.block !== null ? header.block : {}
  return { row, rpc: { ...block, transactions }, final: number <= visible.finalized }
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
