/** The alarm of a chain whose streams of webhooks do not move. */
import type { Alarm } from '../part.ts'

/** A stream, and why it does not move. */
interface Standing {
  readonly stream: string
  readonly problem: string | null
}

export function stalledAlarms(chainId: number, streams: readonly Standing[]): readonly Alarm[] {
  const standing = streams.flatMap(({ stream, problem }) => (problem === null ? [] : `${stream}: ${problem}`))
  return standing.length === 0 ? [] : [{ chainId, code: 'webhooks_stalled', problem: standing.join('; ') }]
}
