// Goal: what one access key did in a row on one day is one row, up to fifty, and nothing else is
// folded.
// Method: a chain written with two keys over three days, in a real store behind a real server.
import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { batchesOf, type WrittenLog, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'
import { ActivityOracle, type ExpectedActivity } from './support/activityOracle.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const [alice, bob, key, otherKey] = [account('a'), account('b'), account('d'), account('e')]
const token: Hex = `0x20c000000000000000000000${'1'.repeat(16)}`
const daySeconds = 86_400

const payment: WrittenLog = {
  address: token,
  topics: encodeEventTopics({
    abi: Abis.tip20,
    eventName: 'Transfer',
    args: { from: alice, to: bob },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'uint256' }], [5n]),
}

const spendingOf = (publicKey: Hex): WrittenLog => ({
  address: '0xaaaaaaaa00000000000000000000000000000000',
  topics: encodeEventTopics({
    abi: Abis.accountKeychain,
    eventName: 'AccessKeySpend',
    args: { account: alice, publicKey, token },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [5n, 100n]),
})

const signedBy = (publicKey: Hex | null): WrittenTransaction => ({
  from: alice,
  logs: publicKey ? [spendingOf(publicKey), payment] : [payment],
})
const times = (count: number, publicKey: Hex | null) => Array(count).fill(signedBy(publicKey))

/** Oldest first, a block a day: how many in a row signed by whom. */
const days = [
  [...times(3, key), ...times(120, key)],
  [...times(4, key), ...times(2, null), ...times(2, otherKey), ...times(1, key), ...times(6, otherKey)],
  [...times(1, otherKey), ...times(5, null)],
]
/** Newest first: rows, each with how many it holds. */
const folded = [1, 1, 1, 1, 1, 1, 6, 1, 2, 1, 1, 4, 50, 50, 23]

describe('groups of activities', () => {
  let api: ChainApi
  let expected: readonly ExpectedActivity[]
  beforeAll(async () => {
    const blocks = writtenChain('tempo-dev-2k', days, daySeconds)
    expected = new ActivityOracle(blocks).feedOf(alice)
    api = await openChainApi()
    await api.append(batchesOf(blocks))
    await api.finalize(days.length)
  })
  afterAll(() => api.close())

  const path = `/v1/addresses/${alice}/activities?group=true`
  const itemsOf = (row: ExpectedActivity): readonly ExpectedActivity[] =>
    row.type === 'group' ? row.data['items'] : [row]

  test.each([5, 7, 200])('are whole in pages of %i, which are full', async (limit) => {
    const lengths: number[] = []
    const rows: ExpectedActivity[] = await walk(api, `${path}&limit=${limit}`, async (page) => {
      lengths.push(page.body.data.length)
    })
    expect(rows.map((row) => itemsOf(row).length)).toEqual(folded)
    expect(rows.flatMap(itemsOf)).toEqual(expected)
    expect(lengths.slice(0, -1).every((length) => length === limit)).toBe(true)
    for (const row of rows.filter(({ type }) => type === 'group')) {
      const items = itemsOf(row)
      expect(new Set(items.map(({ data }) => data['signer']))).toEqual(new Set([row.data['signer']]))
      expect(new Set(items.map(({ timestamp }) => timestamp.slice(0, 10))).size).toBe(1)
      expect(row.id).toBe(`${items[0]?.id}..${items.at(-1)?.id}:${items.length}`)
    }
  })

  test('are not made unasked, and not of what the account signed itself or received', async () => {
    const plain = await walk(api, `/v1/addresses/${alice}/activities?limit=200`)
    expect(plain).toEqual(expected)
    const received = await walk(api, `/v1/addresses/${bob}/activities?limit=200&group=true`)
    expect(received.length).toBe(expected.length)
    expect(new Set(received.map(({ type, perspective }) => `${type} ${perspective}`))).toEqual(
      new Set(['transfer incoming']),
    )
  })
})
