/**
 * Numbers of the advisory locks that hold work in a line, in the database that all chains share. Any
 * numbers do, as long as each is one purpose's alone: two that are equal wait for each other.
 */
export const advisoryLocks = {
  /** Programs that migrate. */
  migrations: 7_414_214_217,
  /** Imports of services. */
  imports: 7_414_214_218,
  /** Rewards that become owed. */
  rewards: 7_414_214_219,
  /** Small debts that are joined to one transfer. */
  collecting: 7_414_214_220,
  /** Payouts that count against a day's budget. */
  payoutBudget: 7_414_214_221,
} as const
