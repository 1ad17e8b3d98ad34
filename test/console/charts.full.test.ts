// Goal: pictures of the console are true: what is not over is open, sizes and colours can be read.
// Method: the real page over a recorded chain in both stores, in the machine's Chromium, with two
// pixels a point; what its canvas is told is written down.
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'
import { ConsolePage } from './support/consolePage.ts'

/** Fonts and line dashes that the page's canvases were told. */
const listening = `(() => {
  const told = (window.told = { fonts: [], dashes: [] })
  const shape = CanvasRenderingContext2D.prototype
  const font = Object.getOwnPropertyDescriptor(shape, 'font')
  Object.defineProperty(shape, 'font', {
    ...font,
    set(value) {
      told.fonts.push(value)
      font.set.call(this, value)
    },
  })
  const setLineDash = shape.setLineDash
  shape.setLineDash = function (dash) {
    told.dashes.push(dash.join(' '))
    return setLineDash.call(this, dash)
  }
})()`
const perMinute = `SELECT date_trunc('minute', timestamp) AS minute, count(*) AS blocks
FROM blocks GROUP BY minute ORDER BY minute`

describeInBrowser('charts', () => {
  let api: ChainApi
  let browser: Browser
  let context: BrowserContext
  let shown: ConsolePage

  beforeAll(async () => {
    api = await openChainApi()
    await api.append(recordedBatches('tempo-dev-2k', 100))
    await api.finalize(api.state.tip)
    await api.fillClickHouse()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await api?.close()
  })
  beforeEach(async () => {
    context = await browser.newContext({ deviceScaleFactor: 2 })
    context.setDefaultTimeout(100_000)
    await context.addInitScript(listening)
    shown = await ConsolePage.open(context, api.server.origin)
    await shown.ended()
  })
  afterEach(async () => {
    expect(shown.complaints).toEqual([])
    await context.close()
  })

  async function draw(sql: string): Promise<void> {
    await shown.write(sql)
    await shown.press('run')
    expect(await shown.failure.isVisible()).toBe(false)
    await shown.page.locator('#tab-chart').click()
    await shown.page.locator('.canvas canvas').first().waitFor()
  }
  const told = () => shown.page.evaluate<{ fonts: string[]; dashes: string[] }>('window.told')

  test('the last minute of the newest block is dashed, and says that it is not over', async () => {
    await draw(perMinute)
    await expect.poll(async () => (await told()).dashes.filter((dash) => dash !== '')).not.toEqual([])
    await shown.page.locator('.canvas').focus()
    await shown.page.keyboard.press('End')
    await shown.page.locator('.reading', { hasText: /^\d+ at 20\S+, not over yet$/ }).waitFor()
    await shown.page.keyboard.press('ArrowLeft')
    await shown.page.locator('.reading', { hasText: /^\d+ at 20\S+Z$/ }).waitFor()
  })

  test('of more names the largest seven and the others are drawn, each in a colour of its own', async () => {
    await draw(`SELECT block_num, CAST(log_idx % 12 AS text) AS place, count(*) AS logs
FROM logs GROUP BY block_num, place ORDER BY block_num`)
    await shown.page.getByLabel('A series for each').selectOption('place')
    const items = shown.page.locator('.legend li')
    await items.filter({ hasText: /^\d+ others, summed$/ }).waitFor()
    expect(await items.count()).toBe(8)
    for (const colorScheme of ['light', 'dark'] as const) {
      await shown.page.emulateMedia({ colorScheme })
      const colours = await shown.page.evaluate<string[]>(
        `[...document.querySelectorAll('.legend .swatch')].map((swatch) => getComputedStyle(swatch).backgroundColor)`,
      )
      expect(new Set(colours).size).toBe(8)
    }
  })

  test('a link brings back the chart, its columns and the number of rows', async () => {
    await shown.page.locator('#limit').selectOption('100')
    await draw('SELECT num, gas_used, tx_count, hash FROM blocks ORDER BY num')
    await shown.page.locator('.ups label', { hasText: 'gas_used' }).click()
    await shown.page.locator('.ups label', { hasText: 'tx_count' }).click()
    await shown.page.getByRole('img', { name: 'tx_count by num', exact: true }).waitFor()
    const { hash } = new URL(shown.page.url())
    expect(Object.fromEntries(new URLSearchParams(hash.slice(1)))).toMatchObject({
      ...{ rows: '100', as: 'chart', x: 'num', y: 'tx_count' },
    })
    const again = await ConsolePage.open(context, api.server.origin, hash)
    await again.page.getByRole('img', { name: 'tx_count by num', exact: true }).waitFor()
    expect(await again.page.locator('#limit').inputValue()).toBe('100')
    expect(await again.summary.textContent()).toMatch(/^100 rows/)
    expect(again.complaints).toEqual([])
  })

  test('rows of one engine are dim while the other is chosen', async () => {
    await shown.page.locator('#panel-table:not(.earlier) .grid-row').first().waitFor()
    await shown.use('ClickHouse')
    await shown.page.locator('#panel-table.earlier .grid-row').first().waitFor()
    await shown.use('Postgres')
    await shown.page.locator('#panel-table:not(.earlier) .grid-row').first().waitFor()
  })

  test('the plan is a tab beside the rows, asked for when it is chosen', async () => {
    await shown.write('SELECT status FROM receipts WHERE block_num = 5')
    await shown.press('run')
    const rows = await shown.rows()
    await shown.page.locator('#tab-explain').click()
    await shown.summary.filter({ hasText: /^Not run\. Reads about/ }).waitFor()
    expect((await shown.rows()).map(([, , reads]) => reads).filter((reads) => reads !== '')).toEqual([
      expect.stringMatching(/^receipts\b/),
    ])
    const again = await ConsolePage.open(context, api.server.origin, new URL(shown.page.url()).hash)
    await again.summary.filter({ hasText: /^Not run\./ }).waitFor()
    await shown.page.locator('#tab-table').click()
    // More rows are drawn when the grid has its height again.
    await expect.poll(() => shown.rows()).toEqual(rows)
  })

  test('labels are as large as on a screen with one pixel a point', async () => {
    await draw('SELECT num, gas_used FROM blocks ORDER BY num')
    const { fonts } = await told()
    expect(fonts.length).toBeGreaterThan(0)
    expect(fonts.filter((font) => !font.startsWith('24px '))).toEqual([])
  })
})
