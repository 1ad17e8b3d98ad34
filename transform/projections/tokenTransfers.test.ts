import { describe, expect, it } from 'vitest'
import { hash } from '#primitives.ts'
import { account, logOf, numbered, project, tip20, transactionFacts } from '#test/support/transactionFacts.ts'
import { feeManagerAddress } from '../addresses.ts'
import { transfer } from '../events/tokens/erc20.ts'
import { transferWithMemo } from '../events/tokens/tip20.ts'
import type { LogFacts } from '../projection.ts'
import { tokenTransfers } from './tokenTransfers.ts'

const [alice, bob, carol] = [account('a'), account('b'), account('c')]
const token = tip20('1')
const memo = (digit: string) => hash(`0x${digit.repeat(64)}`)
const moved = { from: alice, to: bob, amount: 5n }
const plain = logOf(transfer, token, moved)
const withMemo = (digit: string) => logOf(transferWithMemo, token, { ...moved, memo: memo(digit) })

const transfersOf = (...logs: readonly LogFacts[]) =>
  project(tokenTransfers, [transactionFacts({ logs: numbered(...logs) })]).token_transfers ?? []

describe('a transfer', () => {
  it('is a row with its place, token, sides and amount', () => {
    expect(transfersOf(plain)).toEqual([
      {
        block_num: 7,
        log_idx: 10,
        block_timestamp: 1_767_225_600,
        tx_idx: 3,
        tx_hash: `0x${'3'.repeat(64)}`,
        token,
        from: alice,
        to: bob,
        memo: null,
        is_fee: false,
        is_virtual_forward: false,
        amount: 5n,
      },
    ])
  })

  it('counts whatever contract emitted it', () => {
    expect(transfersOf({ ...plain, address: account('e') })).toHaveLength(1)
  })

  it.each([
    ['an NFT, whose amount is a topic', { topics: [...plain.topics, memo('5')], data: '0x' as const }],
    ['too few topics', { topics: plain.topics.slice(0, 2) }],
    ['no data', { data: '0x' as const }],
    ['two words of data', { data: `${plain.data}${'0'.repeat(64)}` as const }],
    ['dirty bytes above an address', { topics: [transfer.topic0, memo('f'), memo('0')] }],
  ])('is none with %s', (_, damage) => {
    expect(transfersOf({ ...plain, ...damage })).toEqual([])
  })

  it('keeps the mark of a virtual forward', () => {
    expect(transfersOf({ ...plain, isVirtualForward: true })).toMatchObject([{ is_virtual_forward: true }])
  })

  it('is the fee when it is the log that paid it', () => {
    const fee = logOf(transfer, token, { from: alice, to: feeManagerAddress, amount: 1n })
    const tx = transactionFacts({ logs: numbered(fee, fee), feeLogIndex: 11 })
    const rows = project(tokenTransfers, [tx]).token_transfers
    expect(rows?.map((row) => row.is_fee)).toEqual([false, true])
  })
})

describe('a memo', () => {
  const memosOf = (...logs: readonly LogFacts[]) => transfersOf(...logs).map((row) => row.memo)

  it('goes to the transfer it follows', () => {
    expect(memosOf(plain, withMemo('1'))).toEqual([memo('1')])
  })

  it('is used once: two equal transfers, one memo', () => {
    expect(memosOf(plain, plain, withMemo('1'))).toEqual([null, memo('1')])
    expect(memosOf(plain, withMemo('1'), plain)).toEqual([memo('1'), null])
  })

  it('goes to its own transfer when each of two has one', () => {
    expect(memosOf(plain, withMemo('1'), plain, withMemo('2'))).toEqual([memo('1'), memo('2')])
    expect(memosOf(plain, plain, withMemo('2'), withMemo('1'))).toEqual([memo('1'), memo('2')])
  })

  it('finds its transfer behind other logs', () => {
    const other = logOf(transfer, token, { from: bob, to: carol, amount: 5n })
    expect(memosOf(plain, other, withMemo('1'))).toEqual([memo('1'), null])
  })

  it.each([
    ['amount', { amount: 6n }],
    ['recipient', { to: carol }],
    ['sender', { from: carol }],
  ])('of another %s belongs to nobody', (_, change) => {
    const stray = logOf(transferWithMemo, token, { ...moved, ...change, memo: memo('1') })
    expect(memosOf(plain, stray)).toEqual([null])
  })

  it('of another token, or before the transfer, belongs to nobody', () => {
    expect(memosOf(plain, { ...withMemo('1'), address: tip20('2') })).toEqual([null])
    expect(memosOf(withMemo('1'), plain)).toEqual([null])
  })
})
