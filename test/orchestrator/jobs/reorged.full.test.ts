// Goal: a reorganization that takes the payment of a job ends the job before it spends, and its receipt
// says so.
// Method: a job that the payment library's client bought on a dev chain, which is reorganized below the
// payment; its final blocks are indexed beside it.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ReceiptKeys } from '#orchestrator/receipt/ReceiptKeys.ts'
import { Receipts } from '#orchestrator/receipt/Receipts.ts'
import { verifyReceipt } from '#orchestrator/receipt/verifyReceipt.ts'
import { Prover } from '#payments/books/Prover.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { TransferProofs } from '#store/proofs/TransferProofs.ts'
import { silentLogger } from '#telemetry.ts'
import { type IndexedDevChain, startIndexedDevChain } from '../../payments/support/indexed.ts'
import { accountOf, balanceOf, PATH_USD, payer } from '../../payments/support/shop.ts'
import { openEngine } from './support/engine.ts'
import { hashing, openJobShop } from './support/jobShop.ts'
import { sold } from './support/scriptedSellers.ts'

const chainId = 1337
const recipient: `0x${string}` = `0x${accountOf(16).address.slice(2).toLowerCase()}`
const { clock } = systemRuntime()
const ends: (() => unknown)[] = []
let chain: IndexedDevChain
let shop: Awaited<ReturnType<typeof openJobShop>>
beforeAll(async () => {
  chain = await startIndexedDevChain(chainId)
  ends.push(() => chain.close())
  shop = await openJobShop((end) => void ends.push(end), { rpcUrl: chain.rpcUrl, chainId, recipient })
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

test('a job whose payment a reorganization took is cancelled, unspent, and its receipt proves nothing', async () => {
  const { app } = shop.catalog
  const { schema, postgres } = chain.store
  const place = { chainId, schema, reads: postgres.reads }
  const { jobId } = await chain.takeBack(async () => {
    const answer = await payer(accountOf(1), chain).fetch(`${shop.origin}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ idempotencyKey: randomUUID(), plan: hashing('reorged') }),
    })
    expect(await balanceOf(chain.rpcUrl, PATH_USD, recipient)).toBe(100n)
    return Object(await answer.json())
  })
  expect(await balanceOf(chain.rpcUrl, PATH_USD, recipient)).toBe(0n)
  // Nothing that was signed before can be mined again.
  await chain.passTime()
  await chain.catchUp()
  const prover = new Prover({
    ...{ app, chain: { chainId, index: place }, nodes: [chain.node], log: silentLogger },
    outcome: (payment) => shop.payments.outcome(payment),
    budgets: () => new Map(),
    // Nodes are asked a minute later: the index may have been late.
    clock: { ...clock, now: () => clock.now() + 61_000 },
  })
  await prover.look()

  const engine = openEngine(app, { '/hash': { answer: (purchase) => sold(purchase, {}) } })
  expect((await engine.ended(jobId)).state).toBe('cancelled')
  expect(engine.sellers.calls).toEqual([])
  expect((await readBalances(app)).filter(({ amount }) => amount !== 0n)).toEqual([])

  const proofs = new TransferProofs()
  ends.push(() => proofs.close())
  const receipts = new Receipts({
    ...{ app, keys: new ReceiptKeys([randomBytes(32)]), origin: 'https://millrace.example' },
    proofOf: (_, transfer) => proofs.of(place, transfer),
  })
  const { receipt, problems } = verifyReceipt((await receipts.of(jobId)) ?? '', null)
  expect(problems).toEqual([])
  expect(receipt).toMatchObject({
    ...{ job: { status: 'cancelled' }, transfer: null },
    settlement: { finality: 'reversed', amount: '100', committed: '0', refunded: '0' },
  })
})
