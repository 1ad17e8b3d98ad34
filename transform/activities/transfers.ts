import { feeManagerAddress } from '../addresses.ts'
import {
  type ActivityData,
  type ActivityTransaction,
  defineActivity,
  type Finding,
  type Movement,
  tokenAmount,
} from './activity.ts'
import { findSwap, type Swap } from './swap.ts'

const type = 'transfer'
const title = 'Token transferred'

/**
 * Tokens moved between accounts: the viewer's if any are, else the first. What goes to the fee
 * manager is no payment.
 */
export const transfer = defineActivity({
  type,
  title,
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
  readonly payment: Movement
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

/** Whether the viewer is a side of the movement, also as the virtual address it went through. */
export function touches(movement: Movement, { viewer }: ActivityTransaction): boolean {
  return movement.from === viewer || movement.to === viewer || movement.virtualRecipient === viewer
}

function place({ logIndex, memo, virtualRecipient }: Movement) {
  return { logIndex, memo, virtualRecipient }
}

function transferData(tx: ActivityTransaction, movement: Movement): ActivityData {
  const { facts, viewer } = tx
  const { from, to } = movement
  return {
    sender: from,
    recipient: to,
    direction: from !== viewer && touches(movement, tx) ? 'in' : 'out',
    blockNumber: facts.block.number,
    timestamp: timestamp(facts.block.timestampSeconds),
    transactionHash: facts.txHash,
  }
}

/** RFC 3339 in UTC, without the milliseconds a block's time does not have. */
function timestamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
