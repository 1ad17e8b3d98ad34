/**
 * Balances that genesis gave without a log. Once the sums of transfers have caught up, a node is
 * asked for balances at that block: what it says beyond the sum is what genesis gave. The node
 * needs no state older than a moment; whether all holders were found shows in the token's supply.
 */
import { parseAbi } from 'viem/utils'
import { failure } from '#errors.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { Address, Hash } from '#primitives.ts'
import type { ChainKind } from '#transform/profile.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import { quoteIdentifier, toBytes, toHex } from '../../sql.ts'
import { askContracts } from '../askContracts.ts'
import {
  type BlockFollower,
  type Completion,
  type FollowerContext,
  type FollowerTransaction,
  readTipHash,
} from '../follower.ts'
import { readGenesisTokens } from '../tokens/genesisTokens.ts'
import { genesisHolders } from './genesisHolders.ts'
import { firstBelowSql } from './movedSql.ts'

export interface GenesisOptions {
  readonly kind: ChainKind
  readonly callContracts: CallContracts
}

/** The grants of genesis of one token, as far as its holders were found. */
interface GenesisOfToken {
  readonly token: Address
  readonly amounts: ReadonlyMap<string, bigint>
  /** Supply that no holder asked has. */
  readonly missing: bigint
}

/** Holders asked for one token; a genesis with more needs another way. */
const HOLDERS_MAX = 20_000
const HOLDERS_AT_ONCE = 500

export const [totalSupply, balanceOf] = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
])

export async function readGenesisBalances(
  { kind, callContracts }: GenesisOptions,
  context: FollowerContext,
  follower: Pick<BlockFollower, 'name' | 'version'>,
): Promise<Completion> {
  // Elsewhere every token is a contract that began with nothing.
  if (kind !== 'tempo') return { store: async () => {}, last: true }
  const { postgres, schema, signal } = context
  const at = await readTipHash(postgres.pool, schema, follower)
  const tokens = (await readGenesisTokens(callContracts, context)).map(({ entity }) => entity as Address)
  const supplies = await askContracts(
    callContracts,
    tokens.map((to) => ({ to, ask: totalSupply })),
    at,
    signal,
  )
  const found: GenesisOfToken[] = []
  for (const [index, token] of tokens.entries()) {
    const supply = supplies[index]
    if (typeof supply !== 'bigint') throw new GenesisUnreadableError(token, at)
    found.push(await readToken({ postgres, schema, callContracts, at, signal }, token, supply))
  }
  return { store: (transaction) => storeGenesis(transaction, found), last: true }
}

interface Asking {
  readonly postgres: Postgres
  readonly schema: string
  readonly callContracts: CallContracts
  readonly at: Hash
  readonly signal: AbortSignal
}

/** Asks holders until all of the genesis supply is found. */
async function readToken(asking: Asking, token: Address, supply: bigint): Promise<GenesisOfToken> {
  const { postgres, schema } = asking
  let missing = supply - (await readSupply(postgres.pool, schema, token))
  const amounts = new Map<string, bigint>()
  let asked = 0
  let candidates: readonly string[] = genesisHolders
  while (missing !== 0n && candidates.length > 0 && asked < HOLDERS_MAX) {
    for (const [holder, amount] of await readAmounts(asking, token, candidates)) {
      if (amount === 0n || amounts.has(holder)) continue
      amounts.set(holder, amount)
      missing -= amount
    }
    // Those below zero by their transfers alone have had something before: they come first.
    candidates = await readHolders(postgres.pool, schema, token, asked)
    asked += candidates.length
  }
  return { token, amounts, missing }
}

/** Each holder's balance before its first transfer. */
async function readAmounts(
  { postgres, schema, callContracts, at, signal }: Asking,
  token: Address,
  holders: readonly string[],
): Promise<[string, bigint][]> {
  const told = await askContracts(
    callContracts,
    holders.map((holder) => ({ to: token, ask: balanceOf, args: [holder] })),
    at,
    signal,
  )
  const sums = await readSums(postgres.pool, schema, token, holders)
  return holders.map((holder, index) => {
    const balance = told[index]
    if (typeof balance !== 'bigint') throw new GenesisUnreadableError(token, at)
    return [holder, balance - (sums.get(holder) ?? 0n)]
  })
}

async function readHolders(
  client: Queryable,
  schema: string,
  token: Address,
  offset: number,
): Promise<string[]> {
  const found = await client.query<{ holder: Buffer }>(
    `SELECT holder FROM ${quoteIdentifier(schema)}.balances WHERE token = $1 ORDER BY balance, holder LIMIT $2 OFFSET $3`,
    [toBytes(token), HOLDERS_AT_ONCE, offset],
  )
  return found.rows.map(({ holder }) => toHex(holder))
}

async function readSupply(client: Queryable, schema: string, token: Address): Promise<bigint> {
  const found = await client.query<{ total_supply: string }>(
    `SELECT total_supply FROM ${quoteIdentifier(schema)}.token_totals WHERE token = $1`,
    [toBytes(token)],
  )
  return BigInt(found.rows[0]?.total_supply ?? 0)
}

async function readSums(
  client: Queryable,
  schema: string,
  token: Address,
  holders: readonly string[],
): Promise<Map<string, bigint>> {
  const found = await client.query<{ holder: Buffer; balance: string }>(
    `SELECT holder, balance FROM ${quoteIdentifier(schema)}.balances WHERE token = $1 AND holder = ANY ($2)`,
    [toBytes(token), holders.map(toBytes)],
  )
  return new Map(found.rows.map(({ holder, balance }) => [toHex(holder), BigInt(balance)]))
}

async function storeGenesis(
  { client, schema }: FollowerTransaction,
  found: readonly GenesisOfToken[],
): Promise<void> {
  const s = quoteIdentifier(schema)
  // Sums below zero without genesis need not be with it.
  const firstBelow = firstBelowSql(schema, 'b.holder', 'b.token', 'excluded.balance', Number.MAX_SAFE_INTEGER)
  for (const { token, amounts, missing } of found) {
    await client.query(
      `INSERT INTO ${s}.token_totals (token, holder_count, total_supply, transfer_count, genesis_missing)
       VALUES ($1, 0, $2, 0, $2) ON CONFLICT (token) DO UPDATE
       SET total_supply = token_totals.total_supply + $2, genesis_missing = $2`,
      [toBytes(token), missing.toString()],
    )
    await client.query(
      `WITH given AS (
         INSERT INTO ${s}.genesis_balances (token, holder, balance)
         SELECT $1, holder, balance FROM unnest($2::bytea[], $3::numeric[]) AS t (holder, balance)
         RETURNING token, holder, balance),
       changed AS (
         INSERT INTO ${s}.balances AS b (token, holder, balance) SELECT token, holder, balance FROM given
         ON CONFLICT (holder, token) DO UPDATE SET balance = b.balance + excluded.balance,
           below_since = CASE WHEN b.below_since IS NOT NULL THEN (${firstBelow}) END
         RETURNING coalesce(old.balance, 0) AS before, new.balance AS after)
       UPDATE ${s}.token_totals SET
         total_supply = total_supply + (SELECT coalesce(sum(after - before), 0) FROM changed),
         holder_count = holder_count + (SELECT coalesce(sum((after > 0)::int - (before > 0)::int), 0) FROM changed)
       WHERE token = $1`,
      [toBytes(token), [...amounts.keys()].map(toBytes), [...amounts.values()].map(String)],
    )
  }
}

/**
 * A node gave no answer about a token's balances: it may not hold the state of the block, or not
 * yet.
 */
export class GenesisUnreadableError extends failure('GenesisUnreadableError', 'genesis_unreadable', 'retry') {
  readonly token: Address
  readonly blockHash: Hash

  constructor(token: Address, blockHash: Hash) {
    super(`no node tells the supply and balances of ${token} at block ${blockHash}`)
    this.token = token
    this.blockHash = blockHash
  }
}
