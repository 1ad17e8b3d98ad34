/**
 * The pages that are measured: of each list its path at the API, and the statement by which its
 * rival reads the same rows.
 */
import { compileBalances } from '#store/follow/balances/compileBalances.ts'
import type { Moment } from '#store/follow/balances/moment.ts'
import type { Postgres } from '#store/postgres.ts'
import { compileActivityPlaces } from '#store/read/lists/activityPlaces.ts'
import { compilePage } from '#store/read/lists/compile.ts'
import {
  blockList,
  type FilterValue,
  type List,
  transactionList,
  transferList,
} from '#store/read/lists/list.ts'
import { compileTokenTransactions } from '#store/read/lists/tokenTransactions.ts'
import { compileTokenList } from '#store/read/tokens.ts'
import { quoteIdentifier, toHex } from '#store/sql.ts'
import type { Rival } from './server.ts'

export const limit = 10

export interface MeasuredPage {
  readonly subject: string
  /** Path of the first page, for a deep one: the API's cursors lead from there. */
  path: string
  readonly isDeep: boolean
  readonly rival: Rival
}

/** Rows of a page, `position` being the sort key of the row before it. */
type Read = (place: {
  readonly limit: number
  readonly offset: number
  readonly position?: readonly (number | string)[]
}) => { readonly text: string; readonly values: readonly unknown[] }

interface MeasuredList {
  readonly name: string
  readonly path: string
  readonly rows: Rival['rows']
  /** One table's, which is planned once for any values. */
  readonly isDeclared: boolean
  readonly read: Read
  /** Columns of the sort key; null where a list has no hundred pages. */
  readonly key: readonly string[] | null
  /** The rival's data in its items beside their rows. */
  readonly account?: string
}

/**
 * Every list, without filters and with hot and cold values of its filters: its first page, and its
 * hundredth where there is one.
 */
export async function measuredPages(
  postgres: Postgres,
  schema: string,
  blocks: number,
): Promise<MeasuredPage[]> {
  const lists = [
    ...(await declaredLists(postgres, schema, blocks)),
    ...(await otherLists(postgres, schema, blocks)),
  ]
  const pages: MeasuredPage[] = []
  for (const list of lists) {
    pages.push(pageOf(list, 'first', list.read({ limit, offset: 0 })))
    if (list.key !== null) pages.push(await hundredth(postgres, list, list.key))
  }
  return pages
}

function pageOf(
  { name, path, rows, isDeclared, account }: MeasuredList,
  which: 'first' | '100th',
  { text, values }: ReturnType<Read>,
): MeasuredPage {
  return {
    subject: `${name}, ${which} page`,
    path,
    isDeep: which === '100th',
    rival: {
      rows,
      planned: !isDeclared,
      text,
      values: values.map(sendable),
      ...(account !== undefined && { account }),
    },
  }
}

/** By the place that ninety-nine others led to. */
async function hundredth(
  postgres: Postgres,
  list: MeasuredList,
  key: readonly string[],
): Promise<MeasuredPage> {
  const last = list.read({ limit: 1, offset: 99 * limit - 1 })
  const found = await postgres.pool.query<Record<string, unknown>>(last.text, [...last.values])
  const row = found.rows.at(-1)
  const position = key.map((column) => {
    const value = row?.[column]
    return value instanceof Uint8Array ? toHex(value) : typeof value === 'number' ? value : String(value)
  })
  return pageOf(list, '100th', list.read({ limit, offset: 0, position }))
}

const sendable = (value: unknown): Rival['values'][number] =>
  value instanceof Uint8Array
    ? toHex(value)
    : Array.isArray(value)
      ? value.map(String)
      : typeof value === 'string'
        ? value
        : Number(value)

/** Those of one table. */
async function declaredLists(postgres: Postgres, schema: string, blocks: number): Promise<MeasuredList[]> {
  const of = (
    name: string,
    path: string,
    rows: Rival['rows'],
    list: List,
    filters: Readonly<Record<string, FilterValue>> = {},
  ): MeasuredList => ({
    name,
    path: `${path}?${new URLSearchParams(Object.entries(filters).map(([key, value]) => [key, String(value)]))}`,
    rows,
    isDeclared: true,
    key: list.key,
    read: ({ position, ...place }) => {
      const query = {
        order: 'desc',
        filters: list === transferList ? { ...filters, tip20: true } : filters,
        fromBlock: 0,
        toBlock: blocks - 1,
        ...place,
        ...(position && { position: position.map(Number) }),
      } as const
      return compilePage(list, query, `${quoteIdentifier(schema)}.${list.table}`).bind(query)
    },
  })
  const lists = [
    of('blocks', '/v1/blocks', 'blocks', blockList),
    of('transactions', '/v1/transactions', 'transactions', transactionList),
    of('receipts', '/v1/receipts', 'receipts', transactionList),
    of('transfers', '/v1/transfers', 'transfers', transferList),
  ]
  for (const which of ['hot', 'cold'] as const) {
    const sender = await commonValue(postgres, schema, 'txs', 'from', which)
    const address = await commonValue(postgres, schema, 'token_transfers', 'from', which)
    const token = await commonValue(postgres, schema, 'token_transfers', 'token', which)
    lists.push(
      of(`transactions of a ${which} sender`, '/v1/transactions', 'transactions', transactionList, {
        sender,
      }),
      of(`transfers of a ${which} address`, '/v1/transfers', 'transfers', transferList, { address }),
      of(`transfers of a ${which} token`, '/v1/transfers', 'transfers', transferList, { token }),
    )
  }
  return lists
}

/** Those that statements of their own read. */
async function otherLists(postgres: Postgres, schema: string, blocks: number): Promise<MeasuredList[]> {
  const token = await commonValue(postgres, schema, 'token_transfers', 'token', 'hot')
  const account = await commonValue(postgres, schema, 'token_transfers', 'from', 'hot')
  const blockRange = { order: 'desc', fromBlock: 0, toBlock: blocks - 1 } as const
  const now: Moment = { block: blocks - 1, base: 'newest', changes: null }
  const walked = ({ position, ...place }: Parameters<Read>[0]) => ({
    ...blockRange,
    ...place,
    ...(position && { position: position.map(Number) }),
  })
  const balances =
    (of: Parameters<typeof compileBalances>[1]): Read =>
    ({ position, ...place }) => {
      const [balance = '', address = ''] = position ?? []
      const at = position && { balance: `${balance}`, address: `${address}` }
      return compileBalances(schema, of, now, { ...place, position: at })
    }
  return [
    {
      name: 'tokens',
      path: '/v1/tokens?',
      rows: 'tokens',
      isDeclared: false,
      key: null,
      read: (place) =>
        compileTokenList(
          schema,
          'tempo',
          { without: [] },
          { order: 'desc', ...place, limit: place.limit - 1 },
        ),
    },
    {
      name: 'transactions of a hot token',
      path: `/v1/tokens/${token}/transactions?`,
      rows: 'transactions',
      isDeclared: false,
      key: ['block_num', 'idx'],
      read: (place) => compileTokenTransactions(schema, { token }, walked(place)),
    },
    {
      name: 'holders of a hot token',
      path: `/v1/tokens/${token}/holders?`,
      rows: 'holders',
      isDeclared: false,
      key: ['balance', 'address'],
      read: balances({ token }),
    },
    {
      name: 'balances of a hot address',
      path: `/v1/addresses/${account}/balances?`,
      rows: 'balances',
      isDeclared: false,
      key: null,
      read: balances({ holder: account, tokens: { tip20: true } }),
    },
    {
      name: 'activities of a hot address',
      path: `/v1/addresses/${account}/activities?`,
      rows: 'activities',
      isDeclared: false,
      key: ['block_num', 'tx_idx'],
      account,
      // It has no offset: the rows before are read as well, and the last one counts.
      read: ({ offset, ...place }) =>
        compileActivityPlaces(
          schema,
          account,
          { ...walked({ ...place, offset: 0 }), limit: offset + place.limit },
          false,
        ),
    },
  ]
}

async function commonValue(
  postgres: Postgres,
  schema: string,
  table: string,
  column: string,
  which: 'hot' | 'cold',
): Promise<string> {
  const found = await postgres.pool.query<{ value: Buffer }>(
    `SELECT ${quoteIdentifier(column)} AS value FROM ${quoteIdentifier(schema)}.${table} GROUP BY 1
     HAVING count(*) >= 2000 ORDER BY count(*) ${which === 'hot' ? 'DESC' : 'ASC'}, 1 LIMIT 1`,
  )
  const value = found.rows[0]?.value
  if (!value) throw new Error(`no ${which} ${column}`)
  return toHex(value)
}
