// Goal: the console does in a browser what it says: tables, completion, marks, runs, plans, live
// rows, charts, links, files.
// Method: the real pages over a recorded chain in both stores, in the machine's Chromium; nothing
// may be complained about by the browser or asked of another server.
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { fullTest, onceTest } from '../support/breadth.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'
import { ConsolePage } from './support/consolePage.ts'
import { expectInside, pageWidth } from './support/pageWidth.ts'

const engines = ['postgres', 'clickhouse'] as const
/** That new rows do not continue, and how many rows their answers have. */
const wholeQueries = [
  ['SELECT num FROM blocks ORDER BY num DESC LIMIT 3', 3],
  ['SELECT count(*) FROM blocks', 1],
] as const
const labels = { postgres: 'Postgres', clickhouse: 'ClickHouse' } as const

let api: ChainApi
let browser: Browser
let context: BrowserContext
let shown: ConsolePage
let batches: EncodedBatch[]

beforeAll(async () => {
  batches = recordedBatches('tempo-dev-2k', 10)
  api = await openChainApi()
  await api.append(batches.slice(0, -2))
  await api.finalize(api.state.tip)
  await api.fillClickHouse()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await api?.close()
})
beforeEach(async () => {
  context = await browser.newContext({ acceptDownloads: true })
  context.setDefaultTimeout(100_000)
  shown = await ConsolePage.open(context, api.server.origin)
})
afterEach(async () => {
  expect(shown.complaints).toEqual([])
  await context.close()
})

describeInBrowser('the console: relations, examples and the editor', () => {
  const schemaOf = async (engine: string) => (await api.get(`/v1/indexer/schema?engine=${engine}`)).body

  onceTest('the first example has run, and both engines list all of their tables', async () => {
    await shown.ended()
    expect(await shown.summary.textContent()).toMatch(/^[\d,]+ rows? in [\d.,]+ ms on Postgres, blocks 0 to /)
    for (const engine of engines) {
      await shown.use(labels[engine])
      const names: string[] = (await schemaOf(engine)).relations.map(({ name }: { name: string }) => name)
      await expect.poll(() => shown.relations()).toEqual(names)
    }
    expect((await shown.relations()).length).toBeGreaterThanOrEqual(22)
    await shown.page.locator('#schema-filter').fill('holder')
    expect((await shown.relations()).every((name) => name !== 'blocks')).toBe(true)
  })

  fullTest(
    'a table opens to its columns, gives its newest rows, and a column is written by a click',
    async () => {
      const blocks = shown.page.locator('#relation-blocks')
      await blocks.locator('summary').click()
      await blocks.locator('.sample').click()
      await shown.ended()
      expect(await shown.text()).toContain('FROM blocks')
      expect((await shown.rows()).length).toBeGreaterThan(0)
      await shown.write('')
      await blocks.locator('.column', { hasText: /^\s*gas_used/ }).click()
      expect(await shown.text()).toBe('gas_used')
    },
  )

  fullTest('every example of both engines runs and has rows', async () => {
    for (const engine of engines) {
      await shown.use(labels[engine])
      const { examples } = await schemaOf(engine)
      const buttons = shown.page.locator('#examples button')
      await expect
        .poll(() => buttons.allInnerTexts())
        .toEqual(examples.map(({ title }: { title: string }) => title))
      for (const { title, sql } of examples) {
        await buttons.filter({ hasText: title }).first().click()
        await shown.ended()
        expect(await shown.text()).toBe(sql.trimEnd())
        expect(await shown.failure.isVisible(), title).toBe(false)
        expect(await shown.summary.textContent(), title).toMatch(/^[1-9].* on (Postgres|ClickHouse)/)
      }
    }
  })

  fullTest('the editor completes tables and columns, and a mistake is marked where it is', async () => {
    await shown.write('SELECT ')
    await shown.page.keyboard.type('* FROM blo')
    await shown.completions(/^blocks/).click()
    await shown.page.keyboard.type(' WHERE gas_us')
    await shown.completions(/^gas_used/).click()
    expect(await shown.text()).toBe('SELECT * FROM blocks WHERE gas_used')
    await shown.use('ClickHouse')
    await shown.write('SELECT * FROM ')
    await shown.page.keyboard.type('log')
    await shown.completions(/^logs/).waitFor()
    for (const engine of engines) {
      await shown.use(labels[engine])
      await shown.run('SELECT num,\n  nonsense\nFROM blocks')
      expect(await shown.failure.textContent()).toMatch(/nonsense/)
      expect(await shown.page.locator('.cm-lintRange-error').textContent()).toBe('nonsense')
      await shown.failure.locator('button', { hasText: 'line 2, column 3' }).click()
      await shown.run('SELECT 1 AS one FROM blocks')
      expect(await shown.page.locator('.cm-lintRange-error').count()).toBe(0)
      expect(await shown.failure.isVisible()).toBe(false)
    }
  })
})

describeInBrowser('the console: running a query, once and live', () => {
  onceTest('Ctrl+Enter runs, and Explain shows plan and price without running', async () => {
    for (const engine of engines) {
      await shown.use(labels[engine])
      await shown.write('SELECT num, tx_count FROM blocks WHERE num BETWEEN 3 AND 5 ORDER BY num')
      await shown.page.keyboard.press('ControlOrMeta+Enter')
      await shown.summary.filter({ hasText: `3 rows in` }).filter({ hasText: labels[engine] }).waitFor()
      expect((await shown.rows()).map(([num]) => num)).toEqual(['3', '4', '5'])
      await shown.press('explain')
      expect(await shown.summary.textContent()).toMatch(/^Not run\. Reads about [\d,]+ rows?.* dollars\.$/)
      const steps = await shown.rows()
      expect(steps.length).toBeGreaterThan(1)
      expect(steps.some(([, , reads]) => /^blocks\b/.test(reads ?? ''))).toBe(true)
      expect(steps.flat().join()).not.toMatch(/_from_\d|chain_/)
      await shown.page.locator('#tab-table').click()
      expect((await shown.rows()).map(([num]) => num)).toEqual(['3', '4', '5'])
      expect(await shown.summary.textContent()).toMatch(/^3 rows in/)
    }
  })

  fullTest('ten thousand rows are in the grid with only those in sight in the document', async () => {
    await shown.page.locator('#limit').selectOption('10000')
    await shown.run('SELECT a.log_idx AS a, b.block_num AS b, b.topic0 FROM logs a CROSS JOIN logs b')
    expect(await shown.summary.textContent()).toMatch(/^10,000 rows .* More than 10,000 exist\.$/)
    const grid = shown.page.locator('#panel-table .grid')
    const drawn = shown.page.locator('#panel-table .grid-body .grid-row')
    expect(await grid.getAttribute('aria-rowcount')).toBe('10001')
    expect(await drawn.count()).toBeLessThan(120)
    await grid.focus()
    await shown.page.keyboard.press('ArrowDown')
    await shown.page.keyboard.press('ControlOrMeta+End')
    await shown.page.locator('.grid-row[data-position="9999"] [aria-selected=true]').waitFor()
    expect(await drawn.count()).toBeLessThan(120)
    await shown.page.locator('#panel-table .grid .header button', { hasText: /^b$/ }).click()
    await shown.page.locator('[role=columnheader][aria-sort=ascending]').waitFor()
    expect(await shown.page.locator('.detail').isVisible()).toBe(true)
  })

  onceTest('Live adds rows as blocks come, takes back what is orphaned, and Stop ends it', async () => {
    const tip = api.state.tip
    await shown.write('SELECT num, hash FROM blocks')
    await shown.live(/^Live: waiting/)
    await api.append(batches.slice(-2, -1))
    const block = (number: number) => shown.summary.filter({ hasText: `block ${number}` })
    await block(tip + 10).waitFor()
    await expect.poll(async () => (await shown.rows())[0]?.[0]).toBe(`${tip + 10}`)
    await api.revertTo(tip + 7)
    await shown.summary.filter({ hasText: '3 taken back' }).waitFor()
    await expect.poll(async () => (await shown.rows())[0]?.[0]).toBe(`${tip + 7}`)
    await shown.stop()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
  })
})

describeInBrowser('the console: charts, links, downloads, and what is in sight', () => {
  onceTest('a chart is drawn of a time and a number, and says its values', async () => {
    await shown.run('SELECT timestamp, gas_used FROM blocks ORDER BY num')
    await shown.chart('gas_used by timestamp')
    await expect.poll(() => shown.coloursDrawn()).toBeGreaterThan(10)
    await shown.readLast()
    const reading = shown.page.locator('.reading')
    await reading.filter({ hasText: /^\d+ at 20\d\d-/ }).waitFor()
    const last = (await reading.textContent()) ?? ''
    await shown.page.locator('.canvas').hover({ position: { x: 120, y: 80 } })
    await reading.filter({ hasText: / at 20/, hasNotText: last }).waitFor()
  })

  onceTest('a link brings back query, engine, events and chain, and runs', async () => {
    const sql = 'SELECT \'ä "quoted" & more\' AS text, count(*) FROM transfer'
    const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
    await shown.use('ClickHouse')
    await shown.page.locator('#signature').fill(transfer)
    await shown.page.locator('#signature').press('Enter')
    await shown.page.locator('#relation-transfer').waitFor()
    await shown.write(sql)
    await shown.page.locator('#share').click()
    await shown.page.locator('#share', { hasText: /Link/ }).waitFor()
    const { hash } = new URL(shown.page.url())
    const again = await ConsolePage.open(context, api.server.origin, hash)
    expect(await again.text()).toBe(sql)
    expect(await again.page.locator('#engine input:checked').inputValue()).toBe('clickhouse')
    expect(await again.page.locator('#signatures code').allInnerTexts()).toEqual([transfer])
    await again.ended()
    expect((await again.rows())[0]).toEqual(['ä "quoted" & more', expect.stringMatching(/^[1-9]/)])
    await again.page.locator('#signatures button').click()
    await again.press('run')
    expect(await again.failure.textContent()).toMatch(/signature/)
    expect(again.complaints).toEqual([])
  })

  onceTest(
    'events are found by their names, and Live shows the whole result where new rows do not continue it',
    async () => {
      const known = shown.page.locator('#known-events option[value^="OrderPlaced("]')
      await expect.poll(() => known.count()).toBe(1)
      for (const [sql, rows] of wholeQueries) {
        await shown.write(sql)
        await shown.live(/^Live: the whole result/)
        expect(await shown.rows()).toHaveLength(rows)
        await shown.stop()
      }
    },
  )

  onceTest('rows of the query before are dim while the next one runs', async () => {
    await shown.ended()
    const release = await shown.holdQueries(context)
    await shown.page.locator('#run').click()
    await shown.page.locator('#panel-table.earlier .grid-row').first().waitFor()
    release()
    await shown.ended()
    expect(await shown.page.locator('.earlier').count()).toBe(0)
  })

  onceTest('Run is in sight on a narrow screen, however far its reader has scrolled', async () => {
    await shown.page.setViewportSize({ width: 390, height: 700 })
    await shown.page.locator('.result').evaluate((result) => result.scrollIntoView({ block: 'end' }))
    await expectInside(shown.page.locator('#run'), { width: 390, height: 700 })
  })

  fullTest('a chart draws a series for each column or name, with a legend', async () => {
    await shown.run('SELECT num, gas_used, tx_count FROM blocks ORDER BY num')
    await shown.chart('gas_used by num')
    await shown.page.locator('.ups label', { hasText: 'tx_count' }).click()
    // Some transactions, and millions of gas: a chart each, one below the other.
    await shown.page.getByRole('img', { name: 'tx_count by num', exact: true }).waitFor()
    expect(
      await shown.page.getByRole('img').evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel)),
    ).toEqual(['gas_used by num', 'tx_count by num'])
    expect(await shown.page.locator('.legend li').allInnerTexts()).toEqual(['gas_used', 'tx_count'])
    await shown.readLast()
    await shown.page.locator('.reading', { hasText: /^\d+ gas_used \d+ tx_count at \d+$/ }).waitFor()
  })

  fullTest('a result is downloaded whole, as CSV and as JSON', async () => {
    await shown.run('SELECT num, hash FROM blocks WHERE num < 2 ORDER BY num')
    const rows = await shown.rows()
    expect(await shown.download('csv')).toBe(
      `num,hash\r\n${rows.map((row) => row.join(',')).join('\r\n')}\r\n`,
    )
    expect(JSON.parse(await shown.download('json'))).toEqual(rows.map(([num, hash]) => ({ num, hash })))
  })
})

describeInBrowser('the console: the status page', () => {
  test('the status page says where both stores stand, lanes, checks and parity', async () => {
    await shown.page.locator('#tab-status').click()
    const card = shown.page.locator('#panel-status .card')
    await card.waitFor()
    const text = await card.textContent()
    for (const word of ['Head', 'Final', 'Lag', 'Proved', 'Parity', 'Postgres', 'ClickHouse', 'Lanes'])
      expect(text).toMatch(new RegExp(word, 'i'))
    expect(text).toContain(api.state.tip.toLocaleString('en-US'))
  })

  onceTest('the bar at the top is one line of a window of 1280 px, however high the chain', async () => {
    const report = (await api.get('/status')).body
    Object.assign(report.chains[0], { head: 123_456_789, lagBlocks: 12_345, isLocal: true })
    await context.route('**/status', (route) => route.fulfill({ json: report }))
    await shown.page.locator('#pulse', { hasText: '12,345 behind' }).waitFor()
    const [title, link] = await Promise.all(
      ['h1', '.reference'].map((part) => shown.page.locator(part).boundingBox()),
    )
    expect(Math.abs((link?.y ?? 0) - (title?.y ?? 0))).toBeLessThan(8)
    expect(link?.height).toBeLessThan(30)
  })

  test('the status page is no wider than a phone, also with addresses in notes', async () => {
    const report = (await api.get('/status')).body
    report.notes = [`refunds are sent by 0x${'42414A2e'.repeat(5)} on chain 1337`]
    await context.route('**/status', (route) => route.fulfill({ json: report }))
    await shown.page.setViewportSize({ width: 390, height: 700 })
    await shown.page.locator('#tab-status').click()
    await shown.page.locator('#panel-status .notes li').waitFor()
    expect(await pageWidth(shown.page)).toBeLessThanOrEqual(390)
  })

  test('the status page shows alarms before all else, and what the audit found', async () => {
    const report = (await api.get('/status')).body
    const since = '2026-01-01T00:00:00Z'
    report.alarms = [{ chainId: 7, code: 'parity_differs', problem: 'logs of block 5 differ', since }]
    report.chains[0].verification.audit = { state: 'agrees', comparedBlocks: 1234, problem: null }
    await context.route('**/status', (route) => route.fulfill({ json: report }))
    await shown.page.locator('#tab-status').click()
    const alarm = shown.page.locator('#panel-status .alarms li')
    await alarm.waitFor()
    expect(await alarm.textContent()).toBe(
      'Chain 7: logs of block 5 differparity differs since 2026-01-01 00:00:00 UTC',
    )
    expect(await shown.page.locator('#panel-status .card').textContent()).toMatch(
      /Auditagrees1,234 blocks read again from the node/,
    )
  })
})
