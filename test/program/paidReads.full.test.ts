// Goal: a laptop sells reads with no further setting, to a stranger with the commands of the docs.
// Method: the program on its dev chain, its own command line, the payment library's client.
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { balanceOf } from '../payments/support/shop.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from './support/millrace.ts'

const dataDir = freshDataDir()
const main = join(import.meta.dirname, '../../main.ts')
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
  expect(JSON.parse(await millrace('payments', 'audit', '--json'))).toEqual({
    isRight: true,
    lines: [expect.objectContaining({ account: 'revenue:data:read', ledger: `${500 * paid.length}` })],
  })
})

test('the document tells what a unit costs', async () => {
  const { paths } = JSON.parse(await (await fetch(`${program.origin}/openapi.json`)).text())
  expect(paths['/v1/blocks'].get['x-payment-info'].offers).toEqual([
    expect.objectContaining({ intent: 'charge', method: 'tempo', amount: '500' }),
    expect.objectContaining({ intent: 'charge', method: 'tempo', amount: '500' }),
  ])
  expect(paths['/health'].get['x-payment-info']).toBeUndefined()
})
