/**
 * The parts of the program, each after those that it stands on. A new service is a folder beside
 * these, and here its line, its place in the list and its services.
 */
import { endpoints as apiEndpoints, operatorEndpoints, type RouteServices } from '#api/routes/index.ts'
import type { MoneyServices } from '#api/routes/operator/services.ts'
import { messageOf } from '#errors.ts'
import type { Endpoint } from '#http/endpoint.ts'
import { type McpServices, mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import type { ReviewServices } from '#orchestrator/rest/jobs/feedback.ts'
import { jobReadEndpoints, receiptEndpoints, reviewEndpoints } from '#orchestrator/rest/jobs/index.ts'
import type { JobReadServices } from '#orchestrator/rest/jobs/readJob.ts'
import type { ReceiptServices } from '#orchestrator/rest/jobs/receipt.ts'
import type { Logger } from '#telemetry.ts'
import { type AccessPart, openAccessPart } from './access/accessPart.ts'
import { openAlarmsPart } from './alarms/alarmsPart.ts'
import { openChainDataPart } from './chainData/chainDataPart.ts'
import { openJobsPart } from './jobs/jobsPart.ts'
import { openMoneyPart } from './money/moneyPart.ts'
import { openOrchestratorPart } from './orchestrator/orchestratorPart.ts'
import { openParityPart } from './parity/parityPart.ts'
import type { Base, Part, Running } from './part.ts'
import { openPaymentsPart, type PaymentsPart } from './payments/paymentsPart.ts'
import { openQueryPart } from './query/queryPart.ts'
import { openReceiptsPart } from './receipts/receiptsPart.ts'
import { openReviewsPart } from './reviews/reviewsPart.ts'
import { openStatusPart } from './status/statusPart.ts'
import { openWalletPart } from './wallet/walletPart.ts'
import { openWebhooksPart } from './webhooks/webhooksPart.ts'

export type Services = RouteServices &
  McpServices &
  JobReadServices &
  ReviewServices &
  ReceiptServices &
  MoneyServices

export const endpoints: readonly Endpoint<Services>[] = [
  ...apiEndpoints,
  ...orchestratorEndpoints,
  ...jobReadEndpoints,
  ...reviewEndpoints,
  ...receiptEndpoints,
  ...operatorEndpoints,
  mcpEndpoint,
]

export interface Parts {
  readonly services: Services
  readonly access: AccessPart
  readonly payments: PaymentsPart
  /** Resolves when every part has ended; one that ends before its time is told to the log. */
  run(running: Running): Promise<unknown>
  /** In reverse. */
  close(): Promise<void>
}

/** @throws what prevents a part from working, each error naming its setting */
export async function openParts(base: Base): Promise<Parts> {
  const { secrets, runtime, log } = base
  // Another process may exchange them.
  const keys: Part = {
    services: {},
    run: ({ shutdown }) => secrets.run(runtime.clock, log, shutdown),
  }
  const payments = await openPaymentsPart(base)
  const access = await openAccessPart(base, payments)
  const query = await openQueryPart(base)
  const webhooks = await openWebhooksPart(base)
  const parity = openParityPart(base)
  const wallet = await openWalletPart(base)
  const jobs = openJobsPart(base, wallet)
  const alarms = openAlarmsPart(base, { parity, webhooks, payments, wallet, jobs })
  const orchestrator = openOrchestratorPart(base, { ...payments, ...wallet, ...jobs })
  const reviews = openReviewsPart(base, payments)
  const receipts = await openReceiptsPart(base)
  const money = openMoneyPart(base, payments, wallet)
  const chainData = openChainDataPart(base)
  const parts: readonly Part[] = [
    keys,
    payments,
    access,
    query,
    webhooks,
    parity,
    wallet,
    alarms,
    orchestrator,
    jobs,
    reviews,
    receipts,
    money,
    chainData,
  ]
  const notes = () => parts.flatMap((part) => part.notes ?? [])
  const status = openStatusPart(base, { alarms, parity, webhooks }, notes)
  return {
    services: {
      ...access.services,
      ...query.services,
      ...webhooks.services,
      ...parity.services,
      ...orchestrator.services,
      ...jobs.services,
      ...reviews.services,
      ...receipts.services,
      ...money.services,
      ...chainData.services,
      ...status.services,
    },
    access,
    payments,
    run: (running) => Promise.all(parts.map((part) => runTold(part, running, log))),
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
