/** Alarms of all chains of a running program, told to their owner where an address is set. */
import { chainId } from '#primitives.ts'
import type { Runtime } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Chain } from '../chain/chain.ts'
import type { Config } from '../config.ts'
import { type Parity, parityStatusOf } from '../parity.ts'
import { AlarmWatch } from './AlarmWatch.ts'
import { alarmsOf } from './alarms.ts'
import { AlarmWebhook } from './alarmWebhook.ts'

export interface Alarms {
  readonly watch: AlarmWatch
  /** Resolves when watching and telling have ended, after the signal. */
  readonly ended: Promise<unknown>
}

/** Watches until aborted. */
export function openAlarms(
  { alarms }: Pick<Config, 'alarms'>,
  chains: readonly Chain[],
  parity: Parity,
  { runtime, log }: { readonly runtime: Runtime; readonly log: Logger },
  signal: AbortSignal,
): Alarms {
  const webhook = alarms && new AlarmWebhook({ ...alarms, runtime, log })
  const watch = new AlarmWatch({
    read: () =>
      chains.flatMap((chain) => alarmsOf(chain, parityStatusOf(parity, chainId(chain.state.chainId)))),
    tell: (note) => webhook?.tell(note),
    clock: runtime.clock,
    log,
  })
  return { watch, ended: Promise.all([watch.run(signal), webhook?.run(signal)]) }
}
