// Goal: what hangs on a dev chain that began anew is void: channels, filters, payments, refunds and rewards
// that were queued or signed, spends and jobs; the books stay right, and other chains are left alone.
// Method: rows as doors and workers write them on a real chain's stores, which get another block 0.
import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { hash } from '#primitives.ts'
import { dropLostGeneration } from '#program/chain/lostGeneration.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { compareRows } from '#rows/books/compareRows.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { keepCredential } from '#rows/jobs/spends.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { findChannel, updateChannel } from '#rows/payments/channels.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { refundUnused } from '#rows/payments/liabilities.ts'
import { beginSending, listPayments, type Payment, type PaymentTerms } from '#rows/payments/payments.ts'
import { keepSigned, takePayouts } from '#rows/payments/payouts.ts'
import { keepProof } from '#rows/payments/proofs.ts'
import { insertFilter } from '#rows/rpcFilters.ts'
import { silentLogger } from '#telemetry.ts'
import { buy, claim, randomHex, reviewJob, settle } from '../../orchestrator/jobs/support/boughtJobs.ts'
import { openEngine } from '../../orchestrator/jobs/support/engine.ts'
import { sold, token } from '../../orchestrator/jobs/support/scriptedSellers.ts'
import { type ChainStore, openChainStore } from '../../store/support/chainStore.ts'
import { ample } from '../../wallet/support/wallet.ts'

/** Another chain, which nothing happens to. */
const OTHER = 4217
let store: ChainStore
let app: AppDatabase
beforeEach(async () => {
  store = await openChainStore({ headFrom: 0 })
  app = appDatabase(store.postgres)
  await adoptHistory(app, 0)
  return () => store.close()
})

const begunAnew = () =>
  dropLostGeneration(
    { chainId: store.chainId, genesisHash: hash(randomHex(32)), config: { startBlock: null } },
    store,
    silentLogger,
  )

/** A read that was paid for and is owed back. */
async function owed(terms: Partial<PaymentTerms> = {}): Promise<Payment> {
  const payment = await claim(app, { scope: 'data:read', chainId: store.chainId, ...terms })
  await settle(app, payment, (transaction) => refundUnused(transaction, payment, Date.now()))
  return payment
}

/** State of the refund or reward. */
const stateOf = async (reference: string) => {
  const row = await app
    .selectFrom('app.payouts')
    .select('state')
    .where('reference', '=', reference)
    .executeTakeFirst()
  return row?.state
}
const proofsOf = async () =>
  new Map((await listPayments(app, 100)).map(({ id, state, isReversed }) => [id, { state, isReversed }]))
const reversed = { state: 'settled', isReversed: true }

async function assertBooksRight(): Promise<void> {
  expect(await findUnbalanced(app)).toEqual([])
  expect(await compareEntries(app, 100)).toEqual([])
  // The engine's wallet here writes no spends beside its attempts.
  const differences = await compareRows(app, 100)
  expect(differences.filter(({ table }) => table !== 'app.job_attempts')).toEqual([])
}

test('filters and channels of it are over, those of another chain are not', async () => {
  const filter = { kind: 'blocks', asked: {}, toldBlock: 1, told: [] } as const
  const [lostId, otherId] = [randomHex(16), randomHex(16)]
  await insertFilter(app, { chainId: store.chainId, caller: 'one' }, lostId, filter)
  await insertFilter(app, { chainId: OTHER, caller: 'one' }, otherId, filter)
  const [lost, other] = [await openChannel(store.chainId), await openChannel(OTHER)]
  await begunAnew()
  const rows = await app.selectFrom('app.rpc_filters').select('id').execute()
  expect(rows).toEqual([{ id: otherId }])
  expect(await findChannel(app, lost)).toMatchObject({ isClosed: true, deposit: 0n })
  expect(await findChannel(app, other)).toMatchObject({ isClosed: false, deposit: 1_000n })
})

test('refunds that were queued or signed are sent to nobody', async () => {
  const [queued, signed, joined, other] = [
    await owed(),
    await owed(),
    await owed(),
    await owed({ chainId: OTHER }),
  ]
  const inChannel = await payByChannel()
  const held = (await takePayouts(app, store.chainId, 100, 0)).find(
    ({ reference }) => reference === signed.id,
  )
  if (!held) throw new Error('nothing is owed')
  await keepSigned(app, held, { txHash: randomHex(32), raw: '0x00', validBeforeSeconds: 1 })
  await app
    .updateTable('app.payouts')
    .set({ sent_with: held.id })
    .where('reference', '=', joined.id)
    .execute()
  await begunAnew()
  for (const payment of [queued, signed, joined, inChannel])
    expect(await stateOf(payment.id)).toBe('withdrawn')
  expect(await stateOf(other.id)).toBe('queued')
  const proofs = await proofsOf()
  for (const { id } of [queued, signed, joined, inChannel]) expect(proofs.get(id)).toEqual(reversed)
  expect(proofs.get(other.id)).toEqual({ state: 'settled', isReversed: false })
  await assertBooksRight()
})

test('payments, jobs, rewards and spends are taken back', async () => {
  const confirmed = await claim(app, { scope: 'data:read', chainId: store.chainId })
  await settle(app, confirmed)
  await keepProof(app, confirmed.id, 'confirmed', 1)
  const [unsent, sending] = [
    await claim(app, { chainId: store.chainId }),
    await claim(app, { chainId: store.chainId }),
  ]
  await beginSending(app, sending, 1_000)
  const rewarded = await buy(app, { chainId: store.chainId })
  await openEngine(app, { '/a': { answer: (purchase) => sold(purchase, {}) } }).ended(rewarded.jobId)
  await reviewJob(app, rewarded.jobId)
  expect(await stateOf(rewarded.jobId)).toBe('queued')
  const running = await buy(app, { chainId: store.chainId })
  const spends = [await spend(running.jobId, 'a', store.chainId), await spend(running.jobId, 'b', OTHER)]

  await begunAnew()
  const proofs = await proofsOf()
  expect(proofs.has(unsent.id)).toBe(false)
  expect(proofs.get(sending.id)).toEqual({ state: 'failed', isReversed: false })
  for (const { id } of [confirmed, rewarded.payment, running.payment])
    expect(proofs.get(id)).toEqual(reversed)
  expect(await stateOf(rewarded.jobId)).toBe('withdrawn')
  const states = await app.selectFrom('app.spends').select(['id', 'state']).orderBy('chain_id').execute()
  expect(new Map(states.map(({ id, state }) => [id, state]))).toEqual(
    new Map([
      [spends[0], 'void'],
      [spends[1], 'sending'],
    ]),
  )
  const job = await app
    .selectFrom('app.jobs')
    .select('cancel_requested_at')
    .where('id', '=', running.jobId)
    .executeTakeFirstOrThrow()
  expect(job.cancel_requested_at).not.toBeNull()
  await assertBooksRight()
})

/** With a payment out of it that is owed back. */
async function payByChannel(): Promise<Payment> {
  const id = await openChannel(store.chainId)
  const terms = { method: 'tempo/session', identity: `${id}:300`, amount: 300n, txHash: null } as const
  const payment = await claim(app, { scope: 'data:read', chainId: store.chainId, ...terms })
  await beginSending(app, payment, 1_000)
  await updateChannel(
    app,
    id,
    (current) => ({
      ...(current && { kept: { ...current, accepted: 300n, spent: 300n, units: 1 } }),
      result: null,
    }),
    payment.identity,
  )
  await settle(app, payment, (transaction) => refundUnused(transaction, payment, Date.now()))
  return payment
}

async function openChannel(chainId: number): Promise<`0x${string}`> {
  const id = randomHex(32)
  const [payer, payee] = [randomHex(20), randomHex(20)]
  const parts = { operator: payee, token, salt: randomHex(32), authorizedSigner: payer }
  const kept = {
    ...{ id, chainId, escrow: randomHex(20), signer: payer, deposit: 1_000n, accepted: 0n, signature: null },
    descriptor: { payer, payee, ...parts, expiringNonceHash: randomHex(32) },
    ...{ spent: 0n, settled: 0n, units: 0, closeRequestedAt: 0n, isClosed: false, openedAt: new Date() },
  }
  await updateChannel(app, id, () => ({ kept, result: null }))
  return id
}

async function spend(jobId: string, nodeId: string, chainId: number): Promise<string> {
  const reserved = await reserveSpend(
    app,
    {
      ...{ jobId, nodeId, attempt: 1, serviceId: 'shop', protocol: 'mpp', chainId, currency: token },
      ...{ amount: 10n, units: 110n, statedFeeUnits: 0n, recipient: randomHex(20), payer: randomHex(20) },
    },
    ample,
    Date.now(),
  )
  if (reserved.kind !== 'reserved') throw new Error(reserved.kind)
  const reference = randomHex(32)
  const made = { credential: randomBytes(8), reference, txHash: reference, fromBlock: 1 }
  await keepCredential(app, reserved.id, { ...made, validBeforeSeconds: 1 })
  return reserved.id
}
