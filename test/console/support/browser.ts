/** The machine's own Chromium, driven over its debugging port. */
import { accessSync, constants } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

const places = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = places.find(isExecutable)

/** A `describe` whose tests need a browser; where there is none it says so. */
export function describeInBrowser(title: string, define: () => void): void {
  if (executablePath === undefined)
    // biome-ignore lint/suspicious/noConsole: a skipped check must be seen in any reporter
    console.warn(`SKIPPED: ${title}: no Chromium here; CHROMIUM names one`)
  describe.runIf(executablePath !== undefined)(title, define)
}

/** Containers run tests as root, where Chromium has no sandbox, and give little shared memory. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    timeout: 120_000,
  })

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return path !== ''
  } catch {
    return false
  }
}
