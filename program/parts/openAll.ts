/** Parts as one: open, with the alarms and the /status that tell of all of them. */
import type { SystemServices } from '#api/routes/service/system.ts'
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { openAlarmsPart } from './alarms/alarmsPart.ts'
import type { OpenedParts } from './PartList.ts'
import type { AlarmKind, Base, Part, Running } from './part.ts'
import { openStatusPart, type Reported } from './status/statusPart.ts'

/** The part of a list that is needed here. */
interface Listed<Beside extends object, Services extends object> {
  readonly alarms: readonly AlarmKind[]
  readonly open: (base: Base) => Promise<OpenedParts<Beside, Services>>
}

interface Whole<Beside extends object, Services extends object> {
  /** By name. */
  readonly beside: Beside
  readonly services: Services & SystemServices
  /** Resolves when every part has ended; one that ends before its time is told to the log. */
  run(running: Running): Promise<unknown>
  /** In reverse. */
  close(): Promise<void>
}

/** @throws what prevents a part from working, each error naming its setting */
export async function openAll<Beside extends Reported, Services extends object>(
  base: Base,
  list: Listed<Beside, Services>,
): Promise<Whole<Beside, Services>> {
  const { beside, services, all } = await list.open(base)
  const alarms = openAlarmsPart(base, list.alarms, all)
  const status = openStatusPart(base, beside, alarms, all)
  const parts = [...all, alarms]
  return {
    beside,
    services: { ...services, ...status.services },
    run: (running) => Promise.all(parts.map((part) => runTold(part, running, base.log))),
    close: async () => {
      for (const part of parts.toReversed()) await part.close?.()
    },
  }
}

async function runTold(part: Part, running: Running, log: Logger): Promise<void> {
  try {
    await part.run?.(running)
  } catch (error) {
    log.error({ problem: messageOf(error) }, 'a service of the program has ended')
  }
}
