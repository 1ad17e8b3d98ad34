/**
 * Reads of balances: of an address, and of the holders of a token. A walk is pinned to the block of
 * its first page, so that it shows one state however long it takes.
 */
import { balancesProjection } from '../follow/balances/balances.ts'
import {
  type BalancesOf,
  type BalancesQuery,
  type BalancesStatement,
  balanceOrder,
  compileBalanceCount,
  compileBalances,
  type TokenChoice,
} from '../follow/balances/compileBalances.ts'
import { findMoment, type Moment } from '../follow/balances/moment.ts'
import { assertGenesisKnown, genesisUnknownSql, readTotalsAt } from '../follow/balances/totals.ts'
import { type FollowedChain, readFollowed, readFollowedRows } from '../follow/readFollowed.ts'
import type { Queryable } from '../ledger/lane.ts'
import { relationOf, toBytes, toHex } from '../sql.ts'
import { pageOf } from './lists/page.ts'
import { pinOf } from './lists/pinned.ts'
import type { PageRequest, WalkPage } from './lists/read.ts'

/** An address (a token, or a holder) with its balance, in the token's smallest unit. */
export interface BalanceRow {
  readonly address: string
  readonly balance: bigint
  /** Its transfers once summed up to less than nothing: no log told all that the holder had. */
  readonly approximate: boolean
}

export interface BalancePage extends Omit<WalkPage<BalanceRow>, 'next'> {
  /** The last row, and the block the walk is pinned to. */
  readonly next: readonly [balance: string, address: string, block: number] | null
}

/** Balances are counted up to here. */
const TOTAL_COUNT_MAX = 10_000

/** A holder's balances, largest first. @throws BlockNotReachedError, GenesisIncompleteError */
export function listBalances(
  chain: FollowedChain,
  { holder, tokens }: { readonly holder: string; readonly tokens: TokenChoice },
  atBlock: number | undefined,
  page: PageRequest,
): Promise<BalancePage> {
  const of = { holder, tokens }
  return readPinned(chain, of, atBlock, page, async ({ client, moment }) => {
    const { schema } = chain.state
    const { text, values } = compileBalanceCount(schema, of, moment, TOTAL_COUNT_MAX)
    const found = await client.query<{ n: number }>(text, [...values])
    return { totalCount: Number(found.rows[0]?.n ?? 0) }
  })
}

/** Holders of a token, largest first. @throws BlockNotReachedError, GenesisIncompleteError */
export function listHolders(
  chain: FollowedChain,
  token: string,
  atBlock: number | undefined,
  page: PageRequest,
): Promise<BalancePage> {
  return readPinned(chain, { token }, atBlock, page, async ({ client, moment, tip }) => {
    const { schema } = chain.state
    const { holderCount } = await readTotalsAt(client, schema, token, { block: moment.block, tip })
    return { totalCount: holderCount ?? 0, totalCountCapped: false }
  })
}

type Counted = Pick<BalancePage, 'totalCount' | 'totalCountCapped'>

/** The connection and moment at which a page is read, and the newest block there. */
interface Pinned {
  readonly client: Queryable
  readonly moment: Moment
  readonly tip: number
}

async function readPinned(
  chain: FollowedChain,
  of: BalancesOf,
  atBlock: number | undefined,
  page: PageRequest,
  count: (pinned: Pinned) => Promise<Counted>,
): Promise<BalancePage> {
  const [, , pinned = chain.state.tip] = page.position ?? []
  const mayBeNewest = atBlock === undefined && !page.wantTotal && Number(pinned) >= chain.state.tip
  return (mayBeNewest && (await readNewest(chain, of, page))) || readAtMoment(chain, of, atBlock, page, count)
}

type NewestRow = FoundBalance & {
  readonly genesis_unknown: boolean
  readonly tip_hash: Buffer | null
}

/**
 * A page of the newest state, by one statement. Null where that state is not the one to show, or
 * shows nothing.
 */
async function readNewest(
  chain: FollowedChain,
  of: BalancesOf,
  page: PageRequest,
): Promise<BalancePage | null> {
  const { schema, finalized } = chain.state
  const { limit, offset, passed } = page
  const [balance, after, pinned] = page.position ?? []
  const position = after === undefined ? undefined : { balance: `${balance}`, address: `${after}` }
  const found = await readFollowedRows<NewestRow>(chain, [balancesProjection], page.signal, {
    ...newestStatement(schema, of, { limit: limit + 1, offset, position }),
    key: 'address',
    order: balanceOrder,
  })
  const [first] = found
  if (!first?.tip_hash || first.genesis_unknown) return null
  const tip = Number(first.last_tip)
  const hash = toHex(first.tip_hash)
  if (pinned !== undefined && Number(pinned) !== tip) return null
  if (passed && (passed.number !== tip || passed.hash !== hash)) return null
  return {
    ...pageAt(tip, found.map(balanceRow), limit),
    ...(tip > finalized && { passed: { number: tip, hash } }),
  }
}

/**
 * With its rows: whether genesis leaves any of it unknown, and the hash of the block they are of.
 */
function newestStatement(schema: string, of: BalancesOf, query: BalancesQuery): BalancesStatement {
  const newest: Moment = { block: -1, base: 'newest', changes: null }
  const { text, values } = compileBalances(schema, of, newest, query)
  const address = `$${values.length + 1}`
  return {
    text: `SELECT page.*, newest.* FROM (${text}) AS page CROSS JOIN (
        SELECT EXISTS (${genesisUnknownSql(schema, of, address)}) AS genesis_unknown,
          (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE num = (
             SELECT upper(held.blocks) - 1 FROM ${relationOf(schema, 'coverage')} AS held
             WHERE store = 'postgres' AND projection = '${balancesProjection.name}' AND version = ${balancesProjection.version}
           )) AS tip_hash) AS newest`,
    values: [...values, toBytes('token' in of ? of.token : of.holder)],
  }
}

/** By whatever statements it takes, all of them of one snapshot. */
function readAtMoment(
  chain: FollowedChain,
  of: BalancesOf,
  atBlock: number | undefined,
  page: PageRequest,
  count: (pinned: Pinned) => Promise<Counted>,
): Promise<BalancePage> {
  const { schema, finalized } = chain.state
  return readFollowed(chain, [balancesProjection], page.signal, async (client, tip) => {
    await assertGenesisKnown(client, schema, of)
    const [balance, address, pinned = tip] = page.position ?? []
    const pin = { pinned: Number(pinned), atBlock, tip }
    const { block, marks } = await pinOf({ client, schema, finalized }, page, pin)
    const moment = await findMoment(client, schema, { block, tip, ranked: 'token' in of })
    const position = address === undefined ? undefined : { balance: `${balance}`, address: `${address}` }
    const { limit, offset } = page
    const asked = compileBalances(schema, of, moment, { limit: limit + 1, offset, position })
    return {
      ...pageAt(block, await readRows(client, asked), limit),
      ...marks,
      ...(page.wantTotal && (await count({ client, moment, tip }))),
    }
  })
}

/** A page of a walk that is pinned to `block`. */
const pageAt = (
  block: number,
  found: readonly BalanceRow[],
  limit: number,
): Pick<BalancePage, 'rows' | 'next'> =>
  pageOf(found, limit, ({ balance, address }) => [`${balance}`, address, block])

async function readRows(
  client: Queryable,
  { text, values }: BalancesStatement,
): Promise<readonly BalanceRow[]> {
  const found = await client.query<FoundBalance>(text, [...values])
  return found.rows.map(balanceRow)
}

type FoundBalance = {
  readonly address: Buffer
  readonly balance: string
  readonly approximate: boolean
}

const balanceRow = (row: FoundBalance): BalanceRow => ({
  address: toHex(row.address),
  balance: BigInt(row.balance),
  approximate: row.approximate,
})
