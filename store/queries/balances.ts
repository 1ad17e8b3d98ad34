/**
 * Reads of balances: of an address, and of the holders of a token. A walk is pinned to the block of its first page, so that
 * it shows one state however long it takes.
 */
import { balancesProjection } from '../balances/balances.ts'
import {
  type BalancesOf,
  type BalancesStatement,
  compileBalanceCount,
  compileBalances,
  type TokenChoice,
} from '../balances/compileBalances.ts'
import { findMoment, type Moment } from '../balances/moment.ts'
import { assertGenesisKnown, readTotalsAt } from '../balances/totals.ts'
import { type FollowedChain, readFollowed } from '../folds/readFollowed.ts'
import type { Queryable } from '../lane.ts'
import { type PageRequest, passedOf, reorgOf, type WalkPage } from '../lists/read.ts'
import { toHex } from '../postgres.ts'

/** An address (a token, or a holder) with its balance, in the token's smallest unit. */
export interface BalanceRow {
  readonly address: string
  readonly balance: bigint
}

export interface BalancePage extends Omit<WalkPage<BalanceRow>, 'next'> {
  /** The last row, and the block the walk is pinned to. */
  readonly next: readonly [balance: string, address: string, block: number] | null
}

/** Balances are counted up to here (spec "Limits"). */
const TOTAL_COUNT_MAX = 10_000

/** What a holder has, largest first. @throws BlockNotReachedError, GenesisIncompleteError */
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

/** Who holds a token, largest first. @throws BlockNotReachedError, GenesisIncompleteError */
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

/** Where a page is read, and the newest block there. */
interface Pinned {
  readonly client: Queryable
  readonly moment: Moment
  readonly tip: number
}

function readPinned(
  chain: FollowedChain,
  of: BalancesOf,
  atBlock: number | undefined,
  page: PageRequest,
  count: (pinned: Pinned) => Promise<Counted>,
): Promise<BalancePage> {
  const { schema, finalized } = chain.state
  return readFollowed(chain, [balancesProjection], page.signal, async (client, tip) => {
    await assertGenesisKnown(client, schema, of)
    const reorg = await reorgOfPinned({ client, schema }, page)
    const [balance, address, pinned = tip] = page.position ?? []
    // The walk goes on at the newest block of its own that is left.
    const left = reorg.reorgedFrom === undefined ? Number(pinned) : reorg.reorgedFrom - 1
    const block = atBlock ?? Math.min(Number(pinned), left, tip)
    const moment = await findMoment(client, schema, { block, tip, ranked: 'token' in of })
    const position = address === undefined ? undefined : { balance: `${balance}`, address: `${address}` }
    const { limit, offset } = page
    const asked = compileBalances(schema, of, moment, { limit: limit + 1, offset, position })
    const found = await readRows(client, asked)
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    return {
      rows,
      next: found.length > limit && last ? [`${last.balance}`, last.address, block] : null,
      ...(await passedOf({ client, schema, finalized }, block)),
      ...reorg,
      ...(page.wantTotal && (await count({ client, moment, tip }))),
    }
  })
}

/** Where the chain changed below the block the walk is pinned to; nowhere if that block has come back since. */
async function reorgOfPinned(
  source: { readonly client: Queryable; readonly schema: string },
  page: Pick<PageRequest, 'passed'>,
): Promise<{ reorgedFrom?: number }> {
  if (!page.passed) return {}
  const now = await passedOf({ ...source, finalized: -1 }, page.passed.number)
  return now.passed?.hash === page.passed.hash ? {} : reorgOf(source, page)
}

async function readRows(
  client: Queryable,
  { text, values }: BalancesStatement,
): Promise<readonly BalanceRow[]> {
  const found = await client.query<{ address: Buffer; balance: string }>(text, [...values])
  return found.rows.map(({ address, balance }) => ({ address: toHex(address), balance: BigInt(balance) }))
}
