import { pad } from 'viem'
import { expect, test } from 'vitest'
import type { Ask } from './node.ts'
import { feeManager, readOutflows } from './outflows.ts'

const account = `0x${'a1'.repeat(20)}` as const
const token = `0x${'70'.repeat(20)}`
const to = `0x${'b2'.repeat(20)}` as const
const logAt = (block: number, receiver: `0x${string}` = to) => ({
  address: token,
  topics: ['0x00', pad(account), pad(receiver)],
  data: pad('0x7'),
  blockNumber: `0x${block.toString(16)}`,
  transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
})

/** A node that has these logs, and finds questions of more blocks too large. */
function nodeOf(blocks: readonly number[], blocksMax: number) {
  const asked: (readonly [number, number])[] = []
  const ask: Ask = async (_method, [filter]) => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
    const range = [Number(fromBlock), Number(toBlock)] as const
    if (range[1] - range[0] >= blocksMax) throw new Error('too many blocks')
    asked.push(range)
    return blocks.filter((block) => block >= range[0] && block <= range[1]).map((block) => logAt(block))
  }
  return { ask, asked }
}
const sought = (from: number, to_: number) => ({ account, tokens: [token], from, to: to_ })

test.each([
  [
    'at once',
    20_000,
    [
      [1, 10_000],
      [10_001, 12_345],
    ],
  ],
  [
    'in halves, where a node wants that',
    6_000,
    [
      [1, 5_000],
      [5_001, 10_000],
      [10_001, 12_345],
    ],
  ],
])('every block is asked of, once: %s', async (_, blocksMax, ranges) => {
  const { ask, asked } = nodeOf([1, 5_000, 5_001, 12_345], blocksMax)
  const found = await readOutflows(ask, sought(1, 12_345))
  expect(found.map(({ blockNumber }) => blockNumber)).toEqual([1, 5_000, 5_001, 12_345])
  expect(found[0]).toMatchObject({ token, to, amount: 7n })
  expect(asked).toEqual(ranges)
})

test('a node that answers nothing is no empty chain', async () => {
  await expect(readOutflows(nodeOf([], 0).ask, sought(1, 2))).rejects.toThrow('too many blocks')
  await expect(readOutflows(async () => null, sought(1, 2))).rejects.toThrow(/no list/)
})

test('no block and no token is no question', async () => {
  const { ask, asked } = nodeOf([1], 10)
  expect(await readOutflows(ask, sought(5, 4))).toEqual([])
  expect(await readOutflows(ask, { ...sought(1, 4), tokens: [] })).toEqual([])
  expect(asked).toEqual([])
})

test('fees are no payments', async () => {
  const ask: Ask = async () => [logAt(1, feeManager), logAt(2)]
  expect(await readOutflows(ask, sought(1, 2))).toHaveLength(1)
})
