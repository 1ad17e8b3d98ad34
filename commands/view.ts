/** Shows a program's state while it runs: redrawn in place on a terminal, a plain line now and then elsewhere. */
import type { WriteStream } from 'node:tty'
import type { StatusSource } from '#api/routes/status.ts'
import { renderReport, type Sample, summarize } from '#console/terminal.ts'
import type { Clock } from '../runtime.ts'

export interface ViewOptions {
  readonly status: Pick<StatusSource, 'status'>
  /** Where the API answers. */
  readonly address: string
  readonly clock: Clock
  readonly stream: WriteStream
  readonly signal: AbortSignal
}

const REDRAW_MS = 500
const LINE_MS = 10_000
/** Rates are taken over this many redraws. */
const RATE_SAMPLES = 10

/** Runs until the signal; never rejects, because nothing depends on being watched. */
export async function startView(options: ViewOptions): Promise<void> {
  const { stream, address, signal } = options
  stream.write(`Millrace answers at ${address}   (${address}/docs, ${address}/status)\n`)
  const show = stream.isTTY ? redraw(options) : printLine(options)
  while (!signal.aborted) {
    await show().catch(() => {})
    await options.clock.sleep(stream.isTTY ? REDRAW_MS : LINE_MS, signal).catch(() => {})
  }
}

function printLine({ status, stream }: ViewOptions): () => Promise<void> {
  return async () => {
    stream.write(`${summarize(await status.status())}\n`)
  }
}

function redraw({ status, stream, clock }: ViewOptions): () => Promise<void> {
  const samples: Sample[] = []
  let drawn = 0
  return async () => {
    const sample = { report: await status.status(), atMs: clock.monotonic() }
    const lines = renderReport(sample, samples[0] ?? null).map((line) => line.slice(0, stream.columns))
    samples.push(sample)
    if (samples.length > RATE_SAMPLES) samples.shift()
    if (drawn > 0) stream.moveCursor(0, -drawn)
    stream.cursorTo(0)
    stream.clearScreenDown()
    stream.write(`${lines.join('\n')}\n`)
    drawn = lines.length
  }
}
