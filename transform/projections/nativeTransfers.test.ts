import { describe, expect, it } from 'vitest'
import { account, logOf, numbered, project, tip20, transactionFacts } from '#test/support/transactionFacts.ts'
import { nativeCoinEmitter } from '../addresses.ts'
import { transfer } from '../events/tokens/erc20.ts'
import { nativeTransfer } from '../nativeCoin.ts'
import type { TransactionFacts } from '../projection.ts'
import { holderDeltas } from './holderDeltas.ts'
import { nativeTransfers } from './nativeTransfers.ts'
import { tokenTransfers } from './tokenTransfers.ts'

const [alice, bob, carol] = [account('a'), account('b'), account('c')]
const moved = (from: typeof alice, to: typeof alice, amount: bigint) =>
  logOf(nativeTransfer, nativeCoinEmitter, { from, to, amount })
const rowsOf = (facts: Partial<TransactionFacts>) =>
  project(nativeTransfers, [transactionFacts(facts)]).native_transfers ?? []
const marksOf = (facts: Partial<TransactionFacts>) =>
  rowsOf(facts).map((row) => [row.log_idx, row.from, row.to, row.amount, row.is_logged, row.is_value])

describe('a payment before the fork', () => {
  it('is a row by its value, where its log would stand', () => {
    expect(rowsOf({ paid: 5n, logsBefore: 4 })).toEqual([
      {
        block_num: 7,
        log_idx: 4,
        block_timestamp: 1_767_225_600,
        tx_idx: 3,
        tx_hash: `0x${'3'.repeat(64)}`,
        from: alice,
        to: bob,
        is_logged: false,
        is_value: true,
        amount: 5n,
      },
    ])
  })

  it('goes to the contract that it creates', () => {
    expect(marksOf({ paid: 5n, to: null, contractAddress: carol })).toEqual([
      [10, alice, carol, 5n, false, true],
    ])
  })

  it.each([
    ['reverted', { status: 0 }],
    ['came before success was told', { status: null }],
    ['paid nothing', { paid: 0n }],
    ['names nobody', { to: null }],
  ] as const)('is none where the transaction %s', (_, facts) => {
    expect(rowsOf({ paid: 5n, ...facts })).toEqual([])
  })
})

describe('a payment since the fork', () => {
  it('is one movement, though value and log tell it', () => {
    const logs = numbered(moved(alice, bob, 5n))
    expect(marksOf({ paid: 5n, logs })).toEqual([[10, alice, bob, 5n, true, true]])
  })

  it('has the internal ones beside it, in the order of logs', () => {
    const token = logOf(transfer, tip20('1'), { from: alice, to: bob, amount: 9n })
    const logs = numbered(moved(alice, bob, 5n), token, moved(bob, carol, 2n), moved(alice, bob, 5n))
    expect(marksOf({ paid: 5n, logs })).toEqual([
      [10, alice, bob, 5n, true, true],
      [12, bob, carol, 2n, true, false],
      [13, alice, bob, 5n, true, false],
    ])
  })

  it('is no value where the transaction paid nothing, or somebody else', () => {
    expect(marksOf({ logs: numbered(moved(bob, carol, 2n)) })).toEqual([[10, bob, carol, 2n, true, false]])
    const created = { paid: 5n, to: null, contractAddress: carol, logs: numbered(moved(alice, carol, 5n)) }
    expect(marksOf(created)).toEqual([[10, alice, carol, 5n, true, true]])
  })

  it('is no transfer of a token, and no change of a balance of one', () => {
    const tx = transactionFacts({ paid: 5n, logs: numbered(moved(alice, bob, 5n)) })
    expect(project(tokenTransfers, [tx]).token_transfers).toEqual([])
    expect(project(holderDeltas, [tx]).holder_deltas).toEqual([])
  })
})

it.each([
  ['of a look-alike', { address: carol }],
  ['without topics, as request contracts emit them', { topics: [] }],
  ['with other data', { data: '0x' as const }],
])('a log %s moves no coin', (_, damage) => {
  const log = { ...moved(alice, bob, 5n), ...damage }
  expect(rowsOf({ logs: numbered(log) })).toEqual([])
})
