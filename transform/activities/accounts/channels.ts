/**
 * Payment channels. Only the opening names the token: later events find it in the reserve's
 * transfers of the transaction.
 */
import type { Address } from '#primitives.ts'
import { channelReserveAddress } from '../../addresses.ts'
import * as reserve from '../../events/accounts/channelReserve.ts'
import {
  type ActivityTransaction,
  defineActivity,
  fromEvent,
  listOccurrences,
  type TokenMovement,
  tokenAmount,
} from '../activity.ts'

/** A payer asked to close; what the transaction paid back to the viewer is the refund. */
export const sessionClosed = defineActivity({
  type: 'session-closed',
  title: 'Session closed',
  find: fromEvent(reserve.channelCloseRequested, (_, { tx }) => {
    const refund = findPaidOut(tx, tx.viewer)
    return refund === undefined ? {} : { refund: tokenAmount(refund.token, refund.amount) }
  }),
})

export const channelOpened = defineActivity({
  type: 'channel-opened',
  title: 'Channel opened',
  find: fromEvent(reserve.channelOpened, ({ channelId, payer, payee, token, deposit }) => ({
    channelId,
    payer,
    payee,
    sourceToken: tokenAmount(token, deposit),
  })),
})

export const channelFunded = defineActivity({
  type: 'channel-funded',
  title: 'Channel funded',
  find: fromEvent(reserve.channelToppedUp, ({ channelId, payer, additionalDeposit }, { tx }) => {
    const deposit = tx.movements.find(
      ({ from, to, amount }) =>
        from === payer && to === channelReserveAddress && amount === additionalDeposit,
    )
    const token = deposit?.token ?? openedToken(tx, channelId)
    return token === undefined ? null : { channelId, sourceToken: tokenAmount(token, additionalDeposit) }
  }),
})

export const channelSettled = defineActivity({
  type: 'channel-settled',
  title: 'Channel settled',
  find: fromEvent(reserve.channelSettled, ({ channelId, payer, payee, deltaPaid }, { tx }) => {
    const token = findPaidOut(tx, payee, deltaPaid)?.token ?? openedToken(tx, channelId)
    return token === undefined
      ? null
      : { channelId, payer, payee, sourceToken: tokenAmount(token, deltaPaid) }
  }),
})

export const channelClosed = defineActivity({
  type: 'channel-closed',
  title: 'Channel closed',
  find: fromEvent(
    reserve.channelClosed,
    ({ channelId, payer, payee, settledToPayee, refundedToPayer }, { tx }) => {
      const paidOut = findPaidOut(tx, payer, refundedToPayer) ?? findPaidOut(tx, payee)
      const token = paidOut?.token ?? openedToken(tx, channelId)
      const settled =
        token !== undefined && settledToPayee > 0n ? { sourceToken: tokenAmount(token, settledToPayee) } : {}
      const refund =
        token !== undefined && refundedToPayer > 0n ? { refund: tokenAmount(token, refundedToPayer) } : {}
      return { channelId, payer, payee, ...settled, ...refund }
    },
  ),
})

export const channelCloseCancelled = defineActivity({
  type: 'channel-close-cancelled',
  title: 'Channel close cancelled',
  find: fromEvent(reserve.channelCloseCancelled, ({ channelId, payer, payee }) => ({
    channelId,
    payer,
    payee,
  })),
})

function findPaidOut(
  tx: ActivityTransaction,
  recipient: Address,
  amount?: bigint,
): TokenMovement | undefined {
  return tx.movements.find(
    (movement) =>
      movement.from === channelReserveAddress &&
      movement.to === recipient &&
      (amount === undefined || movement.amount === amount),
  )
}

/** A channel used in the transaction that opened it. */
function openedToken(tx: ActivityTransaction, channelId: string): Address | undefined {
  return listOccurrences(tx, reserve.channelOpened).find(({ args }) => args.channelId === channelId)?.args
    .token
}
