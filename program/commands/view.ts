/** Shows a program's state while it runs, redrawn in place; only its address without a terminal. */
import type { StatusSource } from '#api/routes/service/status.ts'
import type { Screen } from '#console/terminal/Screen.ts'
import { renderReport, type Sample } from '#console/terminal/terminal.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

export interface ViewOptions {
  readonly status: Pick<StatusSource, 'status'>
  /** The address of the API. */
  readonly address: string
  readonly clock: Clock
  readonly screen: Screen
  readonly signal: AbortSignal
}

const REDRAW_MS = 500
/** Rates are taken over this many redraws. */
const RATE_SAMPLES = 10

/** Runs until the signal; never rejects, because nothing depends on being watched. */
export async function startView(options: ViewOptions): Promise<void> {
  const { screen, address, signal, clock } = options
  screen.print(`Millrace answers at ${address}   (${address}/docs, ${address}/status)`)
  if (!screen.isTerminal) return
  const show = redraw(options)
  await repeat({ clock, signal, failed: () => REDRAW_MS }, async () => {
    await show()
    return REDRAW_MS
  })
}

function redraw({ status, screen, clock, address, signal }: ViewOptions): () => Promise<void> {
  const samples: Sample[] = []
  return async () => {
    const sample = { report: await status.status(), atMs: clock.monotonic(), nowMs: clock.now() }
    // The last picture stays: what is printed from here on goes below it.
    if (signal.aborted) return
    screen.draw([`${address}   Ctrl-C ends it`, ...renderReport(sample, samples[0] ?? null)])
    samples.push(sample)
    if (samples.length > RATE_SAMPLES) samples.shift()
  }
}
