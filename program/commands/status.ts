/** `millrace status`: asks a running program over its API. */
import { type Report, renderReport, type Sample } from '#console/terminal/terminal.ts'
import { messageOf, SettingError } from '#errors.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Config } from '../config.ts'

export interface StatusOptions {
  readonly watch: boolean
  readonly json: boolean
}

const WATCH_MS = 1_000
const TIMEOUT_MS = 10_000

/**
 * Prints one report, or one a second until interrupted. @throws SettingError when nothing answers
 * at HOST:PORT
 */
export async function printStatus(
  config: Config,
  options: StatusOptions,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  let before: Sample | null = null
  await repeat({ clock, signal: stop }, async () => {
    const report = await fetchReport(config)
    const sample: Sample = { report, atMs: clock.monotonic(), nowMs: clock.now() }
    const text = options.json ? JSON.stringify(report) : renderReport(sample, before).join('\n')
    process.stdout.write(`${text}\n`)
    before = sample
    return options.watch ? WATCH_MS : 'ended'
  })
}

async function fetchReport({ host, port }: Config): Promise<Report> {
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/status`)
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    return (await answer.json()) as Report
  } catch (cause) {
    // fetch says no more than that it failed; what happened is in its cause.
    const reason = messageOf(cause instanceof Error && cause.cause ? cause.cause : cause)
    throw new SettingError('PORT', `no Millrace answers at ${url.host} (${reason})`, { cause })
  }
}
