/** Asks /status again and again while somebody can see the page. */
import { RequestFailure } from '../model/queryAnswer.ts'
import type { StatusReport } from '../model/wire.ts'
import { readStatus } from './api.ts'
import { browserClock } from './browserClock.ts'

/** A report and when it came; null while the program does not answer. */
export interface StatusSample {
  readonly report: StatusReport | null
  readonly atMs: number
}

const INTERVAL_MS = 2_000
/** An answer that takes longer says that the program is in trouble. */
const ANSWER_MS_MAX = 10_000

/** Tells `seen` of every report, for as long as the page lives. */
export async function followStatus(seen: (sample: StatusSample) => void): Promise<never> {
  for (;;) {
    await visible()
    const report = await readStatus(AbortSignal.timeout(ANSWER_MS_MAX)).catch(nothingFrom)
    seen({ report, atMs: browserClock.monotonic() })
    await browserClock.sleep(INTERVAL_MS)
  }
}

function nothingFrom(error: unknown): null {
  const expected = error instanceof RequestFailure || error instanceof DOMException
  if (!expected) throw error
  return null
}

/** A hidden page costs the program nothing. */
const visible = (): Promise<void> =>
  new Promise((resolve) => {
    if (!document.hidden) return resolve()
    const check = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', check)
      resolve()
    }
    document.addEventListener('visibilitychange', check)
  })
