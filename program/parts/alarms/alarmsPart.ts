/** Alarms, and what /metrics tells of chains, disk and process. */
import { registry } from '#telemetry.ts'
import type { ParityPart } from '../parity/parityPart.ts'
import type { Base, Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WebhooksPart } from '../webhooks/webhooksPart.ts'
import { openGauges, startCounters } from './gauges.ts'
import { type Alarms, openAlarms } from './openAlarms.ts'

export interface AlarmsPart extends Part {
  readonly watch: Alarms['watch']
}

export function openAlarmsPart(
  base: Base,
  parity: ParityPart,
  webhooks: WebhooksPart,
  payments: PaymentsPart,
): AlarmsPart {
  const { config, program, egress, runtime, log } = base
  const { chains } = program
  const { watch, run } = openAlarms(config, chains, parity.services.parity, webhooks, payments, {
    egress,
    runtime,
    log,
  })
  const { dataDir } = config
  openGauges({ registry, chains, dataDir, clock: runtime.clock, webhooks: webhooks.watch })
  startCounters(chains)
  return { services: {}, watch, run: ({ shutdown }) => run(shutdown) }
}
