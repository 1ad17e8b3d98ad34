/** The services of the program: one line each, after those that it stands on. */
import type { Endpoint } from '#http/endpoint.ts'
import { accessPart } from './access/accessPart.ts'
import { secretsPart } from './access/secretsPart.ts'
import { conditions } from './alarms/conditions.ts'
import { chainDataPart } from './chainData/chainDataPart.ts'
import { jobsPart } from './jobs/jobsPart.ts'
import { moneyPart } from './money/moneyPart.ts'
import { openAll } from './openAll.ts'
import { orchestratorPart } from './orchestrator/orchestratorPart.ts'
import { noParts } from './PartList.ts'
import { parityPart } from './parity/parityPart.ts'
import type { Base } from './part.ts'
import { paymentsPart } from './payments/paymentsPart.ts'
import { queryPart } from './query/queryPart.ts'
import { receiptsPart } from './receipts/receiptsPart.ts'
import { reviewsPart } from './reviews/reviewsPart.ts'
import { walletPart } from './wallet/walletPart.ts'
import { webhooksPart } from './webhooks/webhooksPart.ts'

export const parts = noParts
  .with(secretsPart)
  .with(chainDataPart)
  .with(paymentsPart)
  .with(accessPart)
  .with(queryPart)
  .with(webhooksPart)
  .with(parityPart)
  .with(walletPart)
  .with(jobsPart)
  .with(orchestratorPart)
  .with(reviewsPart)
  .with(receiptsPart)
  .with(moneyPart)

export const { endpoints } = parts

/** The services that all endpoints ask for. */
export type Services = typeof endpoints extends readonly Endpoint<infer Asked>[] ? Asked : never

/** Codes of all alarms: those of chains, and those of parts. */
export const alarmCodes = [...conditions, ...parts.alarms].map(({ code }) => code)

export type Parts = Awaited<ReturnType<typeof openParts>>

/** @throws what prevents a part from working, each error naming its setting */
export const openParts = (base: Base) => openAll(base, parts)
