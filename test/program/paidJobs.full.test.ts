// Goal: a stranger finds services, has a plan priced, pays, gets its results, reviews it and is rewarded.
// Method: the program as it starts with no more than a margin set, on its dev chain with the shipped
// sellers; the payer is the payment library's client, and the chain's own index tells what was moved.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoPlan } from '../orchestrator/jobs/support/demoPlan.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from './support/millrace.ts'

const dataDir = freshDataDir()
const main = join(import.meta.dirname, '../../main.ts')
let program: RunningMillrace
beforeAll(async () => {
  program = await startMillrace({ DATA_DIR: dataDir.path, COST_MULTIPLIER: '1.5' })
  await blockIndexed(program, 1)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

const millrace = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: dataDir.path, PORT: program.port }
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
  return stdout
}
const read = async (path: string) => {
  const answer = await fetch(program.origin + path)
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}
const post = async (path: string, body: unknown, send: typeof fetch = fetch) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await send(program.origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
}

/** An account with money, and its fetch that pays. */
async function stranger() {
  const { rpcUrl, chainId } = JSON.parse(await millrace('devchain', '--json'))
  const account = privateKeyToAccount(generatePrivateKey())
  await millrace('devchain', 'fund', account.address)
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(rpcUrl) })
  const methods = [payByTempo({ account, getClient: () => client })]
  return { address: account.address.toLowerCase(), pay: Mppx.create({ polyfill: false, methods }).fetch }
}

test('from a question to a reward', async () => {
  const { address, pay } = await stranger()
  const found = await read('/v1/services/search?query=how+long+is+the+day&limit=3')
  expect(found.body.endpoints[0]).toMatchObject({ serviceId: 'demo-sun' })

  const quote = await post('/v1/quote', demoPlan)
  expect(quote.status).toBe(200)
  const ordered = { idempotencyKey: randomUUID(), plan: demoPlan }
  expect((await post('/v1/jobs', ordered)).status).toBe(402)
  const made = await post('/v1/jobs', ordered, pay)
  expect([made.status, made.headers.has('payment-receipt')]).toEqual([200, true])
  const { jobId } = made.body
  // The same again is the same job, and is not paid for.
  expect((await post('/v1/jobs', ordered, pay)).body.jobId).toBe(jobId)

  await expect.poll(async () => (await read(`/v1/jobs/${jobId}`)).status).toBe(200)
  const { body: job } = await read(`/v1/jobs/${jobId}?include=runs`)
  expect(job).toMatchObject({ ready: true, status: 'partially_succeeded', ok: false })
  expect(Object.keys(job.result)).toEqual(expect.arrayContaining(['paris', 'report', 'summary']))

  const called = job.runs.filter(({ attempts }: { attempts: unknown[] }) => attempts.length > 0)
  const tools = called.map(({ nodeId }: { nodeId: string }) => ({ nodeId, rating: 4 }))
  const review = { rating: 4, comment: 'One of them failed, as asked.', tools }
  const reviewed = await post(`/v1/jobs/${jobId}/feedback`, review)
  expect(reviewed).toMatchObject({ status: 201, body: { reward: { status: 'queued' } } })
  const rewardOf = async () => (await read(`/v1/jobs/${jobId}/feedback`)).body.reward
  await expect.poll(async () => (await rewardOf()).status).toBe('paid')
  const { amount, transactionHash } = await rewardOf()

  // The index of the same program has the reward, to the payer and in its amount.
  const transfers = async () => (await read(`/v1/transfers?recipient=${address}&limit=50`)).body.data
  const units = `${Math.round(Number(amount) * 1e6)}`
  await expect
    .poll(transfers)
    .toContainEqual(
      expect.objectContaining({ transactionHash, sourceToken: expect.objectContaining({ amount: units }) }),
    )
  await expect
    .poll(async () => JSON.parse(await millrace('payments', 'audit', '--json')))
    .toMatchObject({ isRight: true, unbalanced: [], differing: [] })
})
