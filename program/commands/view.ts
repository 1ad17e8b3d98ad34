/**
 * Shows a program's state while it runs: redrawn in place on a terminal, a plain line now and then
 * elsewhere.
 */
import type { StatusSource } from '#api/routes/service/status.ts'
import type { Screen } from '#console/terminal/screen.ts'
import { renderReport, type Sample, summarize } from '#console/terminal/terminal.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

export interface ViewOptions {
  readonly status: Pick<StatusSource, 'status'>
  /** Where the API answers. */
  readonly address: string
  readonly clock: Clock
  readonly screen: Screen
  readonly signal: AbortSignal
}

const REDRAW_MS = 500
const LINE_MS = 10_000
/** Rates are taken over this many redraws. */
const RATE_SAMPLES = 10

/** Runs until the signal; never rejects, because nothing depends on being watched. */
export async function startView(options: ViewOptions): Promise<void> {
  const { screen, address, signal, clock } = options
  screen.print(`Millrace answers at ${address}   (${address}/docs, ${address}/status)`)
  const show = screen.isTerminal ? redraw(options) : printLine(options)
  const pauseMs = screen.isTerminal ? REDRAW_MS : LINE_MS
  await repeat({ clock, signal, failed: () => pauseMs }, async () => {
    await show()
    return pauseMs
  })
}

function printLine({ status, screen }: ViewOptions): () => Promise<void> {
  return async () => screen.print(summarize(await status.status()))
}

function redraw({ status, screen, clock, address, signal }: ViewOptions): () => Promise<void> {
  const samples: Sample[] = []
  return async () => {
    const sample = { report: await status.status(), atMs: clock.monotonic() }
    // The last picture stays: what is printed from here on goes below it.
    if (signal.aborted) return
    screen.draw([`${address}   Ctrl-C ends it`, ...renderReport(sample, samples[0] ?? null)])
    samples.push(sample)
    if (samples.length > RATE_SAMPLES) samples.shift()
  }
}
