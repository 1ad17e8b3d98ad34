/** Alarms of all chains of a running program, told to their owner where an address is set. */
import type { SuspensionProblem } from '#orchestrator/verify/SuspensionWatch.ts'
import { metrics } from '#telemetry.ts'
import type { WalletProblem } from '#wallet/spend/WalletWatch.ts'
import type { Chain } from '../../chain/chain.ts'
import type { Config } from '../../config.ts'
import { type Parity, parityStatusOf } from '../parity/parity.ts'
import type { Base } from '../part.ts'
import { AlarmWatch } from './AlarmWatch.ts'
import { alarmCodes, alarmsOf } from './alarms.ts'
import { AlarmWebhook } from './alarmWebhook.ts'
import { StallWatch } from './StallWatch.ts'
import type { StreamProblem, Watched } from './watched.ts'

export interface Alarms {
  readonly watch: AlarmWatch
  /** Watches and tells until aborted. */
  run(signal: AbortSignal): Promise<unknown>
}

/** What is looked at beside chains. */
interface Looked {
  readonly parity: Parity['reads']
  readonly problemsOf: (chainId: number) => readonly StreamProblem[]
  readonly findingsOf: (chainId: number) => Watched['payments']
  readonly channelProblemOf: (chainId: number) => string | null
  readonly ofWallet: () => readonly WalletProblem[]
  readonly ofSuspensions: () => readonly SuspensionProblem[]
}

export function openAlarms(
  { alarms }: Pick<Config, 'alarms'>,
  chains: readonly Chain[],
  looked: Looked,
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
    return {
      ...{ state, profile, nodes, relay, forks, certificates, ...sayings, stall },
      parity: parityStatusOf(looked.parity, state.chainId),
      webhooks: looked.problemsOf(state.chainId),
      payments: looked.findingsOf(state.chainId),
      channels: looked.channelProblemOf(state.chainId),
    }
  }
  startAlarmSeries(chains)
  const watch = new AlarmWatch({
    read: () => [
      ...chains.flatMap((chain) => alarmsOf(watched(chain))),
      ...looked.ofWallet(),
      ...looked.ofSuspensions(),
    ],
    tell: (note) => webhook?.tell(note),
    clock: runtime.clock,
    log,
  })
  return { watch, run: (signal) => Promise.all([watch.run(signal), webhook?.run(signal)]) }
}

/** Series are there from the start: what has never been raised is 0, and not missing. */
export function startAlarmSeries(chains: readonly { readonly state: { readonly chainId: number } }[]): void {
  for (const { state } of chains)
    for (const code of alarmCodes) metrics.alarm.set({ chain: `${state.chainId}`, code }, 0)
}
