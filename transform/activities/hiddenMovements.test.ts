import { expect, it } from 'vitest'
import type { Address } from '#primitives.ts'
import { account, logOf, numbered, tip20, transactionFacts } from '#test/support/transactionFacts.ts'
import { feeManagerAddress, stablecoinDexAddress } from '../addresses.ts'
import { orderFilled } from '../events/exchange/stablecoinDex.ts'
import { transfer } from '../events/tokens/erc20.ts'
import type { LogFacts } from '../projection.ts'
import { listActivities } from './listActivities.ts'

const [alice, bob, carol] = [account('a'), account('b'), account('c')]
const [token, other] = [tip20('1'), tip20('2')]

const moved = (from: Address, to: Address, amount: bigint, of = token) =>
  logOf(transfer, of, { from, to, amount })
const sentBy = (from: Address, ...logs: readonly LogFacts[]) =>
  transactionFacts({ from, feePayer: from, logs: numbered(...logs) })

it('a payment to the fee manager shows its transaction, whatever a hidden token says beside it', () => {
  const facts = sentBy(alice, moved(bob, feeManagerAddress, 5n), moved(carol, bob, 9n, other))
  const isHidden = (of: Address) => of === other
  const seen = listActivities(facts, bob, { quoteTokenOf: () => null, isHidden })
  expect(seen.map(({ type }) => type)).toEqual(['unknown'])
  expect(listActivities(facts, bob, { quoteTokenOf: () => null, isHidden: () => true })).toEqual([])
})

it('a swap that somebody else made for an account hides nothing that left it beside the swap', () => {
  const filled = { orderId: 1n, maker: carol, taker: alice, amountFilled: 90n, partialFill: false }
  const facts = sentBy(
    carol,
    moved(alice, stablecoinDexAddress, 100n),
    logOf(orderFilled, stablecoinDexAddress, filled),
    moved(stablecoinDexAddress, alice, 90n, other),
    moved(alice, bob, 40n, other),
  )
  const items = listActivities(facts, alice)
  expect(items.map(({ type, logIndex }) => [type, logIndex])).toEqual([
    ['swap', 10],
    ['transfer', 13],
  ])
  expect(items[1]?.data).toMatchObject({ recipient: bob, direction: 'out' })
})
