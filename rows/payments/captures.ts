/** Payouts of channels to payees. */
import { sql } from 'kysely'
import { channelAccount, payerAccount } from '#money/accounts.ts'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { addEntries } from './ledger.ts'

/** With its entries: the payer has paid, and the channel is owed less. */
export async function addCapture(
  transaction: AppDatabase,
  { id, chainId, settled, payer, token }: CapturedChannel,
  amount: bigint,
): Promise<void> {
  await transaction
    .insertInto('app.channel_captures')
    .values({ channel_id: toBytes(id), settled, amount })
    .execute()
  const money = { chainId, currency: token }
  await addEntries(transaction, `${id}:${settled}`, [
    { account: payerAccount(payer), ...money, amount: -amount },
    { account: channelAccount(id), ...money, amount },
  ])
}

interface CapturedChannel {
  readonly id: string
  readonly chainId: number
  /** The channel's payouts in sum, this one included. */
  readonly settled: bigint
  readonly payer: string
  readonly token: string
}

/** Tells the transaction that paid out what has been noted. */
export async function nameCapture(
  app: AppDatabase,
  { id, settled, txHash }: { readonly id: string; readonly settled: bigint; readonly txHash: string },
): Promise<void> {
  await app
    .updateTable('app.channel_captures')
    .set({ tx_hash: toBytes(txHash) })
    .where('channel_id', '=', toBytes(id))
    .where('settled', '=', `${settled}`)
    .execute()
}

/** One transfer of a channel to its payee. */
export interface Capture {
  readonly channelId: string
  /** The channel's payouts in sum, this one included. */
  readonly settled: bigint
  readonly amount: bigint
  readonly txHash: string
  readonly recipient: string
  /** Lowercase address of the token. */
  readonly currency: string
  /** When it was noted. */
  readonly capturedAt: Date
}

/** Those whose transaction is known, in the order of their channels. @param after null for the first */
export async function listCaptures(
  app: AppDatabase,
  chainId: number,
  after: Pick<Capture, 'channelId' | 'settled'> | null,
  limit: number,
): Promise<readonly Capture[]> {
  const rows = await app
    .selectFrom('app.channel_captures as capture')
    .innerJoin('app.channels as channel', 'channel.id', 'capture.channel_id')
    .select(['capture.channel_id', 'capture.settled', 'capture.amount', 'capture.tx_hash'])
    .select('capture.captured_at')
    .select(['channel.payee', 'channel.token'])
    .where('channel.chain_id', '=', chainId)
    .where('capture.tx_hash', 'is not', null)
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(capture.channel_id, capture.settled) > (${toBytes(after?.channelId ?? '0x')}, ${`${after?.settled ?? 0n}`}::numeric)`,
      ),
    )
    .orderBy('capture.channel_id')
    .orderBy('capture.settled')
    .limit(limit)
    .execute()
  return rows.flatMap(({ channel_id: id, settled, amount, tx_hash: hash, payee, token, captured_at: at }) =>
    hash === null
      ? []
      : {
          ...{ channelId: toHex(id), settled: BigInt(settled), amount: BigInt(amount) },
          ...{ txHash: toHex(hash), recipient: toHex(payee), currency: toHex(token) },
          capturedAt: at,
        },
  )
}

/** Which of the transactions have paid out a channel. */
export async function capturedAmong(
  app: AppDatabase,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set()
  const bytes = hashes.map((hash) => Buffer.from(toBytes(hash)))
  const rows = await app
    .selectFrom('app.channel_captures')
    .select('tx_hash')
    .where('tx_hash', 'in', bytes)
    .execute()
  return new Set(rows.flatMap(({ tx_hash: hash }) => (hash ? toHex(hash) : [])))
}
