import { describe, expect, it } from 'vitest'
import { logOf } from '#test/support/transactionFacts.ts'
import {
  alice,
  bob,
  carol,
  moved,
  other,
  token,
  txOf,
  typesSeenBy,
} from '#test/transform/support/activityFacts.ts'
import { stablecoinDexAddress } from '../../addresses.ts'
import { orderFilled, orderPlaced } from '../../events/exchange/stablecoinDex.ts'
import { approval } from '../../events/tokens/erc20.ts'
import { listActivities } from '../listActivities.ts'

describe('a swap', () => {
  const filled = logOf(orderFilled, stablecoinDexAddress, {
    orderId: 1n,
    maker: carol,
    taker: alice,
    amountFilled: 90n,
    partialFill: false,
  })
  const traded = [
    moved(alice, stablecoinDexAddress, 100n),
    filled,
    moved(stablecoinDexAddress, alice, 90n, other),
  ] as const

  it('beats the approval, the fill and the transfers it consists of', () => {
    const approved = logOf(approval, token, { owner: alice, spender: stablecoinDexAddress, amount: 100n })
    const [item, ...more] = listActivities(txOf(approved, ...traded), alice)
    expect(more).toEqual([])
    expect(item).toMatchObject({ type: 'swap', logIndex: 11 })
    expect(item?.data).toEqual({
      sourceToken: { address: token, amount: '100' },
      destinationToken: { address: other, amount: '90' },
      signer: 'self',
    })
  })

  it('whose whole outcome went to someone else is a transfer in two tokens', () => {
    const [sent] = listActivities(txOf(...traded, moved(alice, bob, 90n, other)), alice)
    expect(sent).toMatchObject({ type: 'transfer', logIndex: 13 })
    expect(sent?.data).toMatchObject({
      sender: alice,
      recipient: bob,
      sourceToken: { address: token, amount: '100' },
      destinationToken: { address: other, amount: '90' },
    })
    const [received] = listActivities(txOf(...traded, moved(alice, bob, 90n, other)), bob)
    expect(received?.data).toMatchObject({ direction: 'in', sourceToken: { address: other, amount: '90' } })
  })

  it('is not an order placed and a balance withdrawn', () => {
    const placed = logOf(orderPlaced, stablecoinDexAddress, {
      orderId: 1n,
      maker: alice,
      token,
      amount: 100n,
      isBid: false,
      tick: 10,
      isFlipOrder: false,
      flipTick: 0,
    })
    const [paid, , got] = traded
    expect(typesSeenBy(alice, paid, placed, got)).toEqual(['order-placed'])
  })
})

describe('an order', () => {
  const bid = {
    orderId: 1n,
    maker: alice,
    token,
    amount: 1_000_001n,
    isBid: true,
    tick: 10,
    isFlipOrder: false,
    flipTick: 0,
  }
  const placed = logOf(orderPlaced, stablecoinDexAddress, bid)
  const escrow = { address: other, amount: '1000102' }

  it('that buys holds quote at its price, rounded up', () => {
    const [item] = listActivities(txOf(moved(alice, stablecoinDexAddress, 1_000_102n, other), placed), alice)
    expect(item).toMatchObject({ type: 'order-placed', data: { side: 'bid', tick: 10, sourceToken: escrow } })
  })

  it('paid from the balance inside the exchange is named when the caller knows the quote token', () => {
    const known = { quoteTokenOf: () => other }
    expect(listActivities(txOf(placed), alice, known)).toMatchObject([{ data: { sourceToken: escrow } }])
    expect(typesSeenBy(alice, placed)).toEqual(['unknown'])
  })

  it('that sells holds its base', () => {
    const [item] = listActivities(
      txOf(logOf(orderPlaced, stablecoinDexAddress, { ...bid, isBid: false })),
      alice,
    )
    expect(item?.data).toMatchObject({ side: 'ask', sourceToken: { address: token, amount: '1000001' } })
  })
})
