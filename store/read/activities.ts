/** Reads what accounts and transactions did, as people would call it. */
import type { Address } from '#primitives.ts'
import type { Activity, ActivityFacts, ActivityItem } from '#transform/activities/activity.ts'
import { listActivities } from '#transform/activities/listActivities.ts'
import { readSnapshot } from '../cancel.ts'
import type { ChainState } from '../ledger/ChainState.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, toBytes } from '../sql.ts'
import { readActivityFacts } from './activityFacts.ts'
import { readOrderQuotes } from './exchange/orderQuotes.ts'
import { compileActivityPlaces } from './lists/activityPlaces.ts'
import {
  type PageRequest,
  type PageSource,
  readWalk,
  type Walk,
  type WalkQuery,
  type WalkRows,
} from './lists/read.ts'
import { type ListPage, readAtOnce } from './lists/readList.ts'
import { readNativeFrom } from './transfers.ts'

/** An activity and where it was found. */
export interface FoundActivity {
  readonly facts: ActivityFacts
  readonly item: ActivityItem
  /**
   * Block, transaction, and how many of the transaction's activities have been given with this one.
   */
  readonly position: readonly [number, number, number]
}

/** A feed's entry: an activity, or a run of them. Never empty. */
export type ActivityEntry = readonly FoundActivity[]

/**
 * A page of an account's feed, newest first.
 * @param isGrouped whether runs of what one access key did within a day are one entry
 */
export function listAddressActivities(
  postgres: Postgres,
  state: ChainState,
  account: Address,
  isGrouped: boolean,
  page: PageRequest,
  { declared, isHidden, hasCoin }: ActivityRules,
): Promise<ListPage<ActivityEntry> & { readonly nativeFrom?: number | null }> {
  return readAtOnce(postgres, state, page, async (source) => {
    const walk = activityWalk({ ...source, state, declared, isHidden, hasCoin }, account, isGrouped)
    const found = await readWalk(source, walk, {}, page)
    return hasCoin ? { ...found, nativeFrom: await readNativeFrom(source) } : found
  })
}

export interface TransactionActivities {
  readonly facts: ActivityFacts
  readonly items: readonly ActivityItem[]
  readonly final: boolean
  /** As of an account's; absent where the chain has no coin. */
  readonly nativeFrom?: number | null
}

/** The activities of a transaction as its sender sees them; null when it is in no block we hold. */
export function findTransactionActivities(
  postgres: Postgres,
  state: ChainState,
  transaction: string,
  signal: AbortSignal,
  { declared, hasCoin }: Pick<ActivityRules, 'declared' | 'hasCoin'>,
): Promise<TransactionActivities | null> {
  const { schema, final } = state
  const visible = state.visible()
  return readSnapshot(postgres, signal, async (client) => {
    const found = await client.query<{ block_num: number; idx: number }>(
      `SELECT block_num, idx FROM ${quoteIdentifier(schema)}.txs WHERE hash = $1`,
      [toBytes(transaction)],
    )
    const places = found.rows.map((row) => ({ blockNumber: row.block_num, txIndex: row.idx }))
    const [facts] = await readActivityFacts({ client, schema }, places)
    if (!facts) return null
    const quoteTokenOf = await readOrderQuotes({ client, schema }, [facts])
    const items = listActivities(facts, facts.from, { quoteTokenOf, declared })
    const nativeFrom = hasCoin && visible && (await readNativeFrom({ client, schema, visible }))
    return {
      ...{ facts, items, final: final.has(facts.block.number) },
      ...(nativeFrom !== false && nativeFrom !== undefined && { nativeFrom }),
    }
  })
}

/**
 * Transactions looked at for one page: a feed of transactions without activities (calls that log
 * nothing have none) then ends a page early, with a cursor, instead of reading on until the
 * deadline.
 */
const TRANSACTIONS_MAX = 2_000

/** Read at a time: as many as the page may need, more when they give little. */
const ROUND_MAX = 500

/** Activities of one access key that one entry holds at most. */
const GROUP_MAX = 50

/** The operator's words on contracts, and the chain of coins. */
export interface ActivityRules {
  /** Activities of the operator's own contracts. */
  readonly declared: readonly Activity[]
  /**
   * Tokens whose movements are no activity of an account that neither sent nor paid for the
   * transaction.
   */
  readonly isHidden: (token: Address) => boolean
  /** Whether the chain has a coin of its own. */
  readonly hasCoin: boolean
}

/** A page's snapshot, of a chain. */
interface ChainSource extends PageSource, ActivityRules {
  readonly state: ChainState
}

function activityWalk(source: ChainSource, account: Address, isGrouped: boolean): Walk<ActivityEntry> {
  return {
    positionOf: (entry) => entry.at(-1)?.position ?? [],
    rows: (query) => collectEntries(source, account, isGrouped, query),
  }
}

async function collectEntries(
  source: ChainSource,
  account: Address,
  isGrouped: boolean,
  query: WalkQuery,
): Promise<WalkRows<ActivityEntry>> {
  const entries: FoundActivity[][] = []
  let position = query.position
  let looked = 0
  // The first transaction of a later page may have been given whole by the page before.
  const needed = query.limit + (position ? 2 : 1)
  for (let round = needed; looked < TRANSACTIONS_MAX; round = Math.min(round * 2, ROUND_MAX)) {
    const asked = { ...query, limit: round, ...(position && { position }) }
    const found = await readActivities(source, account, asked, looked === 0)
    for (const activity of found.activities) {
      const current = entries.at(-1)
      if (current && isGrouped && belongs(activity, current)) current.push(activity)
      else if (entries.length === query.limit) return { rows: entries, more: true }
      else entries.push([activity])
    }
    looked += found.places
    position = found.position ?? position
    if (found.places < round) return { rows: entries, more: false }
  }
  return { rows: entries, more: true, ...(position && { position }) }
}

interface Round {
  readonly activities: readonly FoundActivity[]
  /** Transactions looked at. */
  readonly places: number
  /** Behind the last of them. */
  readonly position?: readonly number[]
}

/** The first round of a page begins inside the transaction in which the page before it ended. */
async function readActivities(
  source: ChainSource,
  account: Address,
  query: WalkQuery,
  isFirst: boolean,
): Promise<Round> {
  const { client, schema } = source
  const { text, values } = compileActivityPlaces(schema, account, query, isFirst, source.hasCoin)
  const found = await client.query<{ block_num: number; tx_idx: number }>(text, [...values])
  const places = found.rows.map((row) => ({ blockNumber: row.block_num, txIndex: row.tx_idx }))
  const facts = await readActivityFacts(source, places)
  const quoteTokenOf = await readOrderQuotes(source, facts)
  const perTransaction = facts.map((of, index) => {
    const { blockNumber, txIndex } = places[index] ?? { blockNumber: 0, txIndex: 0 }
    const items = listActivities(of, account, {
      quoteTokenOf,
      declared: source.declared,
      isHidden: source.isHidden,
    })
    return items.map(
      (item, given): FoundActivity => ({ facts: of, item, position: [blockNumber, txIndex, given + 1] }),
    )
  })
  const last = places.at(-1)
  return {
    activities: perTransaction
      .flat()
      .filter(({ position }) => !isFirst || isBehind(position, query.position)),
    places: places.length,
    ...(last && { position: [last.blockNumber, last.txIndex, Number.MAX_SAFE_INTEGER] }),
  }
}

/** Whether an activity comes after the place at which the page before ended. */
function isBehind(
  [block, tx, given]: FoundActivity['position'],
  place: readonly number[] | undefined,
): boolean {
  if (place === undefined) return true
  return block !== place[0] || tx !== place[1] || given > (place[2] ?? 0)
}

/** Consecutive, of one access key, on one day in UTC. */
function belongs(activity: FoundActivity, group: readonly FoundActivity[]): boolean {
  const [first] = group
  const signer = activity.item.data['signer']
  return (
    first !== undefined &&
    group.length < GROUP_MAX &&
    typeof signer === 'string' &&
    signer !== 'self' &&
    signer === first.item.data['signer'] &&
    dayOf(activity) === dayOf(first)
  )
}

const dayOf = ({ facts }: FoundActivity): number => Math.floor(facts.block.timestampSeconds / 86_400)
