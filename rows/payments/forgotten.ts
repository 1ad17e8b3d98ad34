/**
 * What left on a chain and the rows have forgotten, by what it says that it is for: a debt or a call that
 * it has paid is not paid again.
 */
import { sql } from 'kysely'
import type { Marked, Transferred } from '#money/outflows.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, fromNow } from '../database.ts'
import type { Payout } from './payouts.ts'

export interface Forgotten {
  readonly chainId: number
  readonly txHash: `0x${string}`
  /** Lowercase addresses. */
  readonly account: `0x${string}`
  readonly currency: `0x${string}`
  readonly to: `0x${string}`
  /** In the currency's smallest unit. */
  readonly amount: bigint
  readonly memo: `0x${string}`
  readonly blockNumber: number
  /** Unix seconds; nothing that it was signed with can be mined from then on. */
  readonly validBeforeSeconds: number
}

/** Rows of one statement. */
const PAGE = 1_000
/** No credential or debt is signed for longer. */
const VALID_SECONDS = 660
/** Jobs that a restored database has end within hours, and make their debts again. */
const DOUBTED_MS = 7 * 24 * 3_600_000

/** Once each, however often. */
export async function keepForgotten(
  app: AppDatabase,
  chainId: number,
  outflows: readonly (Transferred & Marked)[],
): Promise<void> {
  for (let at = 0; at < outflows.length; at += PAGE)
    await app
      .insertInto('app.forgotten_outflows')
      .values(
        outflows.slice(at, at + PAGE).map(({ txHash, from, token, to, memo, ...outflow }) => ({
          ...{ chain_id: chainId, tx_hash: toBytes(txHash), log_index: outflow.logIndex },
          ...{ account: toBytes(from), currency: toBytes(token), recipient: toBytes(to) },
          ...{ amount: outflow.amount, memo: memo && toBytes(memo), block_number: outflow.blockNumber },
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** What has paid a debt, by the memos that its transactions would have; null where nothing has. */
export async function findForgottenDebt(
  app: AppDatabase,
  chainId: number,
  memos: readonly string[],
): Promise<Forgotten | null> {
  const row = await forgotten(app)
    .where('chain_id', '=', chainId)
    .where(
      'memo',
      'in',
      memos.map((memo) => Buffer.from(toBytes(memo))),
    )
    .limit(1)
    .executeTakeFirst()
  return row ? forgottenOf(row) : null
}

/** What has paid calls and no spend has, by the calls' codes. */
export async function findForgottenCalls(
  app: AppDatabase,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Forgotten>> {
  if (codes.length === 0) return new Map()
  const rows = await forgotten(app)
    .select('call_code')
    .where(
      'call_code',
      'in',
      codes.map((code) => Buffer.from(toBytes(code))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('app.spends as s')
            .select('s.id')
            .whereRef('s.tx_hash', '=', 'app.forgotten_outflows.tx_hash'),
        ),
      ),
    )
    .execute()
  return new Map(rows.flatMap((row) => (row.call_code ? [[toHex(row.call_code), forgottenOf(row)]] : [])))
}

/** Whether a transfer that no row names, found within a week, moved more to its account than it would. */
export async function mayHavePaid(
  app: AppDatabase,
  { chainId, currency, to, total }: Pick<Payout, 'chainId' | 'currency' | 'to' | 'total'>,
): Promise<boolean> {
  const row = await app
    .selectFrom('app.forgotten_outflows as f')
    .select('f.tx_hash')
    .where('f.recipient', '=', Buffer.from(toBytes(to)))
    .where('f.chain_id', '=', chainId)
    .where('f.currency', '=', Buffer.from(toBytes(currency)))
    .where('f.amount', '>', sql<string>`${total}::numeric`)
    .where('f.noted_at', '>', fromNow(-DOUBTED_MS))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('app.payout_transactions as t')
            .select('t.payout_id')
            .whereRef('t.tx_hash', '=', 'f.tx_hash')
            .whereRef('t.chain_id', '=', 'f.chain_id'),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const forgotten = (app: AppDatabase) =>
  app
    .selectFrom('app.forgotten_outflows')
    .select(['chain_id', 'tx_hash', 'account', 'currency', 'recipient', 'amount', 'memo', 'block_number'])
    .select(sql<number>`floor(extract(epoch FROM noted_at))::float8`.as('noted_seconds'))
    .where('memo', 'is not', null)

type ForgottenRow = Awaited<ReturnType<ReturnType<typeof forgotten>['executeTakeFirstOrThrow']>>

const forgottenOf = (row: ForgottenRow): Forgotten => ({
  chainId: row.chain_id,
  txHash: toHex(row.tx_hash),
  account: toHex(row.account),
  currency: toHex(row.currency),
  to: toHex(row.recipient),
  amount: BigInt(row.amount),
  memo: toHex(row.memo ?? Buffer.alloc(32)),
  blockNumber: row.block_number,
  validBeforeSeconds: row.noted_seconds + VALID_SECONDS,
})
