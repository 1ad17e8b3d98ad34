import { describe, expect, it } from 'vitest'
import { account, logOf, transactionFacts } from '#test/support/transactionFacts.ts'
import {
  alice,
  bob,
  carol,
  memo,
  memoOf,
  moved,
  sponsor,
  token,
  txOf,
  typesSeenBy,
} from '#test/transform/support/activityFacts.ts'
import {
  accountKeychainAddress,
  feeManagerAddress,
  receivePolicyGuardAddress as guard,
  nonceManagerAddress,
  zeroAddress,
} from '../addresses.ts'
import { accessKeySpend, keyAuthorized } from '../events/accounts/keychain.ts'
import { nonceIncremented } from '../events/accounts/nonceManager.ts'
import { receiptBurned, receiptClaimed, transferBlocked } from '../events/tokens/receivePolicies.ts'
import { burn, burnAt, burnBlocked, mint } from '../events/tokens/tip20.ts'
import { listActivities } from './listActivities.ts'

describe('a payment', () => {
  it('is one transfer, out for who sent it and in for who got it', () => {
    const tx = txOf(moved(alice, bob, 5n))
    const common = { sender: alice, recipient: bob, sourceToken: { address: token, amount: '5' } }
    const [sent, ...more] = listActivities(tx, alice)
    expect(more).toEqual([])
    expect(sent).toMatchObject({
      type: 'transfer',
      title: 'Token transferred',
      perspective: 'outgoing',
      logIndex: 10,
    })
    expect(sent?.data).toMatchObject({ ...common, direction: 'out', signer: 'self' })
    const [received] = listActivities(tx, bob)
    expect(received).toMatchObject({ type: 'transfer', perspective: 'incoming', logIndex: 10 })
    expect(received?.data).toMatchObject({ ...common, direction: 'in' })
    expect(received?.data).not.toHaveProperty('signer')
  })

  it("with a memo is one activity, told by the memo's log", () => {
    const tx = txOf(moved(alice, bob, 5n), memoOf(alice, bob, 5n))
    expect(listActivities(tx, alice)).toMatchObject([{ type: 'transfer', logIndex: 11, memo }])
    expect(listActivities(tx, bob)).toMatchObject([{ type: 'transfer', logIndex: 11, memo }])
  })

  it('never is the fee', () => {
    expect(typesSeenBy(alice)).toEqual(['unknown'])
    expect(typesSeenBy(alice, moved(alice, feeManagerAddress, 5n))).toEqual(['unknown'])
  })

  it('is what a nonce lane was used for', () => {
    const nonce = logOf(nonceIncremented, nonceManagerAddress, { account: alice, nonceKey: 4n, newNonce: 1n })
    expect(typesSeenBy(alice, nonce, moved(alice, bob, 5n))).toEqual(['transfer'])
    expect(typesSeenBy(alice, nonce)).toEqual(['nonce-incremented'])
  })

  it('is outgoing for the sponsor of its fee', () => {
    const tx = { ...txOf(moved(alice, bob, 5n)), feePayer: sponsor }
    expect(listActivities(tx, sponsor)).toMatchObject([{ type: 'transfer', perspective: 'outgoing' }])
  })

  it('is one of several for each who got one', () => {
    const logs = [moved(alice, bob, 1n), moved(alice, carol, 2n), moved(alice, bob, 3n)]
    const sent = listActivities(txOf(...logs), alice).map(({ data }) => [data['recipient'], data['signer']])
    expect(sent).toEqual([bob, carol, bob].map((recipient) => [recipient, 'self']))
    const amounts = listActivities(txOf(...logs), bob).map(({ data }) => data['sourceToken'])
    expect(amounts).toEqual([
      { address: token, amount: '1' },
      { address: token, amount: '3' },
    ])
  })

  it('to a virtual address goes to its master, and keeps the address', () => {
    const forward = { ...moved(sponsor, bob, 5n), isVirtualForward: true }
    const tx = txOf(moved(alice, sponsor, 5n), memoOf(alice, sponsor, 5n), forward)
    const expected = { type: 'transfer', logIndex: 11, memo, virtualRecipient: sponsor }
    for (const viewer of [alice, bob]) {
      const [item, ...more] = listActivities(tx, viewer)
      expect(more).toEqual([])
      expect(item).toMatchObject({ ...expected, data: { sender: alice, recipient: bob } })
    }
    const [virtual] = listActivities(tx, sponsor)
    expect(virtual).toMatchObject({ ...expected, perspective: 'incoming', data: { direction: 'in' } })
  })
})

describe('keys', () => {
  const key = account('e')
  const authorized = logOf(keyAuthorized, accountKeychainAddress, {
    account: alice,
    publicKey: key,
    signatureType: 1,
    expiry: 2n ** 64n - 1n,
  })

  it('that signed are named', () => {
    const spent = logOf(accessKeySpend, accountKeychainAddress, {
      account: alice,
      publicKey: key,
      token,
      amount: 5n,
      remainingLimit: 1n,
    })
    const [item] = listActivities(txOf(spent, moved(alice, bob, 5n)), alice)
    expect(item?.data).toMatchObject({ signer: key })
  })

  it('created beside a transfer are shown too, alone they are the headline', () => {
    expect(typesSeenBy(alice, authorized, moved(alice, bob, 5n))).toEqual(['transfer', 'access-key-created'])
    expect(typesSeenBy(alice, authorized)).toEqual(['access-key-created'])
  })
})

describe('supply', () => {
  it.each([
    ['mint', 'mint', [moved(zeroAddress, bob, 5n), logOf(mint, token, { to: bob, amount: 5n })], bob],
    ['burn', 'burn', [moved(bob, zeroAddress, 5n), logOf(burn, token, { from: bob, amount: 5n })], bob],
    [
      'blocked burn',
      'burn-blocked',
      [moved(bob, zeroAddress, 5n), logOf(burnBlocked, token, { from: bob, amount: 5n })],
      bob,
    ],
  ])('%s is named by its own event, for the issuer and the holder', (_, type, logs, holder) => {
    for (const viewer of [alice, holder])
      expect(listActivities(txOf(...logs), viewer)).toMatchObject([{ type, logIndex: 11 }])
  })

  it('tells by the Transfer alone when the token has no event of its own', () => {
    expect(typesSeenBy(bob, moved(zeroAddress, bob, 5n))).toEqual(['mint'])
    expect(typesSeenBy(bob, moved(bob, zeroAddress, 5n))).toEqual(['burn'])
  })

  it('gives each of two equal mints its own event', () => {
    const minted = logOf(mint, token, { to: bob, amount: 5n })
    const movement = moved(zeroAddress, bob, 5n)
    const indexes = listActivities(txOf(movement, movement, minted, minted), bob).map(
      ({ logIndex }) => logIndex,
    )
    expect(indexes).toEqual([13, 12])
  })
})

describe("a burn of another account's tokens", () => {
  const logs = [
    moved(bob, zeroAddress, 5n),
    logOf(burnAt, token, { burner: alice, from: bob, amount: 5n }),
  ] as const
  const burned = { sender: bob, sourceToken: { address: token, amount: '5' } }

  it("is who burned's by its own signature, and the holder's by who burned", () => {
    const tx = txOf(...logs)
    expect(listActivities(tx, alice)).toMatchObject([
      { type: 'burn', perspective: 'outgoing', logIndex: 11, data: { ...burned, signer: 'self' } },
    ])
    expect(listActivities(tx, bob)).toMatchObject([
      { type: 'burn', perspective: 'incoming', logIndex: 11, data: { ...burned, signer: alice } },
    ])
  })

  it('by a contract is signed by the sender, told by the contract, and seen by the contract itself', () => {
    const byContract = logOf(burnAt, token, { burner: carol, from: bob, amount: 5n })
    const tx = txOf(logs[0], byContract)
    const signers = [alice, bob, carol].map((viewer) => listActivities(tx, viewer)[0]?.data['signer'])
    expect(signers).toEqual(['self', carol, 'self'])
    expect(typesSeenBy(carol, logs[0], byContract)).toEqual(['burn'])
  })

  it('names the access key where one signed', () => {
    const spent = logOf(accessKeySpend, accountKeychainAddress, {
      ...{ account: alice, publicKey: sponsor, token, amount: 5n, remainingLimit: 0n },
    })
    for (const viewer of [alice, bob])
      expect(listActivities(txOf(...logs, spent), viewer)[0]?.data['signer']).toBe(sponsor)
  })

  it('of nothing is one too, and each of two equal ones has its own event', () => {
    const none = [moved(bob, zeroAddress, 0n), logOf(burnAt, token, { burner: alice, from: bob, amount: 0n })]
    const items = listActivities(txOf(...none, ...none), bob)
    expect(items.map(({ logIndex, data }) => [logIndex, data['signer']])).toEqual([
      [11, alice],
      [13, alice],
    ])
  })

  it('of the holder itself stays its own', () => {
    const own = [moved(bob, zeroAddress, 5n), logOf(burn, token, { from: bob, amount: 5n })]
    expect(listActivities({ ...txOf(...own), from: bob }, bob)[0]?.data).toMatchObject({ signer: 'self' })
  })
})

describe('a transfer that its receiver refuses', () => {
  const held = { token, receiver: bob, blockedNonce: 7n, amount: 5n, receiptVersion: 1 }
  const blocked = logOf(transferBlocked, guard, { ...held, receipt: '0x1234' })
  const receipt = {
    ...{ ...held, blockedAt: 9n, originator: alice, recipient: bob, recoveryAuthority: sponsor },
    caller: alice,
  }

  it("is held, not paid to the guard: the sender's by its receiver, without a side of the receiver's", () => {
    const tx = txOf(moved(alice, guard, 5n), blocked)
    expect(listActivities(tx, alice)).toMatchObject([
      {
        ...{ type: 'transfer', title: 'Transfer held', logIndex: 11 },
        data: { sender: alice, recipient: bob, direction: 'out', sourceToken: { amount: '5' } },
      },
    ])
    expect(listActivities(tx, bob)).toMatchObject([
      { type: 'unknown', title: 'Transfer held', perspective: 'incoming', logIndex: 11, data: {} },
    ])
    expect(listActivities(tx, guard)).toMatchObject([
      { type: 'transfer', title: 'Transfer held', data: { recipient: bob, direction: 'in' } },
    ])
  })

  it('stands beside payments of the same batch that were not refused', () => {
    const items = listActivities(txOf(moved(alice, carol, 1n), moved(alice, guard, 5n), blocked), alice)
    expect(items.map(({ title, data }) => [title, data['recipient']])).toEqual([
      ['Token transferred', carol],
      ['Transfer held', bob],
    ])
  })

  it('is told of the one of two equal movements to the guard that it follows', () => {
    const plain = moved(alice, guard, 5n)
    const titles = listActivities(txOf(plain, plain, blocked), alice).map(({ title }) => title)
    expect(titles).toEqual(['Token transferred', 'Transfer held'])
  })

  it('may be a mint, which is its receiver’s and held', () => {
    const logs = [
      moved(zeroAddress, guard, 5n),
      logOf(mint, token, { to: guard, amount: 5n }),
      blocked,
    ] as const
    for (const viewer of [alice, bob, guard])
      expect(listActivities(txOf(...logs), viewer)).toMatchObject([
        { type: 'mint', title: 'Mint held', logIndex: 12, data: { recipient: bob } },
      ])
  })

  it.each([bob, alice])('is claimed to %s, whose tokens they are from then on', (to) => {
    const logs = [moved(guard, to, 5n), logOf(receiptClaimed, guard, { ...receipt, to })] as const
    const tx = { ...txOf(...logs), from: carol, feePayer: carol }
    const claimed = { type: 'transfer', title: 'Held transfer claimed', logIndex: 11 }
    expect(listActivities(tx, to)).toMatchObject([
      { ...claimed, data: { sender: guard, recipient: to, direction: 'in' } },
    ])
    expect(listActivities(tx, carol)).toMatchObject([{ ...claimed, data: { recipient: to } }])
    if (to !== bob)
      expect(listActivities(tx, bob)).toMatchObject([{ type: 'unknown', title: 'Held transfer claimed' }])
  })

  it('is burned as what was held, before or behind the event of the guard', () => {
    const logs = [moved(guard, zeroAddress, 5n), logOf(receiptBurned, guard, receipt)]
    for (const order of [logs, logs.toReversed()])
      for (const viewer of [alice, bob])
        expect(listActivities(txOf(...order), viewer)).toMatchObject([
          {
            ...{ type: 'burn', title: 'Held transfer burned' },
            data: { sender: guard, signer: viewer === bob ? alice : 'self' },
          },
        ])
  })

  it('is not told by another contract', () => {
    const told = { ...blocked, address: carol }
    expect(listActivities(txOf(moved(alice, guard, 5n), told), alice)).toMatchObject([
      { type: 'transfer', title: 'Token transferred', data: { recipient: guard } },
    ])
  })
})

describe('a transaction without anything', () => {
  it('has no activities without logs, and an unknown one with only its fee', () => {
    expect(listActivities(transactionFacts(), alice)).toEqual([])
    const [item] = listActivities(txOf(), alice)
    expect(item).toMatchObject({ type: 'unknown', logIndex: 10, data: { signer: 'self' } })
  })
})
