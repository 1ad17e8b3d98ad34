import { encodeEventTopics, pad, parseAbi } from 'viem'
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
  logIndex: '0x0',
  transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
})

/** A node that has these logs, and finds questions of more blocks too large. */
function nodeOf(blocks: readonly number[], blocksMax: number) {
  const asked: (readonly [number, number])[] = []
  const ask: Ask = async (_method, [filter]) => {
    const { fromBlock, toBlock, topics } = filter as {
      fromBlock: string
      toBlock: string
      topics: readonly unknown[]
    }
    if (Array.isArray(topics[0])) return []
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
  const ask: Ask = async (_method, [filter]) =>
    Array.isArray((filter as { topics: readonly unknown[] }).topics[0])
      ? []
      : [logAt(1, feeManager), logAt(2)]
  expect(await readOutflows(ask, sought(1, 2))).toHaveLength(1)
})

const marks = parseAbi([
  'event TransferWithMemo(address indexed from, address indexed to, uint256 value, bytes32 indexed memo)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
const memoOf = (digit: string) => `0x${digit.repeat(64)}` as const

test('a transfer has its own memo, or the nonce of its authorization', async () => {
  const other = `0x${'c3'.repeat(20)}` as const
  const memo = (receiver: `0x${string}`, digit: string) => {
    const args = { from: account, to: receiver, memo: memoOf(digit) }
    return {
      ...logAt(1, receiver),
      topics: encodeEventTopics({ abi: marks, eventName: 'TransferWithMemo', args }),
    }
  }
  const nonce = {
    ...logAt(2),
    topics: encodeEventTopics({
      ...{ abi: marks, eventName: 'AuthorizationUsed' },
      args: { authorizer: account, nonce: memoOf('9') },
    }),
  }
  const moved = [logAt(1), logAt(1, other), logAt(1), logAt(2), logAt(3)]
  const told = [memo(to, '1'), memo(other, '2'), memo(to, '3'), nonce]
  const ask: Ask = async (_method, [filter]) =>
    Array.isArray((filter as { topics: readonly unknown[] }).topics[0]) ? told : moved
  const found = await readOutflows(ask, sought(1, 3))
  expect(found.map((each) => each.memo)).toEqual([...['1', '2', '3', '9'].map(memoOf), null])
})
