import { durationLabel } from './rates.ts'
import type { ChainStatus } from './wire.ts'

/** The basis of the final blocks: `final by proof, certificate of block 12 checked 3 s ago`. */
export function finalityLabel(
  { finality, role }: Pick<ChainStatus, 'finality' | 'role'>,
  nowMs: number,
): string {
  const { rule, certificateHeight, lastCheckedMs, endpointsServing, statedKey } = finality
  const stated = statedKey
    ? `; the key from epoch ${statedKey.fromEpoch.toLocaleString('en-US')} on is stated, not seen signing`
    : ''
  const said = rule === 'proved' ? 'final by proof' : 'agreed by endpoints'
  if (certificateHeight === null || lastCheckedMs === null) return `${said}${stated}`
  // The clock of the browser may be behind the program's.
  const age = durationLabel(Math.max(0, nowMs - lastCheckedMs) / 1_000)
  // A process that stands by asks no endpoint.
  const served = endpointsServing === 0 && role === 'writer' ? ', no endpoint serves newer ones' : ''
  return `${said}, certificate of block ${certificateHeight.toLocaleString('en-US')} checked ${age} ago${served}${stated}`
}
