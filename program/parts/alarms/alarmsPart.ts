/** Alarms, and what /metrics tells of chains, parts, disk and process. */
import { registry } from '#telemetry.ts'
import type { AlarmKind, Base, Part } from '../part.ts'
import { openGauges, startCounters } from './gauges.ts'
import { type Alarms, openAlarms } from './openAlarms.ts'

export interface AlarmsPart extends Part {
  readonly watch: Alarms['watch']
}

/** @param kinds alarms of the parts */
export function openAlarmsPart(base: Base, kinds: readonly AlarmKind[], parts: readonly Part[]): AlarmsPart {
  const { config, program } = base
  const { chains } = program
  const problems = () => parts.flatMap((part) => part.problems?.() ?? [])
  const { watch, run } = openAlarms(config, chains, { kinds, problems }, base)
  const { dataDir } = config
  const gauges = parts.flatMap((part) => part.gauges ?? [])
  openGauges({ registry, chains, dataDir, clock: base.runtime.clock, gauges })
  startCounters(chains)
  return { services: {}, watch, run: ({ shutdown }) => run(shutdown) }
}
