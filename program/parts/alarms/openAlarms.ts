/** Alarms of all chains of a running program, told to their owner where an address is set. */
import { metrics } from '#telemetry.ts'
import type { Chain } from '../../chain/Chain.ts'
import type { Config } from '../../config.ts'
import type { Alarm, AlarmKind, Base } from '../part.ts'
import { AlarmWatch } from './AlarmWatch.ts'
import { AlarmWebhook } from './AlarmWebhook.ts'
import { alarmsOf } from './alarms.ts'
import { conditions } from './conditions.ts'
import { StallWatch } from './StallWatch.ts'
import type { Watched } from './watched.ts'

export interface Alarms {
  readonly watch: AlarmWatch
  /** Watches and tells until aborted. */
  run(signal: AbortSignal): Promise<unknown>
}

/** Alarms of services. */
interface OfParts {
  readonly kinds: readonly AlarmKind[]
  readonly problems: () => readonly Alarm[]
}

export function openAlarms(
  { alarms }: Pick<Config, 'alarms'>,
  chains: readonly Chain[],
  ofParts: OfParts,
  { egress, runtime, log }: Pick<Base, 'egress' | 'runtime' | 'log'>,
): Alarms {
  const webhook = alarms && new AlarmWebhook({ ...alarms, egress, runtime, log })
  const stalls = new Map(chains.map((chain) => [chain, new StallWatch()]))
  const watched = (chain: Chain): Watched => {
    const { state, nodes, relay, forks, certificates } = chain
    const heads = nodes.endpoints().map(({ head }) => head ?? -1)
    const seen = { tip: state.tip, ahead: Math.max(-1, ...heads) }
    const stall = stalls.get(chain)?.look(seen, runtime.clock.monotonic()) ?? null
    const { headStatus, historyStatus, clickhouseStatus, storeProblem, unproved, followers, audit, profile } =
      chain
    const sayings = { headStatus, historyStatus, clickhouseStatus, storeProblem, unproved, followers, audit }
    return { ...{ state, profile, nodes, relay, forks, certificates }, ...sayings, stall }
  }
  const kinds = [...conditions, ...ofParts.kinds]
  startAlarmSeries(chains, kinds)
  const watch = new AlarmWatch({
    read: () => [...chains.flatMap((chain) => alarmsOf(watched(chain))), ...ofParts.problems()],
    kinds,
    tell: (note) => webhook?.tell(note),
    clock: runtime.clock,
    log,
  })
  return { watch, run: (signal) => Promise.all([watch.run(signal), webhook?.run(signal)]) }
}

/** Series are there from the start: what has never been raised is 0, and not missing. */
export function startAlarmSeries(
  chains: readonly { readonly state: { readonly chainId: number } }[],
  kinds: readonly AlarmKind[],
): void {
  for (const { state } of chains)
    for (const { code } of kinds) metrics.alarm.set({ chain: `${state.chainId}`, code }, 0)
}
