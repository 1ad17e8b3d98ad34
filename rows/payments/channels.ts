/**
 * Payment channels. What is spent, signed for and paid out only grows, under the lock of the row; what
 * the chain pays out goes into the ledger in the same transaction, whoever found it out.
 */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { addCapture } from './captures.ts'

type Hex = `0x${string}`

/** A channel's identity on its chain: lowercase addresses and hashes. */
export interface ChannelDescriptor {
  readonly payer: Hex
  readonly payee: Hex
  /** The account that may settle for the payee. */
  readonly operator: Hex
  readonly token: Hex
  readonly salt: Hex
  /** Zero for the payer itself. */
  readonly authorizedSigner: Hex
  readonly expiringNonceHash: Hex
}

/** Amounts are in the smallest unit of the token, over the life of the channel. */
export interface Channel {
  /** Lowercase. */
  readonly id: Hex
  readonly chainId: number
  readonly escrow: Hex
  readonly descriptor: ChannelDescriptor
  readonly signer: Hex
  readonly deposit: bigint
  /** The amount that the payer has signed for. */
  readonly accepted: bigint
  /** The signature for it; null where nothing is signed. */
  readonly signature: Hex | null
  /** The amount that was answered for. */
  readonly spent: bigint
  /** The amount that the chain has paid out. */
  readonly settled: bigint
  /** Answers. */
  readonly units: number
  /** Unix seconds; 0 for a channel that its payer did not ask back. */
  readonly closeRequestedAt: bigint
  readonly isClosed: boolean
  readonly openedAt: Date
}

/** The next state of a row: `kept` if it changes. */
export interface Decided<Result> {
  readonly kept?: Channel
  readonly result: Result
}

export async function findChannel(app: AppDatabase, id: string): Promise<Channel | null> {
  const row = await rowsOf(app).where('id', '=', toBytes(id)).executeTakeFirst()
  return row ? channelOf(row) : null
}

/**
 * Decides under the lock of the row.
 * @param identity of the payment that what is spent is for
 * @throws PaymentGoneError where nobody waits for that payment
 */
export async function updateChannel<Result>(
  app: AppDatabase,
  id: string,
  decide: (current: Channel | null) => Decided<Result>,
  identity?: string,
): Promise<Result> {
  return app.transaction().execute(async (transaction) => {
    // A row that is not there yet cannot be locked. One channel has one lock, however its id is written.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id.toLowerCase()}, 0))`.execute(transaction)
    const before = await findChannel(transaction, id)
    const { kept, result } = decide(before)
    if (!kept) return result
    await writeChannel(transaction, kept)
    const spent = kept.spent - (before?.spent ?? 0n)
    if (identity !== undefined && spent > 0n) await markTaken(transaction, identity)
    const paidOut = kept.settled - (before?.settled ?? 0n)
    if (paidOut > 0n) await addCapture(transaction, { ...kept, ...kept.descriptor }, paidOut)
    return result
  })
}

async function writeChannel(transaction: AppDatabase, channel: Channel): Promise<void> {
  const { descriptor } = channel
  const changed = {
    deposit: channel.deposit,
    accepted: channel.accepted,
    signature: channel.signature === null ? null : toBytes(channel.signature),
    spent: channel.spent,
    settled: channel.settled,
    units: channel.units,
    close_requested_at: channel.closeRequestedAt,
    is_closed: channel.isClosed,
  }
  await transaction
    .insertInto('app.channels')
    .values({
      id: toBytes(channel.id),
      chain_id: channel.chainId,
      escrow: toBytes(channel.escrow),
      payer: toBytes(descriptor.payer),
      payee: toBytes(descriptor.payee),
      operator: toBytes(descriptor.operator),
      token: toBytes(descriptor.token),
      salt: toBytes(descriptor.salt),
      named_signer: toBytes(descriptor.authorizedSigner),
      signer: toBytes(channel.signer),
      opening_hash: toBytes(descriptor.expiringNonceHash),
      opened_at: channel.openedAt,
      ...changed,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...changed, used_at: databaseNow }))
    .execute()
}

/** No payment waits for what is spent. */
export class PaymentGoneError extends Error {}

/** @throws PaymentGoneError */
async function markTaken(transaction: AppDatabase, identity: string): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.payments')
    .set({ taken_at: databaseNow })
    .where('identity', '=', identity)
    .where('state', '=', 'sending')
    .where('taken_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new PaymentGoneError(`nobody waits for the payment ${identity}`)
}

/**
 * Whether the channel gave what a payment asks. Where it did not, the payment's row is given back, so
 * that it will not either, and the same voucher pays still.
 */
export async function wasTaken(app: AppDatabase, identity: string): Promise<boolean> {
  const { numDeletedRows } = await app
    .deleteFrom('app.payments')
    .where('identity', '=', identity)
    .where('state', '=', 'sending')
    .where('taken_at', 'is', null)
    .executeTakeFirst()
  if (numDeletedRows > 0n) return false
  const row = await app
    .selectFrom('app.payments')
    .select('taken_at')
    .where('identity', '=', identity)
    .executeTakeFirst()
  return row?.taken_at !== null && row?.taken_at !== undefined
}

/** The one that a payer used last and has signed for nothing that was not answered; null for none. */
export async function findOpenChannel(
  app: AppDatabase,
  { payer, token }: { readonly payer: string; readonly token: string },
): Promise<Channel | null> {
  const row = await rowsOf(app)
    .where('payer', '=', toBytes(payer))
    .where('token', '=', toBytes(token))
    .where('is_closed', '=', false)
    .where('close_requested_at', '=', 0)
    .whereRef('accepted', '=', 'spent')
    .orderBy('used_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? channelOf(row) : null
}

export interface WatchedChannel extends Channel {
  /** Since it was used last. */
  readonly idleMs: number
}

/** Takes open channels that the chain was not asked about for so long, for this process alone. */
export async function takeToLookAt(
  app: AppDatabase,
  { unseenMs, limit }: { readonly unseenMs: number; readonly limit: number },
): Promise<readonly WatchedChannel[]> {
  const rows = await app
    .updateTable('app.channels')
    .set({ looked_at: databaseNow })
    .where('id', 'in', (select) =>
      select
        .selectFrom('app.channels')
        .select('id')
        .where('is_closed', '=', false)
        .where('looked_at', '<=', fromNow(-unseenMs))
        .orderBy('looked_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(columns)
    .returning(sql<number>`extract(epoch FROM clock_timestamp() - used_at)::float8 * 1000`.as('idle_ms'))
    .execute()
  return rows.map((row) => ({ ...channelOf(row), idleMs: row.idle_ms }))
}

/** All of a chain that is gone with what they held: nothing of them can be paid out any more. */
export async function closeChannels(app: AppDatabase, chainId: number): Promise<void> {
  await app
    .updateTable('app.channels')
    .set({ is_closed: true, deposit: 0n })
    .where('chain_id', '=', chainId)
    .where('is_closed', '=', false)
    .execute()
}

const columns = [
  'id',
  'chain_id',
  'escrow',
  'payer',
  'payee',
  'operator',
  'token',
  'salt',
  'named_signer',
  'signer',
  'opening_hash',
  'deposit',
  'accepted',
  'signature',
  'spent',
  'settled',
  'units',
  'close_requested_at',
  'is_closed',
  'opened_at',
] as const

const rowsOf = (app: AppDatabase) => app.selectFrom('app.channels').select(columns)

type ChannelRow = Awaited<ReturnType<ReturnType<typeof rowsOf>['executeTakeFirstOrThrow']>>

const channelOf = (row: ChannelRow): Channel => ({
  id: toHex(row.id),
  chainId: row.chain_id,
  escrow: toHex(row.escrow),
  descriptor: {
    payer: toHex(row.payer),
    payee: toHex(row.payee),
    operator: toHex(row.operator),
    token: toHex(row.token),
    salt: toHex(row.salt),
    authorizedSigner: toHex(row.named_signer),
    expiringNonceHash: toHex(row.opening_hash),
  },
  signer: toHex(row.signer),
  deposit: BigInt(row.deposit),
  accepted: BigInt(row.accepted),
  signature: row.signature === null ? null : toHex(row.signature),
  spent: BigInt(row.spent),
  settled: BigInt(row.settled),
  units: row.units,
  closeRequestedAt: BigInt(row.close_requested_at),
  isClosed: row.is_closed,
  openedAt: row.opened_at,
})
