/** A Chromium, the machine's own or that of a package, driven over its debugging port. */
import { accessSync, constants } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { hasPackagedChromium, packagedChromium } from './packagedChromium.ts'

const places = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const ownPath = places.find(isExecutable)
const hasBrowser = ownPath !== undefined || hasPackagedChromium

/** A `describe` whose tests need a browser; where there is none it says so. */
export function describeInBrowser(title: string, define: () => void): void {
  if (!hasBrowser)
    // biome-ignore lint/suspicious/noConsole: a skipped check must be seen in any reporter
    console.warn(`SKIPPED: ${title}: no Chromium here; CHROMIUM names one`)
  describe.runIf(hasBrowser)(title, define)
}

/** Containers run tests as root, where Chromium has no sandbox, and give little shared memory. */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, environment } =
    ownPath === undefined ? await packagedChromium() : { executablePath: ownPath, environment: {} }
  return await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...process.env, ...environment },
    timeout: 120_000,
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return path !== ''
  } catch {
    return false
  }
}
