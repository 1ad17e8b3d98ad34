import type { Address } from '#primitives.ts'
import { accessKeySpend } from '../events/accounts/keychain.ts'
import { accessKeyCreated, accessKeyRevoked } from './accounts/keys.ts'
import {
  type Activity,
  type ActivityFacts,
  type ActivityItem,
  type ActivityTransaction,
  type Finding,
  listOccurrences,
  type TokenMovement,
} from './activity.ts'
import { findSwap, swap } from './exchange/swap.ts'
import { activities } from './index.ts'
import { isCoin, listCoinMovements } from './tokens/coins.ts'
import { heldElsewhere } from './tokens/held.ts'
import { listMovements } from './tokens/movements.ts'
import { burn, burnBlocked, mint } from './tokens/supply.ts'
import { touches, transfer } from './tokens/transfers.ts'

/** The caller's knowledge beyond the transaction. */
export interface ActivityKnowledge {
  /** Quote token of an order that buys, or null. */
  quoteTokenOf(orderId: bigint): Address | null
  /** Activities the operator declared; they name a transaction before any of ours. */
  readonly declared?: readonly Activity[]
  /**
   * Tokens whose movements are left out where the viewer neither sent nor paid for the transaction:
   * any contract can say that it moved something from or to anybody.
   */
  readonly isHidden?: (token: Address) => boolean
}

const nothingKnown: ActivityKnowledge = { quoteTokenOf: () => null }

/**
 * The activities of a transaction in the feed of `viewer`; a transaction's own feed is that of its
 * sender.
 *
 * Its sender and its fee payer see one headline, or each payment where it is one, and keys created
 * or revoked beside it. Everyone else sees what happened to them: their swap and each other movement
 * of their tokens, else the headline. Empty when there are no logs and no value, or nothing but what
 * is hidden.
 */
export function listActivities(
  facts: ActivityFacts,
  viewer: Address,
  knowledge: ActivityKnowledge = nothingKnown,
): readonly ActivityItem[] {
  const tx = viewFrom(facts, viewer, knowledge)
  if (tx.perspective === 'outgoing') return listHeadline(tx, knowledge)
  const own = tx.movements.filter((movement) => touches(movement, tx))
  const hidden = own.filter((one) => !isCoin(one) && knowledge.isHidden?.(one.token))
  if (hidden.length > 0 && hidden.length === own.length) return []
  const shown = (movement: TokenMovement) => !hidden.includes(movement)
  const found = listOwnMovements(tx, own.filter(shown))
  if (found.length > 0) return found
  return listHeadline({ ...tx, movements: tx.movements.filter(shown) }, knowledge)
}

/** The headline, or each payment where it is one, and keys created or revoked beside it. */
function listHeadline(
  tx: ActivityTransaction,
  { declared = [] }: ActivityKnowledge,
): readonly ActivityItem[] {
  const headline = findFirst([...declared, ...activities], tx)
  if (headline === null) return []
  if (headline.type !== transfer.type) return [headline]
  const keyChanges = [accessKeyCreated, accessKeyRevoked].map((change) => findFirst([change], tx))
  return [...listPayments(tx, headline), ...keyChanges].filter((item) => item !== null)
}

/**
 * A batch pays many, each with a recipient and a memo of its own; a payment in another token is
 * one.
 */
function listPayments(tx: ActivityTransaction, headline: ActivityItem): readonly (ActivityItem | null)[] {
  if ('destinationToken' in headline.data) return [headline]
  const own = tx.movements.filter((movement) => touches(movement, tx))
  const payments = own.map((movement) =>
    findFirst([heldElsewhere, transfer], { ...tx, movements: [movement] }),
  )
  return payments.some((item) => item !== null) ? payments : [headline]
}

/** A transaction as `viewer` sees it. */
export function viewFrom(
  facts: ActivityFacts,
  viewer: Address,
  knowledge: ActivityKnowledge = nothingKnown,
): ActivityTransaction {
  const logs = facts.logs.filter((log) => log.logIndex !== facts.feeLogIndex)
  return {
    facts,
    viewer,
    perspective: viewer === facts.from || viewer === facts.feePayer ? 'outgoing' : 'incoming',
    logs,
    movements: inOrder([...listCoinMovements(facts), ...listMovements(logs)]),
    quoteTokenOf: knowledge.quoteTokenOf,
  }
}

const inOrder = (movements: readonly TokenMovement[]): readonly TokenMovement[] =>
  movements.toSorted((a, b) => a.transferLogIndex - b.transferLogIndex)

const movementActivities = [mint, burnBlocked, burn, heldElsewhere, transfer]

/** A swap is told as one; what else moved beside it is told too. */
function listOwnMovements(tx: ActivityTransaction, own: readonly TokenMovement[]): readonly ActivityItem[] {
  const seen = { ...tx, movements: own }
  const found = findSwap(seen)
  const swapped = found && [...found.source.movements, ...found.destination.movements]
  const others = own
    .filter((movement) => !swapped?.includes(movement))
    .map((movement) => findFirst(movementActivities, { ...tx, movements: [movement] }))
  return [findFirst([swap], seen), ...others].filter((item) => item !== null)
}

function findFirst(candidates: readonly Activity[], tx: ActivityTransaction): ActivityItem | null {
  for (const activity of candidates) {
    const finding = activity.find(tx)
    if (finding !== null) return itemOf(activity, finding, tx)
  }
  return null
}

function itemOf(activity: Activity, finding: Finding, tx: ActivityTransaction): ActivityItem {
  const { type, signer } = activity
  const isSigned = signer === 'always' || (signer === 'outgoing' && tx.perspective === 'outgoing')
  return {
    type,
    title: finding.title ?? activity.title,
    perspective: tx.perspective,
    logIndex: finding.logIndex,
    data: isSigned ? { ...finding.data, signer: signerOf(tx, finding) } : finding.data,
    args: finding.args ?? null,
    memo: finding.memo ?? null,
    virtualRecipient: finding.virtualRecipient ?? null,
  }
}

/**
 * The access key that signed, which only its spending tells; else `self`. Who did nothing, and was
 * done something by a named account, sees that one: it did not sign itself.
 */
function signerOf(tx: ActivityTransaction, { actor = null }: Finding): string {
  const [spent] = listOccurrences(tx, accessKeySpend)
  if (spent) return spent.args.publicKey
  return actor === null || tx.perspective === 'outgoing' || tx.viewer === actor ? 'self' : actor
}
