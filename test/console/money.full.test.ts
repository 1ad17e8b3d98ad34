// Goal: in a browser, the operator sees wallet, payments, refunds, rewards, reviews and books to the unit,
// by links and by keys of the keyboard; others are told whose page it is.
// Method: the real pages, access and endpoints over rows that the product wrote, at the width of a desk and
// of a phone; nothing may be complained about by the browser.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { newToken } from '#api/access/token.ts'
import { operatorEndpoints } from '#api/routes/index.ts'
import {
  readConsoleAssetEndpoint,
  readConsoleEndpoint,
  readIconEndpoint,
} from '#api/routes/service/console.ts'
import { readStatusEndpoint, type StatusReport } from '#api/routes/service/status.ts'
import { insertKey } from '#rows/access/keys.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { type DeskOptions, deskOver, queue, review, writeMoney } from '../api/support/moneyDesk.ts'
import { app, clock, defaults, openSignIn, pepper } from '../api/support/signInServer.ts'
import { type RunningServer, startServer } from '../api/support/toolkitServer.ts'
import { buy } from '../orchestrator/jobs/support/boughtJobs.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'
import { pageWidth } from './support/pageWidth.ts'

const markup = '<img src=x onerror=alert(1)>'
const books = {
  ...{ lookedAt: new Date(1_764_000_000_000), chainsAskedAt: null, differing: 0 },
  unchecked: [`chain 9: ${markup}`],
}
const since = '2026-01-01T00:00:00Z'
const status: StatusReport = {
  ...{ version: '0', ready: true, startedAt: since, degraded: false, chains: [], webhooks: null, notes: [] },
  alarms: [{ chainId: 1337, code: 'wallet_low', problem: 'the wallet has 1, less than 5', since }],
}
const neverAsked = () => Promise.reject(new Error('never asked'))
const tokens = { operator: newToken('live'), other: newToken('live') }

let browser: Browser
let context: BrowserContext
let page: Page
const servers: RunningServer[] = []
const complaints: string[] = []

const serve = async (options: DeskOptions) => {
  const { access } = openSignIn({ publicUrl: null })
  const server = await startServer(
    [
      ...[readConsoleEndpoint, readConsoleAssetEndpoint, readIconEndpoint, readStatusEndpoint],
      ...operatorEndpoints,
    ],
    {
      status: { status: () => status, ready: neverAsked, waitForBlock: neverAsked },
      ...{ money: deskOver(app, options), clock },
    },
    { access, trustedProxies: ['127.0.0.1'] },
  )
  servers.push(server)
  return server.origin
}
let origin: string

beforeAll(async () => {
  await writeMoney(app)
  const last = await buy(app)
  await review(app, last.jobId, { rating: 5, isProved: true, comment: markup })
  const { orgId, projectId } = defaults
  const made = { orgId, projectId, name: null, environment: 'production', createdBy: null } as const
  const unlimited = { expiresAt: null, allowedIps: null, chains: null, origins: null, addressQuota: null }
  for (const [name, scopes] of [
    ['operator', ['*']],
    ['other', ['data:read']],
  ] as const)
    await insertKey(app, { ...made, ...unlimited, quota: null, token: tokens[name], scopes }, pepper)
  origin = await serve({ books })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  for (const { app: server } of servers) await server.close()
})
beforeEach(async () => {
  context = await browser.newContext({ extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' } })
  context.setDefaultTimeout(100_000)
  page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser writes every refused request down.
    const expected = /status of (401|403)/.test(message.text())
    if (message.type() === 'error' && !expected) complaints.push(message.text())
  })
})
afterEach(async () => {
  expect(complaints).toEqual([])
  await context.close()
})

const part = (title: string) => page.getByRole('region', { name: title, exact: true })
const cells = (title: string) =>
  part(title)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent)),
    )
/** As the operator, whose key the tab holds. */
const openAt = async (fragment: string, from = origin) => {
  await page.addInitScript(`sessionStorage.setItem('api-key', '${tokens.operator}')`)
  await page.goto(`${from}/${fragment}`)
}

describeInBrowser('the money page: its operator, the wallet, and the way to each part', () => {
  test('whoever is not the operator is told so, and becomes him by his key', async () => {
    await page.goto(`${origin}/#view=money`)
    await part('For the operator').getByText("--scopes '*'").waitFor()
    expect(await page.getByRole('tab', { name: 'Payments' }).isVisible()).toBe(false)
    const own = part('Your API key')
    await own.getByLabel('Key').fill(tokens.other)
    await own.getByRole('button', { name: 'Use key' }).click()
    await part('For the operator').getByText('needs a key with the scope').waitFor()
    await own.getByRole('button', { name: 'Forget key' }).click()
    await own.getByLabel('Key').fill(tokens.operator)
    await own.getByRole('button', { name: 'Use key' }).click()
    await part('Wallet').getByText('48.75').waitFor()
    expect(await page.content()).not.toContain(tokens.operator)
  })

  test('the wallet shows its day, balances and shares, and alarms and pauses stand before all', async () => {
    await pause(app, 'wallet', markup)
    await openAt('#view=money')
    await page.getByRole('alert').filter({ hasText: 'less than 5' }).waitFor()
    await page.getByText(`The wallet stands since`).waitFor()
    expect(await page.locator('#panel-money .notes').textContent()).toContain(markup)
    expect(await part('Wallet').locator('.badge').textContent()).toBe('paused')
    expect(await cells('Balances')).toMatchObject([
      ['1337', '0x20c0…0000', '123.456789'],
      ['8453', expect.any(String), 'no node answers'],
    ])
    expect(await cells('Shares of the day')).toContainEqual(['service', 'weather', '1.25', '25'])
    await resume(app, 'wallet')
  })

  test('parts are chosen by keys of the keyboard, have links, and the way back leads to the one before', async () => {
    await openAt('#view=money')
    const tab = (name: string) => page.getByRole('tab', { name, exact: true })
    await part('Balances').waitFor()
    await tab('Wallet').focus()
    await page.keyboard.press('ArrowRight')
    await part('Payments, the newest first').waitFor()
    expect(new URL(page.url()).hash).toBe('#view=money&part=payments')
    expect(await cells('Payments, the newest first')).toContainEqual([
      ...[expect.any(String), 'settled', 'reads', expect.stringContaining('123,456,789,012,345.678901')],
      ...[expect.any(String), 'tempo/charge', expect.any(String)],
    ])
    await page.getByRole('button', { name: 'Owed, no refund queued' }).click()
    await part('Payments, the newest first').getByText('millrace payments refund --all').waitFor()
    expect(await cells('Payments, the newest first')).toHaveLength(1)
    await page.keyboard.press('End')
    await page.goBack()
    await expect.poll(async () => (await cells('Payments, the newest first')).length).toBeGreaterThan(3)
    await openAt('#view=money&part=payouts&only=queued')
    await part('Refunds and rewards, the newest first').getByText('payouts are paused').waitFor()
    expect(await cells('Refunds and rewards, the newest first')).toHaveLength(1)
  })
})

describeInBrowser('the money page: lists, books, and what is not there', () => {
  test('a list goes on where the page ends', async () => {
    for (let index = 0; index < 30; index++) await queue(app, 'refund', `pay_many_${index}`, 20_000n)
    await openAt('#view=money&part=payouts')
    const list = part('Refunds and rewards, the newest first')
    await list.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => list.locator('tbody tr').count()).toBe(32)
    expect(await list.getByRole('button', { name: 'Show more' }).isVisible()).toBe(false)
  })

  test('reviews say what was said, as text, and whether the payer is proved', async () => {
    await openAt('#view=money&part=reviews')
    await part('Reviews, the newest first').getByText(markup).waitFor()
    const rows = await cells('Reviews, the newest first')
    expect(rows.map(([, rating, proved]) => [rating, proved])).toEqual([
      ['★★★★★', 'proved'],
      ['★★☆☆☆', 'not proved'],
      ['★★★★☆', 'proved'],
    ])
    expect(rows[1]?.[3]).toBe('payer_unproved')
    expect(await page.locator('#panel-money img').count()).toBe(0)
  })

  test('income and cost are drawn and told to the unit, with what the books say', async () => {
    await openAt('#view=money&part=books')
    await page.getByRole('img', { name: 'Income and cost a day' }).waitFor()
    expect(await page.locator('.money-chart rect.income').count()).toBe(30)
    expect(await part('Income and cost').locator('dd').first().textContent()).toMatch(
      /^123,456,789,012,345\.6\d+$/,
    )
    expect(await cells('By day')).toHaveLength(1)
    await part('Books').getByText('not checked whole').waitFor()
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(() => page.locator('.money-chart rect.income').count()).toBe(7)
    expect(new URL(page.url()).hash).toBe('#view=money&part=books&only=7')
  })

  test('where nothing is sold and no wallet is, the page says what to set', async () => {
    const none = await serve({ wallet: false, sellingProblem: 'ACCESS_FILE names no payee' })
    await openAt('#view=money', none)
    await page.getByText('Nothing is sold: ACCESS_FILE names no payee.').waitFor()
    await part('Wallet').getByText('WALLET_FILE').waitFor()
  })

  test.each(['light', 'dark'] as const)('nothing is wider than a phone (%s)', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 390, height: 844 })
    const titles = {
      ...{ wallet: 'Shares of the day', payments: 'Payments, the newest first' },
      ...{ payouts: 'Refunds and rewards, the newest first', reviews: 'Reviews, the newest first' },
      books: 'By day',
    }
    for (const [name, title] of Object.entries(titles)) {
      await openAt(`#view=money&part=${name}`)
      await part(title).waitFor()
      expect(await pageWidth(page), name).toBeLessThanOrEqual(390)
      expect(await page.locator('#panel-money [role=tabpanel]:visible').count(), name).toBe(1)
    }
  })
})
