import { feeManagerAddress } from '../../addresses.ts'
import {
  type ActivityData,
  type ActivityTransaction,
  defineActivity,
  type Finding,
  type TokenMovement,
  tokenAmount,
} from '../activity.ts'
import { findSwap, type Swap } from '../exchange/swap.ts'
import { isCoin } from './coins.ts'
import { heldTitles, isElsewhere, titleOf } from './held.ts'

const type = 'transfer'
const title = 'Token transferred'
const coinTitle = 'Native coin transferred'
const otherTitles = [coinTitle, heldTitles.blocked.transfer, heldTitles.claimed.transfer]

/**
 * Tokens moved between accounts: the viewer's if any are, else the first. What goes to the fee
 * manager is no payment. One that its receiver refused is named so, and names the receiver; the
 * tokens are the guard's.
 */
export const transfer = defineActivity({
  type,
  title,
  otherTitles,
  signer: 'outgoing',
  find(tx) {
    const payments = tx.movements.filter(({ kind, to }) => kind === 'transfer' && to !== feeManagerAddress)
    const payment = payments.find((movement) => touches(movement, tx)) ?? payments[0]
    if (payment === undefined) return null
    const data = transferData(tx, payment)
    return { ...place(payment), data: { ...data, sourceToken: tokenAmount(payment.token, payment.amount) } }
  },
})

/** One token was paid, another arrived: a swap whose whole outcome went on to someone else. */
export const crossTokenTransfer = defineActivity({
  type,
  title,
  otherTitles,
  signer: 'outgoing',
  find(tx): Finding | null {
    const found = findSwappedPayment(tx)
    if (found === null) return null
    const { payment, source, destination } = found
    return {
      ...place(payment),
      data: {
        ...transferData(tx, payment),
        sourceToken: tokenAmount(source.token, source.amount),
        destinationToken: tokenAmount(destination.token, destination.amount),
      },
    }
  },
})

/** A swap with the movement that passed its outcome on. */
export interface SwappedPayment extends Swap {
  readonly payment: TokenMovement
}

export function findSwappedPayment(tx: ActivityTransaction): SwappedPayment | null {
  const swap = findSwap(tx)
  if (swap === null) return null
  const { party, destination } = swap
  const payment = tx.movements.find(
    ({ kind, token, from, amount, logIndex }) =>
      kind === 'transfer' &&
      from === party &&
      token === destination.token &&
      amount === destination.amount &&
      logIndex > destination.logIndex,
  )
  return payment === undefined ? null : { ...swap, payment }
}

/**
 * Whether the viewer has a part in the movement: a side of it, the virtual address it went through,
 * who burned, or for whom it is held.
 */
export function touches(
  { from, to, virtualRecipient, burner, held }: TokenMovement,
  tx: ActivityTransaction,
) {
  return [from, to, virtualRecipient, burner, held?.receiver].includes(tx.viewer)
}

function place(movement: TokenMovement) {
  const { logIndex, memo, virtualRecipient } = movement
  return { logIndex, title: isCoin(movement) ? coinTitle : titleOf(movement), memo, virtualRecipient }
}

function transferData(tx: ActivityTransaction, movement: TokenMovement): ActivityData {
  const { facts, viewer } = tx
  const { from, to, held } = movement
  const isIncoming = from !== viewer && touches(movement, tx) && !isElsewhere(movement, tx)
  return {
    sender: from,
    recipient: held?.step === 'blocked' ? held.receiver : to,
    direction: isIncoming ? 'in' : 'out',
    blockNumber: facts.block.number,
    timestamp: timestamp(facts.block.timestampSeconds),
    transactionHash: facts.txHash,
  }
}

/** RFC 3339 in UTC, without the milliseconds a block's time does not have. */
function timestamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
