/** The program's news of itself: /health, /ready and /status. */
import type { SystemServices } from '#api/routes/service/system.ts'
import type { AlarmsPart } from '../alarms/alarmsPart.ts'
import { parityStatusOf } from '../parity/parity.ts'
import type { ParityPart } from '../parity/parityPart.ts'
import type { Base, Part } from '../part.ts'
import type { WebhooksPart } from '../webhooks/webhooksPart.ts'
import { createStatusSource } from './status.ts'

/** The parts that have a place of their own in /status. */
export interface Reported {
  readonly parity: ParityPart
  readonly webhooks: WebhooksPart
}

/** @param parts all of them, for their notes */
export function openStatusPart(
  { program, runtime, shutdown, notes }: Base,
  { parity, webhooks }: Reported,
  alarms: AlarmsPart,
  parts: readonly Part[],
): Part<SystemServices> {
  const status = createStatusSource({
    chains: program.chains,
    postgres: program.engines.postgres,
    runtime,
    local: program.localIds,
    notes: () => [...notes, ...parts.flatMap((part) => part.notes ?? [])],
    parityOf: ({ state }) => parityStatusOf(parity.services.parity, state.chainId),
    alarms: alarms.watch,
    webhooks: webhooks.watch,
  })
  return { services: { status, clock: runtime.clock, shutdown } }
}
