// Goal: a laptop sells reads with no further setting, to a stranger with the commands of the docs.
// Method: the program on its dev chain, its own command line, the payment library's client.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { validate } from 'mppx/discovery'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { balanceOf } from '../../payments/support/shop.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const dataDir = freshDataDir()
const main = join(import.meta.dirname, '../../../main.ts')
const QUOTA = 2

let program: RunningMillrace
beforeAll(async () => {
  const accessFile = join(mkdtempSync(join(tmpdir(), 'millrace-access-')), 'access.json')
  writeFileSync(accessFile, JSON.stringify({ quotas: { address: QUOTA } }))
  program = await startMillrace({ DATA_DIR: dataDir.path, ACCESS: 'guarded', ACCESS_FILE: accessFile })
  await blockIndexed(program, 1)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

const millrace = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: dataDir.path }
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
  return stdout
}

test('a stranger pays for what goes beyond the quota, and the books are right', async () => {
  const { rpcUrl, chainId, tokens } = JSON.parse(await millrace('devchain', '--json'))
  const account = privateKeyToAccount(generatePrivateKey())
  await millrace('devchain', 'fund', account.address)
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(rpcUrl) })
  const payer = Mppx.create({
    polyfill: false,
    methods: [payByTempo({ account, getClient: () => client })],
  })
  const { notes } = JSON.parse(await (await fetch(`${program.origin}/status`)).text())
  const recipient = /are sold on chain 1337 to (0x\w{40})/.exec(notes.join('\n'))?.[1]
  const payee: `0x${string}` = `0x${recipient?.slice(2)}`
  const before = await balanceOf(rpcUrl, tokens.pathUSD, payee)

  const paths = ['/v1/blocks?limit=5', '/v1/transfers?limit=5', '/v1/transactions?limit=5']
  const receipts: (string | null)[] = []
  for (const path of [...paths, ...paths]) {
    const answer = await payer.fetch(program.origin + path)
    expect(answer.status, path).toBe(200)
    expect(JSON.parse(await answer.text()).data.length, path).toBeGreaterThan(0)
    receipts.push(answer.headers.get('payment-receipt'))
  }
  const paid = receipts.filter((receipt) => receipt !== null)
  // A minute may have turned meanwhile, and the quota with it.
  expect(paid.length).toBeGreaterThanOrEqual(receipts.length - 2 * QUOTA)
  expect(new Set(paid).size).toBe(paid.length)
  expect((await balanceOf(rpcUrl, tokens.pathUSD, payee)) - before).toBe(500n * BigInt(paid.length))

  const listed: { state: string; isAnswered: boolean }[] = JSON.parse(
    await millrace('payments', 'list', '--json'),
  )
  expect(listed.map(({ state }) => state)).toEqual(paid.map(() => 'settled'))
  await expect
    .poll(async () => JSON.parse(await millrace('payments', 'list', '--json')))
    .toEqual(paid.map(() => expect.objectContaining({ isAnswered: true })))
  const units = `${500 * paid.length}`
  // Once their blocks are final, the indexed transfers say the same.
  await expect
    .poll(async () => JSON.parse(await millrace('payments', 'audit', '--json')))
    .toMatchObject({
      ...{ isRight: true, open: 0, unbalanced: [], differing: [] },
      revenue: [{ account: 'revenue:data:read', ledger: units, payments: units }],
      received: [{ recipient: payee, transfers: units, payments: units, others: { count: 0 } }],
    })
  expect(JSON.parse(await millrace('payments', 'refunds', '--json'))).toEqual({ owed: [], payouts: [] })
})

test('the lines of the page pay as they stand', async () => {
  const [, lines = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/payments.md', 'utf8')) ?? []
  const { rpcUrl } = JSON.parse(await millrace('devchain', '--json'))
  const key = generatePrivateKey()
  await millrace('devchain', 'fund', privateKeyToAccount(key).address)
  // Beside the packages that it imports.
  const folder = mkdtempSync(join(import.meta.dirname, '../../../node_modules/.millrace-'))
  const file = join(folder, 'payer.mjs')
  writeFileSync(file, lines.replace('http://127.0.0.1:8080', program.origin))
  const env = { ...process.env, PAYER_KEY: key, PAYER_RPC: rpcUrl }
  while ((await fetch(`${program.origin}/v1/blocks`)).status !== 402);
  // A minute may turn meanwhile, and the quota with it.
  await expect
    .poll(async () => (await promisify(execFile)(process.execPath, [file], { env })).stdout)
    .toMatch(/^200 ey[\w-]+\n$/)
  rmSync(folder, { recursive: true })
})

test('the document tells what a unit costs, and passes the discovery of the payment library', async () => {
  const read = async () => JSON.parse(await (await fetch(`${program.origin}/openapi.json`)).text())
  const offer = (intent: string, amount: string) =>
    expect.objectContaining({ intent, method: 'tempo', amount })
  const [charge, session] = [offer('charge', '500'), offer('session', '10')]
  // Sessions are offered once the channel contract is seen on the chain.
  await expect
    .poll(async () => (await read()).paths['/v1/blocks'].get['x-payment-info'].offers)
    .toEqual([charge, charge, session, session])
  const document = await read()
  expect(validate(document)).toEqual([])
  expect(document['x-service-info'].docs.apiReference).toMatch(/^\/|^http/)
  expect(document.paths['/health'].get['x-payment-info']).toBeUndefined()
})
