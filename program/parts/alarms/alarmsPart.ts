/** Alarms, and what /metrics tells of chains, disk and process. */
import { registry } from '#telemetry.ts'
import type { JobsPart } from '../jobs/jobsPart.ts'
import type { ParityPart } from '../parity/parityPart.ts'
import type { Base, Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WalletPart } from '../wallet/walletPart.ts'
import type { WebhooksPart } from '../webhooks/webhooksPart.ts'
import { openGauges, startCounters } from './gauges.ts'
import { type Alarms, openAlarms } from './openAlarms.ts'

export interface AlarmsPart extends Part {
  readonly watch: Alarms['watch']
}

/** The parts whose state is looked at. */
interface Alarmed {
  readonly parity: ParityPart
  readonly webhooks: WebhooksPart
  readonly payments: PaymentsPart
  readonly wallet: WalletPart
  readonly jobs: JobsPart
}

export function openAlarmsPart(
  base: Base,
  { parity, webhooks, payments, wallet, jobs }: Alarmed,
): AlarmsPart {
  const { config, program } = base
  const { chains } = program
  const looked = {
    parity: parity.services.parity,
    problemsOf: webhooks.problemsOf,
    findingsOf: payments.findingsOf,
    channelProblemOf: payments.channelProblemOf,
    ofWallet: wallet.problems,
    ofSuspensions: jobs.problems,
  }
  const { watch, run } = openAlarms(config, chains, looked, base)
  const { dataDir } = config
  openGauges({ registry, chains, dataDir, clock: base.runtime.clock, webhooks: webhooks.watch })
  startCounters(chains)
  return { services: {}, watch, run: ({ shutdown }) => run(shutdown) }
}
