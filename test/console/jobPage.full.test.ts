// Goal: in a browser, a plan is bought by the command beside its quote, its job is followed to the
// end with all that it cost and answered, and the ready commands end, retry and review it.
// Method: the program as it starts, on its dev chain with the shipped sellers; the commands are run
// as they stand on the page, from a payer's folder.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { demoPlan } from '../orchestrator/jobs/support/demoPlan.ts'
import {
  blockIndexed,
  freshDataDir,
  type RunningMillrace,
  startMillrace,
} from '../program/support/millrace.ts'
import { openPayersFolder, type PayersFolder } from '../program/support/recipes.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'
import { pageWidth } from './support/pageWidth.ts'

const key = generatePrivateKey()
const node = (id: string, path: string, input: object, dependsOn: string[] = []) => ({
  ...{
    id,
    serviceId: path === '/echo' ? 'demo-moody' : 'demo-reports',
    method: 'POST',
    path,
    input,
    dependsOn,
  },
})
/** Reports one after the other: each takes its seller some polls. */
const longPlan = {
  nodes: Array.from({ length: 12 }, (_, at) =>
    node(`r${at}`, '/reports', { title: `Report ${at}` }, at === 0 ? [] : [`r${at - 1}`]),
  ),
}

const dataDir = freshDataDir()
const complaints: string[] = []
let program: RunningMillrace
let folder: PayersFolder
let browser: Browser
let context: BrowserContext
let page: Page

const millrace = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: dataDir.path, PORT: program.port }
  const main = join(import.meta.dirname, '../../main.ts')
  return (await promisify(execFile)(process.execPath, [main, ...args], { env })).stdout
}

const part = (title: string) => page.getByRole('region', { name: title, exact: true })
const commandOf = async (title: string) =>
  (await page.getByLabel(`${title}: command`, { exact: true }).textContent()) ?? ''
const state = (text: string) => part('Job').getByRole('status').getByText(text)
const open = (fragment: string) => page.goto(`${program.origin}/${fragment}`)
const idIn = (link: string) => new URLSearchParams(new URL(link.trim()).hash.slice(1)).get('job') ?? ''

/** Quotes the plan on its page and runs the command there. @returns the link that it prints */
async function buy(plan: object): Promise<string> {
  await open(`#view=plan&plan=${encodeURIComponent(JSON.stringify(plan))}`)
  await page.locator('#quote').click()
  const total = (await page.locator('#quote-sum dd').first().textContent()) ?? ''
  const command = await commandOf('Buy this plan')
  expect(command).toContain(`"max_spend": "${total.replace(' USDC', '')}"`)
  const link = await folder.commands(command)
  // It is one job, however often the command runs.
  expect(await folder.commands(command)).toBe(link)
  return link.trim()
}

/** Lets the order of a job wait for its settlement. @returns what ends the wait: it came to nothing */
async function awaitsSettlement(jobId: string): Promise<() => void> {
  let settled = () => {}
  const until = new Promise<void>((resolve) => {
    settled = resolve
  })
  let isOver = false
  await page.route(/\/v1\/jobs\/[^/]+\?/, (route) =>
    isOver ? route.continue() : route.fulfill({ status: 202, json: { jobId, ready: false } }),
  )
  await page.route(/\/v1\/jobs\/[^/]+\/events$/, async (route) => {
    await until
    await route.fulfill({ contentType: 'text/event-stream', body: '' })
  })
  return () => {
    isOver = true
    settled()
  }
}

describe('the page of a job', () => {
  describeInBrowser('in a browser', () => {
    beforeAll(async () => {
      program = await startMillrace({ DATA_DIR: dataDir.path })
      await blockIndexed(program, 1)
      const { rpcUrl } = JSON.parse(await millrace('devchain', '--json'))
      await millrace('devchain', 'fund', privateKeyToAccount(key).address)
      folder = openPayersFolder(key, program.origin, { RPC_URL: rpcUrl })
      browser = await launchBrowser()
      context = await browser.newContext({ acceptDownloads: true })
      context.setDefaultTimeout(100_000)
    })
    afterAll(async () => {
      await browser?.close()
      folder?.remove()
      await program?.stop()
      dataDir.remove()
    })
    beforeEach(async () => {
      await page?.close()
      page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        // A job that is none is an answer; the browser writes every 4xx down.
        if (message.type() === 'error' && !message.text().includes('status of 404'))
          complaints.push(message.text())
      })
    })

    test('a plan is bought, and its job is shown with its calls, money, outputs and receipt', async () => {
      const link = await buy(demoPlan)
      expect(link).toMatch(/^http:.*\/#view=job&job=[0-9a-f-]{36}$/)
      await page.goto(link)
      await state('partly succeeded').waitFor()
      const calls = part('Calls by stage')
      expect(await calls.getByRole('heading', { level: 3 }).allTextContents()).toEqual(
        [1, 2, 3, 4].map((at) => `Stage ${at}`),
      )
      await calls.getByRole('article', { name: 'summary' }).getByText('succeeded').waitFor()
      await calls
        .getByRole('article', { name: 'broken' })
        .getByText(/Attempt 1: .*500/)
        .waitFor()
      await calls.getByRole('article', { name: 'after' }).getByText('skipped').waitFor()

      const money = part('Money')
      for (const name of ['Charged', 'Spent', 'Fees of chains', 'Paid back'])
        expect(await money.getByText(name, { exact: true }).count(), name).toBe(1)
      await money.getByRole('row', { name: /your payment \(tempo\/charge\)/ }).waitFor()
      await money.getByRole('row', { name: /refund/ }).waitFor()
      const hash = money.getByRole('row', { name: /call of paris/ }).getByRole('button')
      expect(await hash.getAttribute('title')).toMatch(/^0x[0-9a-f]{64}$/)
      expect(await hash.textContent()).toHaveLength(13)

      const summary = part('Outputs').getByRole('region', { name: 'summary' })
      await summary.getByRole('button', { name: 'Show' }).click()
      await summary.getByLabel('Output of summary').getByText('"summary": ').waitFor()

      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download receipt' }).click(),
      ])
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
        job: { jobId: idIn(link) },
      })
      expect(JSON.parse(await millrace('prove', 'receipt', await file.path(), '--json'))).toMatchObject({
        holds: true,
        jobId: idIn(link),
      })
    })

    test('what failed is bought again and reviewed by the commands of the page', async () => {
      const first = await buy({
        nodes: [node('fine', '/echo', { message: 1 }), node('bad', '/echo', { fail: true })],
      })
      await page.goto(first)
      await state('partly succeeded').waitFor()
      const review = part('Commands').getByLabel('Rating')
      await review.selectOption('4')
      const reviewed = JSON.parse(await folder.commands(await commandOf('Review')))
      expect(reviewed).toMatchObject({ jobId: idIn(first), reward: { status: 'ineligible' } })
      expect(reviewed.reward.reason).not.toBe('payer_unproved')
      const kept = await fetch(`${program.origin}/v1/jobs/${idIn(first)}/feedback`)
      expect(await kept.json()).toMatchObject({ review: { rating: 4 } })
      const second = await folder.commands(await commandOf('Try again'))
      expect(idIn(second)).not.toBe(idIn(first))
      await page.getByLabel('Job id').fill(second)
      await page.getByRole('button', { name: 'Open' }).click()
      await part('Calls by stage').getByRole('article', { name: 'fine' }).getByText('carried over').waitFor()
      expect(page.url()).toContain(idIn(second))
      const recent = part('Opened lately in this browser').getByRole('listitem')
      await expect.poll(() => recent.first().getByRole('link').textContent()).toBe(idIn(second))
      await page.goBack()
      await expect.poll(() => recent.first().getByRole('link').textContent()).toBe(idIn(first))
      await recent.first().getByRole('button', { name: 'Forget' }).click()
      expect(await recent.getByText(idIn(first)).count()).toBe(0)
    })

    test('a job that runs is shown as it goes on, and is ended by its command', async () => {
      await page.goto(await buy(longPlan))
      await state('running').waitFor()
      const stages = part('Calls by stage')
      await stages.getByRole('article', { name: 'r0' }).getByText('succeeded').waitFor()
      const cancelled = await folder.commands(await commandOf('Cancel'))
      expect(JSON.parse(cancelled)).toMatchObject({ ready: false })
      await state('cancelled').waitFor()
      await stages.getByRole('article', { name: 'r11' }).getByText('cancelled', { exact: true }).waitFor()
      await part('Money')
        .getByRole('row', { name: /refund/ })
        .waitFor()
    })

    test('an id that is none is said to be none, and so is an order that came to nothing', async () => {
      const jobId = '0d9c1f3e-5a7b-4c2d-8e9f-0123456789ab'
      await open('#view=job')
      await page.getByLabel('Job id').fill('a job')
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByText('A job id is a UUID').waitFor()
      await page.getByLabel('Job id').fill(jobId)
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByText('No job has this id.').waitFor()

      const settles = await awaitsSettlement(jobId)
      await page.getByRole('button', { name: 'Open' }).click()
      await state('payment pending').waitFor()
      await page.getByText('Its payment has not settled yet.').waitFor()
      settles()
      await page.getByText('The order came to nothing').waitFor()
    })

    test('nothing of it is out of a narrow window, and no page complained', async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      const link = await buy({ nodes: [node('one', '/echo', { message: 'x'.repeat(200) })] })
      expect(await pageWidth(page)).toBe(390)
      await page.goto(link)
      await state('succeeded').waitFor()
      await part('Outputs').getByRole('button', { name: 'Show' }).click()
      await part('Outputs').getByLabel('Output of one').waitFor()
      expect(await pageWidth(page)).toBe(390)
      expect(complaints).toEqual([])
    })
  })
})
