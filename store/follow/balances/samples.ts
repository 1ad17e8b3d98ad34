/**
 * Tokens that change balances without a log (those that rebase, that pay interest, that tax a
 * transfer they log whole). Once a day the contract is asked what its largest holders have; where it
 * says otherwise than the sum of their transfers, all its balances are told as approximate from then
 * on.
 */
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { address, type Hash, type Hex } from '#primitives.ts'
import { hashOf, type Queryable } from '../../ledger/lane.ts'
import { otherTokens, relationOf, toBytes, toHex } from '../../sql.ts'
import { inRounds, QUESTION_GAS_MAX, readAnswers } from '../askContracts.ts'
import {
  type BlockFollower,
  type Completion,
  type FollowerContext,
  type FollowerTransaction,
  revertedFromSql,
} from '../follower.ts'
import { balancesProjection } from './balances.ts'
import { balanceOf } from './genesis.ts'

const projection = { name: 'balance_samples', version: 1 } as const

/** Holders asked of a token, its largest: a token that rebases changes theirs most. */
const HOLDERS_MAX = 4
/** Tokens of one round, half of them never sampled before: one request of a hundred calls. */
const TOKENS_AT_ONCE = 24
/** Blocks between two rounds, so that no endpoint gets a day's calls at once. */
const ROUND_BLOCKS = 32
/** Tokens sampled within a day of the chain's time: 4,000 calls. */
const TOKENS_A_DAY_MAX = 1_000

/** TIP-20 tokens are left out: the chain itself keeps their balances, and logs every change. */
export function balanceSamplesFollower(call: CallContracts): BlockFollower {
  const table = (schema: string) => relationOf(schema, projection.name)
  return {
    ...projection,
    needs: [balancesProjection.name],
    begins: 'early',
    prepare: async () => async () => {},
    complete: inRounds(balancesProjection, ROUND_BLOCKS, (context) => sample(call, context)),
    clear: async ({ client, schema }) => {
      await client.query(`TRUNCATE ${table(schema)}`)
    },
    // Blocks tell only that time went by.
    apply: async (_transaction, { to }) => to,
    revert: async ({ client, schema }, fromBlock) => {
      await client.query(`DELETE FROM ${table(schema)} WHERE block_num >= $1`, [fromBlock])
    },
  }
}

/** Null when no token is due. */
async function sample(call: CallContracts, context: FollowerContext): Promise<Completion | null> {
  const due = await readDue(context.postgres.pool, context.schema)
  const [first] = due
  if (!first) return null
  const differing = await findDiffering(call, due, hashOf(first.hash), context.signal)
  return { last: false, store: (transaction) => storeSamples(transaction, due, differing) }
}

/** A token that is due, with one of its largest holders, after the block that balances stand at. */
interface DueHolder {
  readonly num: number
  readonly hash: Buffer
  readonly timestamp: Date
  readonly token: Buffer
  /** Null where nobody has any of it now; so is `balance`. */
  readonly holder: Buffer | null
  readonly balance: string | null
}

/** By token, largest first. None while a block that balances hold has been taken back. */
async function readDue(client: Queryable, schema: string): Promise<readonly DueHolder[]> {
  const table = (name: string) => relationOf(schema, name)
  const found = await client.query<DueHolder>(
    `WITH tip AS MATERIALIZED (
       SELECT blocks.num, blocks.hash, blocks.timestamp, blocks.timestamp - interval '1 day' AS a_day_before
       FROM ${table('followers')} AS f
       JOIN ${table('coverage')} AS c ON c.store = 'postgres' AND c.projection = f.name AND c.version = f.version
       JOIN ${table('blocks')} AS blocks ON blocks.num = upper(range_merge(c.blocks)) - 1
       WHERE f.name = $1 AND f.version = $2 AND (${revertedFromSql(schema, 'f.seq')}) IS NULL
         AND (SELECT count(*) FROM ${table('balance_samples')}
              WHERE sampled_at > blocks.timestamp - interval '1 day') < ${TOKENS_A_DAY_MAX}),
     due AS MATERIALIZED (
       (SELECT token FROM ${table('token_totals')} AS totals
        WHERE holder_count > 0 AND ${otherTokens('token')} AND EXISTS (SELECT FROM tip)
          AND NOT EXISTS (SELECT FROM ${table('balance_samples')} AS sampled WHERE sampled.token = totals.token)
        ORDER BY transfer_count DESC, token LIMIT ${TOKENS_AT_ONCE / 2})
       UNION ALL
       (SELECT token FROM ${table('balance_samples')}
        WHERE sampled_at <= (SELECT a_day_before FROM tip) AND differing IS NULL
        ORDER BY sampled_at, token LIMIT ${TOKENS_AT_ONCE / 2}))
     SELECT tip.num, tip.hash, tip.timestamp, due.token, largest.holder, largest.balance FROM tip CROSS JOIN due
     LEFT JOIN LATERAL (
       SELECT holder, balance FROM ${table('balances')} AS held WHERE held.token = due.token AND balance > 0
       ORDER BY -balance, holder LIMIT ${HOLDERS_MAX}) AS largest ON true
     ORDER BY due.token, -largest.balance, largest.holder`,
    [balancesProjection.name, balancesProjection.version],
  )
  return found.rows
}

/** By token, its largest holder of whom the contract says otherwise than the logs. */
async function findDiffering(
  call: CallContracts,
  due: readonly DueHolder[],
  at: Hash,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Buffer>> {
  const asked = due.flatMap(({ token, holder, balance }) =>
    holder === null || balance === null ? [] : [{ token: address(toHex(token)), holder, balance }],
  )
  const questions = asked.map(({ token, holder }) => ({
    ...{ to: token, ask: balanceOf, args: [toHex(holder)], gas: QUESTION_GAS_MAX },
  }))
  const answers = await readAnswers(call, questions, at, signal)
  const differing = new Map<string, Buffer>()
  for (const [index, { token, holder, balance }] of asked.entries()) {
    const told = wordOf(answers[index] ?? null)
    if (told !== null && told !== BigInt(balance) && !differing.has(token)) differing.set(token, holder)
  }
  return differing
}

/** Null where the contract tells none. An answer may go on for megabytes. */
const wordOf = (answer: Hex | null): bigint | null =>
  answer === null || answer.length < 2 + 64 ? null : BigInt(answer.slice(0, 2 + 64))

async function storeSamples(
  { client, schema }: FollowerTransaction,
  due: readonly DueHolder[],
  differing: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const tokens = [...new Set(due.map(({ token }) => toHex(token)))]
  const { num, timestamp } = due[0] ?? {}
  await client.query(
    `INSERT INTO ${relationOf(schema, projection.name)} (token, block_num, sampled_at, differing)
     SELECT token, $3, $4, differing FROM unnest($1::bytea[], $2::bytea[]) AS sampled (token, differing)
     ON CONFLICT (token) DO UPDATE SET block_num = excluded.block_num, sampled_at = excluded.sampled_at,
       differing = excluded.differing`,
    [tokens.map(toBytes), tokens.map((token) => differing.get(token) ?? null), num, timestamp],
  )
}

/** Whether a contract's own word was another one than the logs'. @param token SQL of its address */
export const differsSql = (schema: string, token: string): string =>
  `EXISTS (SELECT FROM ${relationOf(schema, projection.name)} AS sampled
    WHERE sampled.token = ${token} AND sampled.differing IS NOT NULL)`
