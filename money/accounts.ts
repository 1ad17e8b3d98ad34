/**
 * The chart of accounts of the books. An entry moves an amount on one of these accounts: what it
 * receives is positive, and the entries of a transaction sum to 0 in each currency. Accounts outside
 * of the service are payers' and channels'; all others are its own.
 */

/** Outside: a payer, by lowercase address. Less than nothing is what it has paid, less what it got back. */
export const payerAccount = (address: string): string => `payer:${address}`

/** Outside: a payment channel, by its id. It pays out later; until then its payer has paid nothing. */
export const channelAccount = (id: string): string => `channel:${id}`

/** Earned by what was sold in a scope, such as `data:read`. */
export const revenueAccount = (scope: string): string => `revenue:${scope}`
/** A LIKE pattern that the names of all accounts of revenue match. */
export const REVENUE_PATTERN = 'revenue:%'
/** Earned by jobs: what their payers paid, less what is held for them, given back or given away. */
export const REVENUE_OF_JOBS = revenueAccount('jobs')

/** Held for jobs that have not ended. */
export const ESCROW_OF_JOBS = 'escrow:jobs'

/** Owed to payers for what they paid and did not get. */
export const REFUNDS = 'refunds'
/** Owed to payers for reviews. */
export const REWARDS = 'rewards'
/** Owed to payers, by what for. */
export const owedAccounts = { refund: REFUNDS, reward: REWARDS } as const

/** The wallet's spending on sellers and fees of chains; less than nothing. */
export const WALLET = 'wallet'
/** Fees of chains that the sender of refunds and rewards has paid; less than nothing. */
export const PAYEE = 'payee'
/** Calls of jobs that were paid for and answered. */
export const COST_OF_CALLS = 'cost:jobs'
/** Calls of jobs that were paid for and not answered. */
export const COST_OF_UNDELIVERED = 'cost:undelivered'

/** Fees that chains took: of calls, refunds and rewards. */
export const COSTS_OF_FEES = 'costs:fees'
/** Refunds and rewards for payments that the chain took back afterwards; less than nothing. */
export const COSTS_OF_REVERSED = 'costs:reversed'
