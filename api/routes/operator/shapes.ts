/** Paging and members that the operator's lists share, and the wallet's shape. */
import { type PageRules, webhookPageRules } from '#http/request/pagination.ts'
import * as s from '#http/schema.ts'

/** Newest first, by cursor alone: tables of money grow without end. */
export const moneyPageRules: PageRules = {
  ...webhookPageRules,
  limitDefault: 25,
  limitMax: 200,
  modes: 'cursorOnly',
}

export const decimals = s.nullable(
  s.integer({ minimum: 0, description: 'Of the currency; null where nobody knows.' }),
)

/** An amount with the token that it is of. */
export const moneyMembers = {
  chainId: s.integer(),
  currency: s.address,
  decimals,
  amount: s.amount,
}

export const isoOf = (moment: Date): string => s.isoSeconds(Math.floor(moment.getTime() / 1_000))

const dollars = s.decimal

export const wallet = s.named('OperatorWallet', {
  address: s.text(),
  paused: s.nullable(s.timestamp),
  pauseReason: s.nullable(s.text()),
  awaitsReconciliation: s.boolean({
    description: 'The database was restored: nothing is paid until what it does not know has ended.',
  }),
  balances: s.array(
    s.named('WalletBalance', {
      chainId: s.integer(),
      token: s.address,
      amount: s.nullable(s.text({ description: 'Whole tokens; null where no node answers.' })),
    }),
  ),
  day: s.text({ description: 'UTC.', examples: ['2026-11-26'] }),
  limits: s.named('WalletLimits', {
    ...{ job: dollars, day: dollars, service: dollars, payee: dollars, payer: dollars },
  }),
  left: s.text({ description: 'Dollars of the day’s limit that are neither spent nor held.' }),
  reserved: s.text({ description: 'Worst case of payments under way; in the sums of the day.' }),
  held: s.text({ description: 'Dollars that jobs of the day may still spend.' }),
  spent: s.array(
    s.named('WalletSpent', {
      kind: s.oneOf(['all', 'service', 'payee', 'payer']),
      subject: s.text({ description: 'Id of a service, or an address; empty for all together.' }),
      dollars,
    }),
  ),
})
export type WalletTold = s.Static<typeof wallet>
