/**
 * Amounts that a receiver refused and the guard holds (since T6): the token's logs tell of a movement to or
 * from the guard, and the guard's own log for whom. A feed tells both as one.
 */
import type { Address } from '#primitives.ts'
import { receivePolicyGuardAddress as guard, zeroAddress } from '../../addresses.ts'
import { receiptBurned, receiptClaimed, transferBlocked } from '../../events/tokens/receivePolicies.ts'
import type { LogFacts } from '../../projection.ts'
import { type ActivityTransaction, defineActivity, type HeldStep, type TokenMovement } from '../activity.ts'

/** Titles of a transfer, a mint and a burn that is a step of something held. */
export const heldTitles = {
  blocked: { transfer: 'Transfer held', mint: 'Mint held' },
  claimed: { transfer: 'Held transfer claimed' },
  burned: { burn: 'Held transfer burned' },
} as const

/** Each log of the guard marks one movement: the nearest before it, or else the nearest behind. */
export function markHeld(movements: TokenMovement[], logs: readonly LogFacts[]): void {
  for (const log of logs) {
    const told = log.address === guard ? stepOf(log) : null
    if (told === null) continue
    const fits = (movement: TokenMovement) => movement.held === null && isStep(movement, told)
    const before = movements.findLastIndex((one) => one.transferLogIndex < log.logIndex && fits(one))
    const position = before === -1 ? movements.findIndex(fits) : before
    const movement = movements[position]
    if (movement === undefined) continue
    const held = { step: told.step, receiver: told.receiver }
    movements[position] = { ...movement, logIndex: log.logIndex, held, burner: told.burner }
  }
}

/**
 * An account whose tokens were held, claimed by another or burned sees that it happened. Nothing
 * moved from or to it, so that it is no transfer of its own, and no other type says what it is.
 */
export const heldElsewhere = defineActivity({
  type: 'unknown',
  title: 'Unknown',
  otherTitles: [heldTitles.blocked.transfer, heldTitles.claimed.transfer],
  find(tx) {
    const found = tx.movements.find((movement) => movement.kind === 'transfer' && isElsewhere(movement, tx))
    if (!found?.held) return null
    return { logIndex: found.logIndex, title: titleOf(found), data: {} }
  },
})

/** Whether the viewer's part in a movement is that it was held for it, and no other. */
export function isElsewhere(
  { from, to, held, virtualRecipient }: TokenMovement,
  tx: ActivityTransaction,
): boolean {
  return held?.receiver === tx.viewer && ![from, to, virtualRecipient].includes(tx.viewer)
}

/** The title of a step of something held; undefined for any other movement. */
export function titleOf({ kind, held }: TokenMovement): string | undefined {
  const titles: Readonly<Record<string, string>> = held === null ? {} : heldTitles[held.step]
  return titles[kind]
}

interface ToldStep extends HeldStep {
  readonly token: Address
  readonly amount: bigint
  /** The account that got the tokens. */
  readonly to: Address
  readonly burner: Address | null
}

function stepOf(log: LogFacts): ToldStep | null {
  const blocked = transferBlocked.decode(log)
  if (blocked !== null) return { step: 'blocked', ...blocked, to: guard, burner: null }
  const claimed = receiptClaimed.decode(log)
  if (claimed !== null) return { step: 'claimed', ...claimed, burner: null }
  const burned = receiptBurned.decode(log)
  return burned && { step: 'burned', ...burned, to: zeroAddress, burner: burned.caller }
}

function isStep(movement: TokenMovement, { step, token, amount, to }: ToldStep): boolean {
  const { from, virtualRecipient, kind } = movement
  return (
    movement.token === token &&
    movement.amount === amount &&
    (movement.to === to || virtualRecipient === to) &&
    (step === 'blocked' ? kind === 'transfer' || kind === 'mint' : from === guard)
  )
}
