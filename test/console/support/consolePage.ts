/** The console in a browser's page, as its reader uses it. */
import { readFile } from 'node:fs/promises'
import type { BrowserContext, Locator, Page } from 'playwright-core'

export class ConsolePage {
  readonly page: Page
  readonly summary: Locator
  readonly failure: Locator
  /** Complaints of the page, and its requests to anybody but its own server. */
  readonly complaints: string[] = []

  private constructor(page: Page, origin: string) {
    this.page = page
    this.summary = page.locator('#summary')
    this.failure = page.locator('#failure')
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('console', (message) => {
      // A refused query is an answer like any other; the browser writes every 4xx down.
      const expected = message.text().includes('status of 422')
      if (message.type() === 'error' && !expected) this.complaints.push(message.text())
    })
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) this.complaints.push(`asked ${url}`)
    })
  }

  /** Opened, with its tables listed and, without a link of its own, its first example run. */
  static async open(context: BrowserContext, origin: string, fragment = ''): Promise<ConsolePage> {
    const opened = new ConsolePage(await context.newPage(), origin)
    await opened.page.goto(`${origin}/${fragment}`)
    await opened.page.locator('#relations details').first().waitFor()
    await opened.summary.filter({ hasText: /\S/ }).waitFor()
    return opened
  }

  async write(sql: string): Promise<void> {
    await this.page.locator('.cm-content').click()
    await this.page.keyboard.press('ControlOrMeta+a')
    await this.page.keyboard.press('Delete')
    await this.page.keyboard.insertText(sql)
    await this.page.keyboard.press('Escape')
  }

  text(): Promise<string> {
    return this.page
      .locator('.cm-line')
      .allInnerTexts()
      .then((lines) => lines.join('\n'))
  }

  async use(engine: 'Postgres' | 'ClickHouse'): Promise<void> {
    await this.page.locator('#engine label', { hasText: engine }).click()
  }

  /** Resolves when it has an answer or a refusal. */
  async press(name: 'run' | 'explain'): Promise<void> {
    await this.page.locator(`#${name}`).click()
    await this.ended()
  }

  async run(sql: string): Promise<void> {
    await this.write(sql)
    await this.press('run')
  }

  /** Resolves when the result says that it follows the chain. */
  async live(says: RegExp): Promise<void> {
    await this.page.locator('#live').click()
    await this.summary.filter({ hasText: says }).waitFor()
  }

  async stop(): Promise<void> {
    await this.page.locator('#stop').click()
    await this.ended()
  }

  /** Holds back the answers of queries until what it returns is called. */
  async holdQueries(context: BrowserContext): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await context.route('**/v1/indexer/query', async (route) => {
      await promise
      await route.continue()
    })
    return resolve
  }

  /** The first proposal of the editor with such a text. */
  completions(text: RegExp): Locator {
    return this.page.locator('.cm-tooltip-autocomplete li').filter({ hasText: text }).first()
  }

  /** Shows the result as a chart of that name. */
  async chart(name: string): Promise<void> {
    await this.page.locator('#tab-chart').click()
    await this.page.getByRole('img', { name }).waitFor()
  }

  /** Moves the chart's reading to its last values. */
  async readLast(): Promise<void> {
    await this.page.locator('.canvas').focus()
    await this.page.keyboard.press('End')
  }

  /** The text of a file that the result is saved as. */
  async download(kind: 'csv' | 'json'): Promise<string> {
    const button = this.page.locator(`#download-${kind}`)
    const [file] = await Promise.all([this.page.waitForEvent('download'), button.click()])
    return readFile(await file.path(), 'utf8')
  }

  ended(): Promise<void> {
    return this.page.locator('html:not(.running)').waitFor()
  }

  relations(): Promise<string[]> {
    return this.page.locator('#relations summary code').allInnerTexts()
  }

  /**
   * Cells of the rows that are in the document, of the grid that is shown, in the order of the screen;
   * read at once, because a live result moves.
   */
  rows(): Promise<string[][]> {
    return this.page.evaluate<string[][]>(`
      [...document.querySelectorAll('.panel:not([hidden]) .grid-body .grid-row')]
        .sort((a, b) => a.dataset.position - b.dataset.position)
        .map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent))`)
  }

  /** Different colours in the chart's canvas: an empty one has none, and one of gridlines few. */
  coloursDrawn(): Promise<number> {
    return this.page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.canvas canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      return new Set(new Uint32Array(data.buffer)).size
    })()`)
  }
}
