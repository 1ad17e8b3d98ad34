// Goal: in a browser, a person gets from an intent to a quote of five nodes in three stages, sees
// why an endpoint was found and how it is called, and each error of a plan at its node.
// Method: the real pages over the demo's sellers, in the machine's Chromium, at the width of a desk
// and of a phone; nothing may be complained about by the browser.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  readConsoleAssetEndpoint,
  readConsoleEndpoint,
  readIconEndpoint,
} from '#api/routes/service/console.ts'
import { readStatusEndpoint, type StatusReport } from '#api/routes/service/status.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { type RunningServer, startServer } from '../api/support/toolkitServer.ts'
import { describeInBrowser, launchBrowser } from '../console/support/browser.ts'
import { shop } from './support/catalog.ts'
import { type Demo, openDemo } from './support/demo.ts'

const status: StatusReport = {
  version: '0',
  ready: true,
  startedAt: '2026-01-01T00:00:00Z',
  degraded: false,
  alarms: [],
  chains: [],
  webhooks: null,
  notes: [],
}

describeInBrowser('the pages of services', () => {
  let demo: Demo
  let server: RunningServer
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const ends: (() => Promise<void>)[] = []

  beforeAll(async () => {
    demo = await openDemo((end) => void ends.push(end))
    const name = '<img src=x onerror=alert(1)>'
    await demo.catalog.importAs('sly', [shop('sly', { name, docs: { homepage: 'https://sly.example/' } })])
    server = await startServer(
      [
        readConsoleEndpoint,
        readConsoleAssetEndpoint,
        readIconEndpoint,
        readStatusEndpoint,
        ...orchestratorEndpoints,
      ],
      { ...demo.services, status: { status: () => status, ready: neverAsked, waitForBlock: neverAsked } },
    )
    browser = await launchBrowser()
    page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      // The browser writes every refused request down.
      const expected = /status of (404|422)/.test(message.text())
      if (message.type() === 'error' && !expected) complaints.push(message.text())
    })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.app.close()
    for (const end of ends) await end()
  })

  const openAt = (fragment: string) => page.goto(`${server.origin}/${fragment}`)
  const write = (plan: object) => page.locator('#plan-text').fill(JSON.stringify(plan))
  const nodeOf = (id: string) => page.getByRole('article', { name: id, exact: true })
  const stages = () =>
    page
      .locator('.stage')
      .evaluateAll((found) =>
        found.map((stage) => [...stage.querySelectorAll('h4')].map(({ textContent }) => textContent)),
      )

  test('from an intent to a quote of five nodes in three stages', async () => {
    await openAt('#view=catalog')
    await page.locator('#intent').fill('how long is the day')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.locator('#found-summary').filter({ hasText: 'how long is the day' }).waitFor()
    const first = page.locator('.found-endpoint').first()
    expect(await first.locator('h2').textContent()).toBe('Demo Sun')
    expect(await first.locator('.chips li').allTextContents()).toContain('example match')
    expect(await first.locator('.price').textContent()).toBe('0.002 USDC')

    await first.getByRole('button', { name: /^Read/ }).click()
    const endpoint = page.locator('.endpoint[open]')
    expect(await endpoint.locator('pre').first().textContent()).toContain('48.8566')
    await endpoint.getByRole('link', { name: 'Add to plan' }).click()
    expect(JSON.parse(await page.locator('#plan-text').inputValue()).nodes).toMatchObject([
      { id: 'demo-sun', path: '/daylight', input: { latitude: 48.8566 } },
    ])

    await page.getByRole('button', { name: 'Example' }).click()
    expect(await stages()).toEqual([['place', 'block'], ['day', 'miles'], ['report']])
    await page.locator('#quote').click()
    await page.locator('#quote-sum').filter({ hasText: '0.063 USDC' }).waitFor()
    expect(await nodeOf('report').locator('.price').textContent()).toBe('0.05 USDC')
    expect(await nodeOf('day').textContent()).toContain('priced with the example input')
    expect(await page.locator('.lines-between path').count()).toBe(4)
    const drawn = page.locator('.plan-drawn')
    expect(await drawn.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)

    await page.reload()
    expect(await stages()).toEqual([['place', 'block'], ['day', 'miles'], ['report']])
    await page.goBack()
    await page.locator('.endpoint[open]').waitFor()
  })

  test('errors stand at their nodes, and a price is gone with the plan that it was of', async () => {
    await openAt('#view=plan')
    const call = { serviceId: 'demo-sun', method: 'POST', path: '/daylight' }
    await write({
      nodes: [
        { id: 'a', ...call, dependsOn: ['b'] },
        { id: 'b', ...call, serviceId: 'nobody' },
      ],
    })
    await page.locator('#quote').click()
    await nodeOf('b').getByText('no service has the id nobody').waitFor()
    expect(await nodeOf('a').locator('.node-problems li').allTextContents()).not.toEqual([])
    await write({
      nodes: [
        { id: 'a', ...call, dependsOn: ['b'] },
        { id: 'b', ...call, dependsOn: ['a'] },
      ],
    })
    expect(await page.locator('.node-problems').count()).toBe(0)
    await page.getByRole('heading', { name: 'These wait for each other' }).waitFor()
    await page.locator('#plan-text').fill('{"nodes": [')
    await page.getByRole('alert').filter({ hasText: /JSON/ }).waitFor()
    expect(await page.locator('.node').count()).toBe(0)
  })

  test('texts of strangers are texts, and nothing is wider than a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    for (const fragment of ['#view=catalog&q=sly', '#view=catalog&service=sly', '#view=catalog'])
      await expectNarrow(fragment)
    expect(await page.locator('.card img').count()).toBe(0)
    await openAt('#view=plan')
    await page.getByRole('button', { name: 'Example' }).click()
    await expectNarrow(null)
    await openAt('#view=catalog&service=nobody-here')
    await page.getByRole('alert').filter({ hasText: 'service' }).waitFor()
    expect(complaints).toEqual([])
  })

  async function expectNarrow(fragment: string | null): Promise<void> {
    if (fragment !== null) await openAt(fragment)
    await page.locator('.card:visible, .node:visible').first().waitFor()
    const width = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)
    expect(width, `${fragment}`).toBeLessThanOrEqual(390)
  }
})

const neverAsked = () => Promise.reject(new Error('not part of this test'))
