import { expect, it } from 'vitest'
import { hash } from '#primitives.ts'
import { account, logOf, numbered, tip20, transactionFacts } from '#test/support/transactionFacts.ts'
import { zeroAddress } from '../addresses.ts'
import { nativeEarnRegistered, sharesRedeemed, sharesSpent } from '../events/earn.ts'
import { transfer } from '../events/tokens/erc20.ts'
import { burn } from '../events/tokens/tip20.ts'
import type { LogFacts } from '../projection.ts'
import { activityEvent } from './activityEvent.ts'
import { listActivities } from './listActivities.ts'

const [owner, receiver, vault] = [account('a'), account('b'), account('c')]
const [asset, share] = [tip20('1'), tip20('2')]
const word = (digit: string) => hash(`0x${digit.repeat(64)}`)

const spent = logOf(sharesSpent, vault, {
  ...{ owner, receiver, shares: 40n, assets: 44n, paymentReference: word('5') },
})
const moves = [
  logOf(transfer, share, { from: owner, to: vault, amount: 40n }),
  logOf(transfer, share, { from: vault, to: zeroAddress, amount: 40n }),
  logOf(burn, share, { from: vault, amount: 40n }),
  logOf(transfer, asset, { from: vault, to: receiver, amount: 44n }),
]
const headlineOf = (viewer: typeof owner, ...logs: readonly LogFacts[]) =>
  listActivities(transactionFacts({ from: owner, feePayer: owner, logs: numbered(...logs) }), viewer)[0]

it('shares that pay somebody out of a native vault are redeemed, and no burn; who is paid got a transfer', () => {
  const told = { assets: '44', shares: '40', caller: owner, receiver, vault, status: 'completed' }
  const headline = headlineOf(owner, ...moves, spent)
  expect([headline?.type, headline?.title]).toEqual(['shares-redeemed', 'Shares redeemed'])
  expect([headline?.logIndex, headline?.data]).toEqual([14, expect.objectContaining(told)])
  expect(headlineOf(receiver, ...moves, spent)).toMatchObject({
    ...{ type: 'transfer', logIndex: 13 },
    data: { sender: vault, direction: 'in', sourceToken: { address: asset, amount: '44' } },
  })
})

it('a redemption that also says how it was spent is one', () => {
  const redeemed = logOf(sharesRedeemed, vault, { caller: owner, receiver, earnShares: 40n, assets: 44n })
  expect(headlineOf(owner, ...moves, spent, redeemed)?.logIndex).toBe(15)
})

it('a vault that becomes native has an event with a title', () => {
  const log = logOf(nativeEarnRegistered, account('5'), {
    ...{ adapter: vault, asset, shareToken: share, engine: account('e'), manifestRoot: word('6') },
  })
  expect(activityEvent(log)).toMatchObject({
    ...{ eventName: 'NativeEarnRegistered', title: 'Earn vault made native' },
    args: { adapter: vault, asset, shareToken: share, engine: account('e'), manifestRoot: word('6') },
  })
})
