/**
 * The one pagination contract of every list: cursor mode, page mode, the limits,
 * and what a store is asked for and gives back.
 */

import { ApiError } from '../errors.ts'
import * as s from '../schema.ts'
import type { BlockMark, CursorKeys, CursorScope, Position } from './cursor.ts'
import * as p from './parameter.ts'

export type { BlockMark, KeyValue, Position } from './cursor.ts'

export type SortOrder = 'asc' | 'desc'

/** A page asked of a store. It reads one row more than `limit` to know whether the list goes on. */
export interface ListPage {
  readonly order: SortOrder
  readonly limit: number
  /** Continue after the row with this sort key. Absent: from the head, skipping `offset` rows. */
  readonly position?: Position
  /** Rows to skip in page mode; 0 in cursor mode. Bounded by the list's window. */
  readonly offset: number
  readonly wantTotal: boolean
  /** From the cursor: newest block passed that was not final then. */
  readonly passed?: BlockMark
  /** Aborted at the request's deadline and when its client is gone. */
  readonly signal: AbortSignal
}

/** A store's answer. */
export interface ListResult<Row, Meta = object> {
  /** At most `limit` rows. */
  readonly rows: readonly Row[]
  /**
   * Sort key of the last row when more rows follow, also at the edge of unfinished history; null at
   * the end.
   */
  readonly next: Position | null
  /** Newest row's block on this page if it can still change. */
  readonly passed?: BlockMark
  /** The page was cut at the edge of covered history, which begins at this block. */
  readonly historyFrom?: number
  /** A block passed earlier in this walk was replaced: the first block that changed. */
  readonly reorgedFrom?: number
  /**
   * First block from which on movements of the chain's own coin are all known; null: of none held.
   * Absent where no row is one.
   */
  readonly nativeFrom?: number | null
  /** The rows come from the node: the store cannot tell them yet. */
  readonly source?: 'node'
  /** Rows that match, counted up to `TOTAL_COUNT_MAX`. */
  readonly totalCount?: number
  /**
   * Overrides what follows from `TOTAL_COUNT_MAX`: false for an exact count of any size, true for a
   * lower bound.
   */
  readonly totalCountCapped?: boolean
  /** Further members of the envelope's `meta`, as the list's `meta` schema declares them. */
  readonly meta?: Meta
}

/** A page of rows that are ordered by their ids: `list` is asked for those before one. */
export async function pageById<Row extends { readonly id: string }>(
  { position, limit }: Pick<ListPage, 'position' | 'limit'>,
  list: (limit: number, before: string | null) => Promise<readonly Row[]>,
): Promise<ListResult<Row>> {
  const [before] = position ?? []
  const rows = await list(limit + 1, typeof before === 'string' ? before : null)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, next: rows.length > limit && last ? [last.id] : null }
}

/** A total is counted up to here; one that reaches it is a lower bound. */
export const TOTAL_COUNT_MAX = 10_000

/** How a list pages. */
export interface PageRules {
  readonly limitMin: number
  readonly limitMax: number
  readonly limitDefault: number
  /** Largest `page * limit`. */
  readonly windowRows: number
  /** `cursorOnly`: the list takes no `page`. */
  readonly modes: 'cursorAndPage' | 'cursorOnly'
  /** The `order` parameter: a fixed order takes none. */
  readonly orders: 'both' | SortOrder
}

/** Most lists. */
export const dataPageRules: PageRules = {
  limitMin: 5,
  limitMax: 200,
  limitDefault: 10,
  windowRows: 10_000,
  modes: 'cursorAndPage',
  orders: 'both',
}

/** Webhook subscriptions and deliveries. */
export const webhookPageRules: PageRules = {
  ...dataPageRules,
  limitMax: 50,
  windowRows: 500,
  orders: 'desc',
}

/** The paging parameters a list takes under its rules. */
export function pageParameters(rules: PageRules) {
  const limit = p.described(p.integer(rules.limitMin, rules.limitMax), 'Rows per page.')
  const page = p.described(
    p.integer(1),
    `Page from the head, 1-indexed; \`page\` times \`limit\` is at most ${rules.windowRows}. Not with \`cursor\`.`,
  )
  return {
    cursor: cursorParameter,
    limit: p.withDefault(limit, rules.limitDefault),
    ...(rules.modes === 'cursorAndPage' && { page }),
    ...(rules.orders === 'both' && { order: orderParameter }),
  }
}

/** Takes any text: what is not a cursor of this list restarts it at the head. */
const cursorParameter = p.parameter<string>({
  schema: s.text(),
  description: '`nextCursor` of the page before. Opaque.',
  code: 'param_invalid',
  parse: (text) => text,
})

const orderParameter = p.withDefault(
  p.described(p.oneOf('desc', 'asc'), '`desc`: newest first. `asc`: oldest first.'),
  'desc',
)

/** The paging part of a parsed query. */
export interface PageQuery {
  readonly cursor?: string | undefined
  readonly limit: number
  readonly page?: number | undefined
  readonly order?: SortOrder | undefined
}

/** The means to make `nextCursor` and the start of a page. */
export interface Paging {
  readonly keys: CursorKeys
}

/** The start of a page, and whether a cursor was given that could not be used. */
export interface PageStart {
  readonly position?: Position
  readonly offset: number
  readonly passed?: BlockMark
  readonly cursorReset: boolean
}

/**
 * @throws ApiError parameter_conflict for `cursor` with `page`, query_invalid for a page beyond the
 * window.
 */
export function startOf(query: PageQuery, scope: CursorScope, rules: PageRules, paging: Paging): PageStart {
  assertPage(query, rules)
  if (query.cursor === undefined) {
    return { offset: ((query.page ?? 1) - 1) * query.limit, cursorReset: false }
  }
  const cursor = paging.keys.open(query.cursor, scope)
  if (!cursor) return { offset: 0, cursorReset: true }
  const { position, passed } = cursor
  return { position, offset: 0, cursorReset: false, ...(passed && { passed }) }
}

function assertPage({ cursor, page, limit }: PageQuery, rules: PageRules): void {
  if (page === undefined) return
  if (cursor !== undefined) {
    throw new ApiError('parameter_conflict', '`cursor` and `page` exclude each other.', {
      details: [{ path: ['query', 'page'], message: 'not together with `cursor`' }],
    })
  }
  if (page * limit > rules.windowRows) {
    const message = `\`page\` times \`limit\` is at most ${rules.windowRows}; use \`cursor\` to go on`
    throw new ApiError('query_invalid', `${message}.`, { details: [{ path: ['query', 'page'], message }] })
  }
}

/**
 * The page's `nextCursor`. It remembers the newest changeable block of the whole walk, until a
 * reorg was reported.
 */
export function nextCursor(
  result: Pick<ListResult<unknown>, 'next' | 'passed' | 'reorgedFrom'>,
  start: PageStart,
  scope: CursorScope,
  paging: Paging,
): string | null {
  if (result.next === null) return null
  const before = result.reorgedFrom === undefined ? start.passed : undefined
  return paging.keys.seal(
    {
      position: result.next,
      passed: newerOf(before, result.passed),
    },
    scope,
  )
}

function newerOf(a: BlockMark | undefined, b: BlockMark | undefined): BlockMark | null {
  if (!a || !b) return a ?? b ?? null
  return a.number >= b.number ? a : b
}

/** `meta.totalCount` and its cap flag, for `include=totalCount`. */
export function totalCountOf(result: Pick<ListResult<unknown>, 'totalCount' | 'totalCountCapped'>): {
  totalCount?: number
  totalCountCapped?: boolean
} {
  const { totalCount } = result
  if (totalCount === undefined) return {}
  if (result.totalCountCapped === false) return { totalCount, totalCountCapped: false }
  const totalCountCapped = result.totalCountCapped ?? totalCount >= TOTAL_COUNT_MAX
  return { totalCount: Math.min(totalCount, TOTAL_COUNT_MAX), totalCountCapped }
}
