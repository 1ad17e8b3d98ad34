/** An order and the course of its money, as whoever has a job's id is told. */
import * as s from '#http/schema.ts'
import { decimalText } from '#money/amounts.ts'
import type { PayerPayout } from '#rows/jobs/payerJobs.ts'
import type { ReadJob } from '#rows/jobs/reads.ts'

export const payoutSchema = s.named('PayerPayout', {
  status: s.text({ description: '`queued`, `sending` or `paid`.' }),
  amount: s.decimal,
  transactionHash: s.optional(s.hash),
})

export const orderSchema = s.named('JobOrder', {
  planHash: s.text({ description: 'SHA-256 of the plan as canonical JSON (RFC 8785), in hex.' }),
  charged: s.decimal,
  currency: s.text(),
  state: s.text({ description: '`queued`, `running`, or how it ended.' }),
  refund: s.optional(payoutSchema),
  createdAt: s.timestamp,
  endedAt: s.optional(s.timestamp),
})

export const presentOrder = (
  { planHash, chargedUnits, decimals, currency, state, createdAt, endedAt }: ReadJob,
  refund: PayerPayout | null,
): s.Static<typeof orderSchema> => ({
  ...{ planHash, currency, state },
  charged: decimalText(chargedUnits, decimals),
  ...(refund && { refund: presentPayout(refund) }),
  createdAt: s.isoSeconds(createdAt.getTime() / 1_000),
  ...(endedAt && { endedAt: s.isoSeconds(endedAt.getTime() / 1_000) }),
})

export const presentPayout = ({
  state,
  amount,
  tokenDecimals,
  transactionHash,
}: PayerPayout): s.Static<typeof payoutSchema> => ({
  status: state,
  amount: decimalText(amount, tokenDecimals),
  ...(transactionHash && { transactionHash }),
})
