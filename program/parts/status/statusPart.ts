/** What the program tells of itself: /health, /ready and /status. */
import type { SystemServices } from '#api/routes/service/system.ts'
import type { AlarmsPart } from '../alarms/alarmsPart.ts'
import { parityStatusOf } from '../parity/parity.ts'
import type { ParityPart } from '../parity/parityPart.ts'
import type { Base, Part } from '../part.ts'
import type { WebhooksPart } from '../webhooks/webhooksPart.ts'
import { createStatusSource } from './status.ts'

/** The parts that have a place of their own in /status. */
interface Told {
  readonly alarms: AlarmsPart
  readonly parity: ParityPart
  readonly webhooks: WebhooksPart
}

/** @param notes what all parts tell */
export function openStatusPart(
  { program, runtime, shutdown, notes: known }: Base,
  { alarms, parity, webhooks }: Told,
  notes: () => readonly string[],
): Part<SystemServices> {
  const status = createStatusSource({
    chains: program.chains,
    postgres: program.engines.postgres,
    runtime,
    local: program.localIds,
    notes: () => [...known, ...notes()],
    parityOf: ({ state }) => parityStatusOf(parity.services.parity, state.chainId),
    alarms: alarms.watch,
    webhooks: webhooks.watch,
  })
  return { services: { status, clock: runtime.clock, shutdown } }
}
