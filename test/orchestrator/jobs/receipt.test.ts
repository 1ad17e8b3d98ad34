// Goal: a job's receipt says what was ordered, delivered and paid; it is proved offline, down to the block
// of its payment, and whatever is changed in it is found and named.
// Method: a job that the payment library's client bought on a dev chain, whose blocks are indexed beside it;
// sellers are scripted. Every byte of the receipt is changed once.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '#api/server.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { ReceiptKeys } from '#orchestrator/receipt/ReceiptKeys.ts'
import { Receipts } from '#orchestrator/receipt/Receipts.ts'
import type { Receipt } from '#orchestrator/receipt/receipt.ts'
import { verifyReceipt } from '#orchestrator/receipt/verifyReceipt.ts'
import { jobReadEndpoints, receiptEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { Prover } from '#payments/books/Prover.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { TransferProofs } from '#store/proofs/TransferProofs.ts'
import { createLogger, silentLogger } from '#telemetry.ts'
import { type IndexedDevChain, startIndexedDevChain } from '../../payments/support/indexed.ts'
import { accountOf, payer } from '../../payments/support/shop.ts'
import { openEngine } from './support/engine.ts'
import { hashing, openJobShop } from './support/jobShop.ts'
import { type Sale, sold } from './support/scriptedSellers.ts'

const chainId = 1337
const { clock } = systemRuntime()
const recipient: `0x${string}` = `0x${accountOf(18).address.slice(2).toLowerCase()}`
const ends: (() => unknown)[] = []
const keys = new ReceiptKeys([randomBytes(32)])
let chain: IndexedDevChain
let shop: Awaited<ReturnType<typeof openJobShop>>
let server: Awaited<ReturnType<typeof createServer>>

beforeAll(async () => {
  chain = await startIndexedDevChain(chainId)
  ends.push(() => chain.close())
  shop = await openJobShop((end) => void ends.push(end), { rpcUrl: chain.rpcUrl, chainId, recipient })
  const proofs = new TransferProofs()
  ends.push(() => proofs.close())
  const { schema, postgres } = chain.store
  const receipts = new Receipts({
    ...{ app: shop.catalog.app, keys, origin: shop.origin },
    proofOf: (id, transfer) => proofs.of({ chainId: id, schema, reads: postgres.reads }, transfer),
  })
  server = await createServer({
    endpoints: [...jobReadEndpoints, ...receiptEndpoints],
    services: { app: shop.catalog.app, jobsChanged: new CommitBell(), clock, receipts },
    ...{ chains: [], cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]), clock, log: createLogger('silent') },
    shutdown: new AbortController().signal,
  })
  ends.push(() => server.close())
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const echo: Sale = { answer: (purchase) => sold(purchase, { hash: purchase.nodeId }, 50n) }
const get = async (path: string) => {
  const { statusCode: status, body } = await server.inject({ url: path })
  return { status, body }
}
const receiptOf = (jobId: string) => get(`/v1/jobs/${jobId}/receipt`)
const problemsOf = (text: string, key: string | null = null) =>
  verifyReceipt(text, key).problems.map(({ part }) => part)

async function order(text: string): Promise<string> {
  const answer = await payer(accountOf(1), chain).fetch(`${shop.origin}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ idempotencyKey: randomUUID(), plan: hashing(text) }),
  })
  return String(Object(await answer.json()).jobId)
}

/** A job that has ended, and whose payment is in a final block. */
async function finished(text: string): Promise<string> {
  const jobId = await order(text)
  await openEngine(shop.catalog.app, { '/hash': echo }).ended(jobId)
  await chain.makeFinal()
  await chain.catchUp()
  return jobId
}

describe('a receipt', () => {
  it('of an id that is none is 400, of one that no job has 404, of a job that runs 202', async () => {
    expect((await receiptOf('1')).status).toBe(400)
    expect((await receiptOf(randomUUID())).status).toBe(404)
    const jobId = await order('runs')
    expect(await receiptOf(jobId)).toEqual({ status: 202, body: JSON.stringify({ jobId, ready: false }) })
  })

  it('tells plan, outputs and money, and once its block is final it has the proof of its transfer', async () => {
    const jobId = await order('bought')
    await openEngine(shop.catalog.app, { '/hash': echo }).ended(jobId)
    const early = await receiptOf(jobId)
    expect(early.status).toBe(200)
    expect(problemsOf(early.body)).toEqual([])
    expect(JSON.parse(early.body)).toMatchObject({ transfer: null, settlement: { finality: 'pending' } })

    await chain.makeFinal()
    await chain.catchUp()
    const prover = new Prover({
      ...{ app: shop.catalog.app, nodes: [chain.node], clock, log: silentLogger },
      chain: { chainId, index: { schema: chain.store.schema, reads: chain.store.postgres.reads } },
      outcome: (payment) => shop.payments.outcome(payment),
      budgets: () => new Map(),
    })
    await prover.look()
    const { status, body } = await receiptOf(jobId)
    const receipt: Receipt = JSON.parse(body)
    const output = JSON.stringify({ hash: 'hash' })
    expect([status, problemsOf(body)]).toEqual([200, []])
    expect(receipt).toMatchObject({
      job: { jobId, status: 'succeeded', payer: accountOf(1).address.toLowerCase() },
      nodes: [
        { nodeId: 'hash', outputDigest: createHash('sha256').update(output).digest('hex'), error: null },
      ],
      amounts: { charged: '0.0001', committed: '0.00005' },
      settlement: {
        ...{ chainId, recipient, amount: '100', committed: '50', refunded: '50' },
        finality: 'confirmed',
      },
      transfer: { chainId, receiptPath: expect.arrayContaining([expect.stringMatching(/^0x/)]) },
    })
    // The same receipt for whoever asks.
    expect((await receiptOf(jobId)).body).toBe(body)
  })

  it('is signed by a key that is published, and by no other', async () => {
    const { body } = await receiptOf(await finished('signed'))
    const { body: published } = await get('/v1/receipt-keys')
    const [key] = JSON.parse(published).keys
    expect(key).toEqual(JSON.parse(body).key)
    for (const named of [key.kid, key.x]) expect(problemsOf(body, named)).toEqual([])
    expect(problemsOf(body, keys.published[0]?.kid.replace(/^./, '.') ?? '')).toEqual(['key'])
    const { digests: _, key: __, signature: ___, format: ____, ...parts } = JSON.parse(body) as Receipt
    const forged = new ReceiptKeys([randomBytes(32)]).signed(parts, null)
    expect([problemsOf(forged), problemsOf(forged, key.kid)]).toEqual([[], ['key']])
  })

  it('stays provable after its key was exchanged', async () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)]
    const before = new ReceiptKeys([older])
    const [kid] = before.published.map((key) => key.kid)
    before.use([newer, older])
    expect(before.published.map((key) => key.kid)).toEqual([expect.not.stringMatching(kid ?? ''), kid])
  })
})

describe('a change is found', () => {
  it('of any byte', async () => {
    const { body } = await receiptOf(await finished('bytes'))
    const bytes = Buffer.from(body)
    const unnamed: number[] = []
    for (const [at, byte] of bytes.entries()) {
      // Another letter of the same kind, so that what is read stays a receipt where it can.
      bytes[at] = byte === 0x30 ? 0x31 : byte === 0x39 ? 0x38 : byte === 0x61 ? 0x62 : byte - 1
      if (problemsOf(bytes.toString()).length === 0) unnamed.push(at)
      bytes[at] = byte
    }
    expect(unnamed).toEqual([])
    expect(problemsOf(bytes.toString())).toEqual([])
  })

  it('and named by the part that it is in', async () => {
    const { body } = await receiptOf(await finished('named'))
    const changed = (from: RegExp, to: string) => {
      const text = body.replace(from, to)
      expect(text).not.toBe(body)
      return problemsOf(text)
    }
    expect(changed(/"status":"succeeded"/, '"status":"succeedee"')).toEqual(['job'])
    expect(changed(/"outputDigest":"[0-9a-f]/, '"outputDigest":"g')).toEqual(['form'])
    expect(changed(/"outputBytes":15/, '"outputBytes":16')).toEqual(['nodes'])
    expect(changed(/"charged":"0.0001"/, '"charged":"0.0002"')).toEqual(['amounts'])
    expect(changed(/"amount":"100","chainId"/, '"amount":"101","chainId"')).toEqual(['settlement', 'proof'])
    expect(changed(/"logIndex":/, '"logIndex":9')).toEqual(['transfer', 'proof'])
    expect(changed(/"header":"0xf90/, '"header":"0xf91')).toEqual(['transfer', 'proof'])
    // Both are of random bytes: either letter may stand there already.
    const [kid] = body.match(/"kid":"-/) ?? []
    expect(changed(/"kid":"./, kid ? '"kid":"_' : '"kid":"-')).toEqual(['key', 'signature'])
    const [signature] = body.match(/"signature":"-/) ?? []
    expect(changed(/"signature":"./, signature ? '"signature":"_' : '"signature":"-')).toEqual(['signature'])
    expect(changed(/,"format"/, ', "format"')).toEqual(['form'])
    expect(problemsOf(`${body}\n`)).toEqual(['form'])
    expect(problemsOf('{}')).toEqual(['form'])
  })

  it('of what the chain proves, though it was signed', async () => {
    const { body } = await receiptOf(await finished('proof'))
    const { digests: _, key: __, signature: ___, format: ____, ...parts } = JSON.parse(body) as Receipt
    const { settlement, transfer } = parts
    if (!settlement || !transfer) throw new Error('it has no proof')
    const resigned = (more: Partial<typeof parts>) =>
      verifyReceipt(keys.signed({ ...parts, ...more }, null), null).problems
    const another = `0x${'12'.repeat(32)}`
    const wrong: readonly [Partial<typeof parts>, string][] = [
      [{ settlement: { ...settlement, amount: '101' } }, 'the log is not this transfer'],
      [{ settlement: { ...settlement, payer: recipient } }, 'the log is not this transfer'],
      [{ settlement: { ...settlement, transactionHash: another } }, 'the transaction is another one'],
      [{ settlement: null }, 'it proves no transfer of this settlement'],
      [{ transfer: { ...transfer, blockHash: another } }, 'the header does not hash to the block'],
      [{ transfer: { ...transfer, blockNumber: 1 } }, 'the header is of another height'],
      [
        { transfer: { ...transfer, transactionPath: transfer.receiptPath } },
        'the path of the transaction does not lead to the header',
      ],
      [{ transfer: { ...transfer, receiptPath: [] } }, 'the path of the receipt does not lead to the header'],
    ]
    for (const [more, problem] of wrong) expect(resigned(more)).toEqual([{ part: 'proof', problem }])
  })
})
