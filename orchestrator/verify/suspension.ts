/** When calls that were paid for and brought nothing suspend their endpoint. Pure. */
import type { NewestCalls } from '#rows/catalog/suspensions.ts'

/** Calls that decide: a seller that fails now and then has one that it delivered among them. */
export const CALLS = 5

/**
 * Null if the endpoint is sold on. All of the newest calls must have failed. A buyer may have an input
 * that makes a seller fail, so one payer's word counts only if nobody else has called: it takes what
 * nobody uses from sale, at the price of five calls.
 */
export function reasonToSuspend({
  undelivered,
  payers,
  allPayers,
  codes,
}: Pick<NewestCalls, 'undelivered' | 'payers' | 'allPayers' | 'codes'>): string | null {
  const isHeard = payers > 1 || allPayers === payers
  if (undelivered < CALLS || !isHeard) return null
  return `its last ${CALLS} calls that jobs paid for were not delivered (${codes.join(', ')})`
}
