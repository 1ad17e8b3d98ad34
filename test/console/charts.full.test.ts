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
      const colours = await shown.page
        .locator('.legend .swatch')
        .evaluateAll((all) => all.map((swatch) => getComputedStyle(swatch).backgroundColor))
      expect(new Set(colours).size).toBe(8)
    }
  })

  test('labels are as large as on a screen with one pixel a point', async () => {
    await draw('SELECT num, gas_used FROM blocks ORDER BY num')
    const { fonts } = await told()
    expect(fonts.length).toBeGreaterThan(0)
    expect(fonts.filter((font) => !font.startsWith('24px '))).toEqual([])
  })
})
