// Goal: a service that is set up for x402 sells reads and jobs to the protocol's own client, with a
// key of ours.
// Method: the program on its dev chain, a second chain beside it, @x402/fetch as it is; the client of
// the page is installed as the page says.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  DOLLAR,
  lower,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
  x402Payer,
} from '../../payments/support/secondChain.ts'
import { accountOf, keyOf, PATH_USD } from '../../payments/support/shop.ts'
import { blockIndexed, freshDataDir, get, type RunningMillrace, startMillrace } from '../support/millrace.ts'
import { installPayersFolder } from '../support/recipes.ts'

const dataDir = freshDataDir()
const payee = accountOf(90)
const recipient = lower(payee.address)
let chain: SecondChain
let program: RunningMillrace
beforeAll(async () => {
  chain = await startSecondChain()
  const folder = mkdtempSync(join(tmpdir(), 'millrace-access-'))
  const keyFile = join(folder, 'fees.key')
  writeFileSync(keyFile, await chain.feePayer(), { mode: 0o600 })
  const x402 = { chainId: SECOND_CHAIN, rpcUrl: chain.rpcUrl, asset: DOLLAR, keyFile }
  const payeeFile = join(folder, 'payee.key')
  writeFileSync(payeeFile, keyOf(payee), { mode: 0o600 })
  const payouts = { keyFile: payeeFile, dollarsPerDay: '10' }
  const payments = { chainId: 1337, recipient, currencies: [PATH_USD], x402, payouts }
  const accessFile = join(folder, 'access.json')
  writeFileSync(accessFile, JSON.stringify({ quotas: { address: 1 }, payments }))
  program = await startMillrace({ DATA_DIR: dataDir.path, ACCESS: 'guarded', ACCESS_FILE: accessFile })
  await blockIndexed(program, 1)
})
afterAll(async () => {
  await program?.stop()
  await chain?.stop()
  dataDir.remove()
})

test('reads beyond the quota are paid for on the second chain', async () => {
  const payer = await chain.payer()
  const { fetch: pay } = x402Payer(payer)
  const answers: Response[] = []
  for (const list of ['blocks', 'transfers', 'transactions', 'blocks'])
    answers.push(await pay(`${program.origin}/v1/${list}?limit=5`))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const paid = answers.filter(({ headers }) => headers.has('payment-response')).length
  // A minute may have turned meanwhile, and the quota with it.
  expect(paid).toBeGreaterThanOrEqual(2)
  expect(await chain.balanceOf(recipient)).toBe(500n * BigInt(paid))
})

test('the client of docs/clients.md pays for a read and a job', async () => {
  const folder = await installPayersFolder(program.origin)
  onTestFinished(folder.remove)
  await folder.install('A read and a job, by x402')
  await chain.payer(1_000_000n, privateKeyToAccount(folder.key))
  // The quota has one read of a minute.
  const told = [await folder.run('x402.mjs'), await folder.run('x402.mjs')]
  const each = /^200 (?:null|ey[\w=-]+)\n200 ([0-9a-f-]{36})\n$/
  expect(told).toEqual([expect.stringMatching(each), expect.stringMatching(each)])
  expect(told.join('')).toMatch(/200 ey\w+/)
  for (const text of told)
    await expect
      .poll(async () => (await get(`${program.origin}/v1/jobs/${each.exec(text)?.[1]}`)).body)
      .toMatchObject({ status: 'succeeded' })
})

test('documents and status tell of it', async () => {
  const { paths } = JSON.parse(await (await fetch(`${program.origin}/openapi.json`)).text())
  expect(paths['/v1/blocks'].get['x-payment-info'].offers).toContainEqual(
    expect.objectContaining({ intent: 'exact', method: 'x402', currency: DOLLAR, amount: '500' }),
  )
  const { notes } = JSON.parse(await (await fetch(`${program.origin}/status`)).text())
  expect(notes).toContain(`x402 payments for them go to ${recipient} on chain ${SECOND_CHAIN}`)
})
