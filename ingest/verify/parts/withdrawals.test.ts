import { toRlp } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBlock, builtBlock, type Json, scalar } from '#test/support/builtBlock.ts'
import { plainTrieRoot } from '#test/support/plainTrie.ts'
import { parseBlock } from '../../read/block.ts'
import { hasListsOf } from './withdrawals.ts'

let built: BuiltBlock
beforeAll(async () => {
  built = await builtBlock()
})

const withdrawals = Array.from({ length: 16 }, (_, index) => ({
  index: `0x${(77_000 + index).toString(16)}`,
  validatorIndex: `0x${(index * 31).toString(16)}`,
  address: `0x${'b9'.repeat(20)}`,
  amount: '0x11e1a30',
}))
const withdrawalsRoot = plainTrieRoot(
  withdrawals.map(({ index, validatorIndex, address, amount }) =>
    toRlp([scalar(index), scalar(validatorIndex), address as `0x${string}`, scalar(amount)]),
  ),
)
const holds = (fields: Readonly<Record<string, Json>>, isEthereum = true) =>
  hasListsOf(parseBlock({ ...built.block, ...fields }), isEthereum)

describe('lists that no row is made of', () => {
  test('are those of the header', () => {
    expect(holds({})).toBe(true)
    expect(holds({ withdrawals, withdrawalsRoot })).toBe(true)
    expect(holds({ withdrawals: [] })).toBe(true)
    expect(holds({ uncles: [`0x${'0e'.repeat(32)}`], sha3Uncles: `0x${'0f'.repeat(32)}` })).toBe(true)
  })

  test.each([
    ['another amount', { withdrawals: withdrawals.with(3, { ...withdrawals[0], amount: '0x1' } as never) }],
    ['one withdrawal less', { withdrawals: withdrawals.slice(1) }],
    ['no withdrawal', { withdrawals: [] }],
    ['what is none', { withdrawals: [null] }],
    ['an uncle of nothing', { withdrawals, uncles: [`0x${'0e'.repeat(32)}`] }],
    ['an uncle left out', { withdrawals, uncles: [], sha3Uncles: `0x${'0f'.repeat(32)}` }],
  ])('%s is refuted', (_title, fields) => {
    expect(holds({ withdrawalsRoot, ...fields })).toBe(false)
  })

  test('may be left out where the root is of something else', () => {
    expect(holds({ withdrawalsRoot, withdrawals: [] }, false)).toBe(true)
    expect(holds({ withdrawals }, false)).toBe(false)
  })
})
