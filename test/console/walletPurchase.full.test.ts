// Goal: in a browser, a wallet buys a quoted plan by a transfer of its own or by a signature, for no
// more than the quote, and once, whatever is lost between the payment and the answer.
// Method: the program on its dev chain and a second one with x402; the wallet signs and sends with
// viem, and what left its account is read from both chains.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { createClient, http, parseAbiItem } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { getLogs } from 'viem/actions'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DEV_CHAIN_ID, devChainFiles, readRecord } from '#local/devchain/devChainRecord.ts'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import {
  DOLLAR,
  lower,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
} from '../payments/support/secondChain.ts'
import { accountOf, keyOf, PATH_USD } from '../payments/support/shop.ts'
import {
  blockIndexed,
  freshDataDir,
  type RunningMillrace,
  startMillrace,
} from '../program/support/millrace.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'
import { BrowserWallet } from './support/browserWallet.ts'

const transferred = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
const account = privateKeyToAccount(generatePrivateKey())
const payee = accountOf(91)
const recipient = lower(payee.address)
const folder = mkdtempSync(join(tmpdir(), 'millrace-access-'))
const dataDir = freshDataDir()
const complaints: string[] = []
let second: SecondChain
let rpcUrl: string
let program: RunningMillrace
let browser: Browser
let context: BrowserContext
let page: Page
/** Each order of the page goes through it. */
let onOrder: (route: Route) => Promise<void>
let wallet: BrowserWallet

const bought = (text: string) => ({
  nodes: [
    {
      id: 'one',
      serviceId: 'demo-moody',
      method: 'POST',
      path: '/echo',
      input: { message: text },
      dependsOn: [],
    },
  ],
})
const buying = () => page.getByRole('region', { name: 'Buy with a wallet' })
const press = (name: string) => buying().getByRole('button', { name }).click()
const jobIdIn = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('job') ?? ''
const says = (text: string | RegExp) => buying().getByText(text).waitFor()

/** The plan on its page, with its price. @returns the price */
async function quote(plan: object): Promise<string> {
  await page.goto(`${program.origin}/#view=plan&plan=${encodeURIComponent(JSON.stringify(plan))}`)
  return quoted()
}
async function quoted(): Promise<string> {
  const [answer] = await Promise.all([page.waitForResponse(/\/v1\/quote$/), page.locator('#quote').click()])
  if (!answer.ok()) throw new Error(await answer.text())
  await page.locator('#quote:enabled').waitFor()
  return ((await page.locator('#quote-sum dd').first().textContent()) ?? '').replace(' USDC', '')
}
const payOn = (chainId: number) =>
  buying()
    .getByRole('region', { name: `on chain ${chainId}` })
    .getByRole('button')

/** Ends on the page of the job. */
async function jobId(): Promise<string> {
  await page
    .getByRole('region', { name: 'Job', exact: true })
    .getByRole('status')
    .getByText('succeeded')
    .waitFor()
  return jobIdIn(page.url())
}

/** How often the account has paid the payee, on both chains, and by which amounts. */
async function payments(): Promise<readonly bigint[]> {
  const of = async (url: string, address: `0x${string}`) => {
    const filter = { address, event: transferred, args: { from: account.address, to: recipient } }
    const logs = await getLogs(createClient({ transport: http(url) }), {
      ...filter,
      fromBlock: 0n,
      toBlock: 'latest',
    })
    return logs.map(({ args }) => args.value ?? 0n)
  }
  return [...(await of(rpcUrl, PATH_USD)), ...(await of(second.rpcUrl, DOLLAR))]
}

const passOn = (route: Route) => route.continue()

/** An order that has a payment is answered, and the answer does not come. @returns waits until it is */
function loseAnswer(): () => Promise<void> {
  let lost = (_answer: Promise<unknown>) => {}
  const isLost = new Promise<void>((resolve) => {
    lost = (answer) => resolve(answer.then(() => {}))
  })
  onOrder = async (route) => {
    const { authorization, 'payment-signature': signature } = await route.request().allHeaders()
    if (authorization ?? signature) lost(route.fetch())
    else await passOn(route)
  }
  return () => isLost
}

async function open(): Promise<void> {
  second = await startSecondChain()
  const keyFile = join(folder, 'fees.key')
  writeFileSync(keyFile, await second.feePayer(), { mode: 0o600 })
  const payeeFile = join(folder, 'payee.key')
  writeFileSync(payeeFile, keyOf(payee), { mode: 0o600 })
  const x402 = { chainId: SECOND_CHAIN, rpcUrl: second.rpcUrl, asset: DOLLAR, keyFile }
  const payouts = { keyFile: payeeFile, dollarsPerDay: '10' }
  const sold = { chainId: DEV_CHAIN_ID, recipient, currencies: [PATH_USD], x402, payouts }
  const accessFile = join(folder, 'access.json')
  writeFileSync(accessFile, JSON.stringify({ payments: sold }))
  program = await startMillrace({ DATA_DIR: dataDir.path, ACCESS_FILE: accessFile })
  await blockIndexed(program, 1)
  rpcUrl = `http://127.0.0.1:${(await readRecord(devChainFiles(dataDir.path, DEV_CHAIN_ID)))?.port}`
  for (const { address } of [account, payee]) await fundAccount({ rpcUrl, chainId: DEV_CHAIN_ID }, address)
  await second.payer(1_000_000n, account)
  browser = await launchBrowser()
}

describe('a wallet of the browser', () => {
  describeInBrowser('in a browser', () => {
    beforeAll(open)
    afterAll(async () => {
      await browser?.close()
      await program?.stop()
      await second?.stop()
      dataDir.remove()
      rmSync(folder, { recursive: true })
    })
    beforeEach(async () => {
      await context?.close()
      context = await browser.newContext()
      context.setDefaultTimeout(100_000)
      page = await context.newPage()
      // For the page's whole life: a browser may hold a request for ever that is on its way as
      // interception begins or ends, be it a script of the page.
      onOrder = passOn
      await page.route(/\/v1\/jobs$/, (route) => onOrder(route))
      page.on('pageerror', (error) => complaints.push(error.message))
      // The dev chain is told to it by the page.
      wallet = new BrowserWallet(account, new Map([[SECOND_CHAIN, second.rpcUrl]]))
      await wallet.install(page)
    })

    test('addresses have one spelling: notes have them as answers do', async () => {
      const status: unknown = await (await fetch(`${program.origin}/status`)).json()
      const notes: readonly string[] = Object(status).notes
      expect(notes.join()).toContain(recipient)
      expect(notes.filter((note) => /0x[0-9a-f]*[A-F]/.test(note))).toEqual([])
    })

    test.each([
      ['a transfer', DEV_CHAIN_ID, 'eth_sendTransaction'],
      ['a signature', SECOND_CHAIN, 'eth_signTypedData_v4'],
    ])('buys a plan by %s, for its price; a rejected one costs nothing', async (way, chainId, method) => {
      const before = await payments()
      const total = await quote(bought(way))
      await press('Buy with Test Wallet')
      await buying().getByText(recipient).first().waitFor()
      expect(await payOn(chainId).textContent()).toBe(`Pay ${total} USD`)
      wallet.refuseNext(4001, 'User rejected the request.')
      await payOn(chainId).click()
      await says('Rejected in the wallet. Nothing was paid.')
      expect(await payments()).toEqual(before)
      await payOn(chainId).click()
      expect(await jobId()).toMatch(/^[0-9a-f-]{36}$/)
      expect(wallet.asked).toEqual([method, method])
      const after = await payments()
      expect(after.reduce((sum, units) => sum + units)).toBe(
        before.reduce((sum, units) => sum + units, 0n) + BigInt(Math.round(Number(total) * 1e6)),
      )
      expect(after).toHaveLength(before.length + 1)
    })

    test.each([
      ['transfer', DEV_CHAIN_ID],
      ['signature', SECOND_CHAIN],
    ])(
      'a lost answer and a reload buy one job by one %s, and another is bought if asked for',
      async (way, chainId) => {
        const before = (await payments()).length
        await quote(bought(`lost ${way}`))
        const lost = loseAnswer()
        await press('Buy with Test Wallet')
        await payOn(chainId).click()
        await lost()
        // The page that is left asks again while the next one loads: those answers are lost too.
        await page.reload()
        onOrder = passOn
        await quoted()
        await press('Go on with Test Wallet')
        const first = await jobId()
        expect([wallet.asked.length, (await payments()).length]).toEqual([1, before + 1])
        await page.goBack()
        await quoted()
        await expect
          .poll(() => buying().getByRole('link', { name: 'its job' }).getAttribute('href'))
          .toContain(first)
        await press('Buy it again')
        await press('Buy with Test Wallet')
        await payOn(chainId).click()
        expect(await jobId()).not.toBe(first)
        expect((await payments()).length).toBe(before + 2)
      },
    )

    test('a second press, and a transfer whose hash was never told, pay once', async () => {
      const before = (await payments()).length
      await quote(bought('late'))
      await press('Buy with Test Wallet')
      const tell = wallet.tellLate()
      await payOn(DEV_CHAIN_ID).click()
      await says(/Confirm the transfer in your wallet/)
      await payOn(SECOND_CHAIN).click()
      await says('A payment is under way.')
      expect(await payOn(DEV_CHAIN_ID).isDisabled()).toBe(true)
      await expect.poll(async () => (await payments()).length).toBe(before + 1)
      await page.reload()
      tell()
      await quoted()
      await press('Go on with Test Wallet')
      await jobId()
      expect([wallet.asked, (await payments()).length]).toEqual([['eth_sendTransaction'], before + 1])
    })

    test('a wallet that fails may have sent it: nothing is paid anew unless its person says so', async () => {
      const before = (await payments()).length
      await quote(bought('unclear'))
      await press('Buy with Test Wallet')
      wallet.refuseNext(-32_603, 'Lost the node.')
      await payOn(DEV_CHAIN_ID).click()
      await says('Lost the node.')
      await press('Go on with Test Wallet')
      await says('No block has the transfer that your wallet was asked for yet.')
      page.once('dialog', (dialog) => void dialog.accept())
      await press('Pay anew')
      await press('Buy with Test Wallet')
      await payOn(DEV_CHAIN_ID).click()
      await jobId()
      expect((await payments()).length).toBe(before + 1)
    })

    test('a price above the quote is not paid', async () => {
      const before = await payments()
      await quote(bought('dear'))
      onOrder = async (route) => {
        const response = await route.fetch()
        const header = response.headers()['payment-required'] ?? ''
        const required = JSON.parse(Buffer.from(header, 'base64').toString())
        required.accepts[0].amount = `${BigInt(required.accepts[0].amount) + 1n}`
        const dear = Buffer.from(JSON.stringify(required)).toString('base64')
        await route.fulfill({ status: 402, headers: { 'payment-required': dear }, body: '{}' })
      }
      await press('Buy with Test Wallet')
      await says('The price is above the quote. Nothing was paid.')
      expect([wallet.asked, await payments(), complaints]).toEqual([[], before, []])
    })
  })
})
