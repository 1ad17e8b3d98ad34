/**
 * Pictures of the console's pages for the manuals: `node test/console/pictures.ts URL JOB` writes
 * `docs/images/console-<page>.png` of a running program on the dev chain, with the plan that
 * docs/services.md quotes. JOB is the id of a job that has ended, as `millrace demo` prints it.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { read, root } from '../support/projectFiles.ts'
import { launchBrowser } from './support/browser.ts'

const [origin = 'http://127.0.0.1:8080', job = ''] = process.argv.slice(2)
/** Long enough for a chart. */
const DRAWN_MS = 6_000
const sql = `SELECT num, tx_count, avg(tx_count) OVER (ORDER BY num ROWS 9 PRECEDING)::float AS mean_of_10
FROM (SELECT num, tx_count FROM blocks ORDER BY num DESC LIMIT 120) newest ORDER BY num`
const [, plan = ''] = read('docs/services.md').match(/-d '(\{"nodes":[\s\S]*?\})'$/m) ?? []

interface View {
  readonly fields?: Readonly<Record<string, string>>
  readonly act?: (page: Page) => Promise<void>
}

const views: Readonly<Record<string, View>> = {
  query: { fields: { sql, as: 'chart', x: 'num', y: 'tx_count' } },
  catalog: {
    act: async (page) => {
      await page.locator('#intent').fill('how long is the day')
      await page.locator('#intent').press('Enter')
    },
  },
  plan: {
    act: async (page) => {
      await page.locator('textarea:visible').first().fill(plan)
      await page.locator('#quote').click()
      await page.getByRole('region', { name: 'Buy', exact: true }).waitFor()
    },
  },
  job: { fields: { job } },
  account: {},
  webhooks: {},
  money: {},
  status: {},
}

/** A page of webhooks without one shows no list. */
async function subscribe(url: string): Promise<void> {
  const answer = await fetch(`${origin}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      eventType: 'token:transfer',
      destination: { type: 'url', url },
      filters: { token: '0x20c0000000000000000000000000000000000000' },
    }),
  })
  if (!answer.ok) throw new Error(`no webhook: ${await answer.text()}`)
}

const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
await subscribe(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`)
const browser = await launchBrowser()
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' })
  for (const [name, { fields = {}, act }] of Object.entries(views)) {
    await page.goto('about:blank')
    await page.goto(`${origin}/#${new URLSearchParams({ view: name, ...fields })}`)
    await page.waitForTimeout(DRAWN_MS)
    await act?.(page)
    await page.waitForTimeout(DRAWN_MS)
    await page.screenshot({ path: join(root, `docs/images/console-${name}.png`) })
  }
} finally {
  await browser.close()
  receiver.closeAllConnections()
  receiver.close()
}
