import { expect, test } from 'vitest'
import { compileCount, compilePage } from './compile.ts'
import { transactionList, transferList } from './list.ts'

const account = `0x${'ab'.repeat(20)}`
const page = { order: 'desc', limit: 11, offset: 0, filters: {}, fromBlock: 0, toBlock: 900 } as const

test('a page is a keyset walk that one index serves', () => {
  const { text, values } = compilePage(
    transferList,
    { ...page, filters: { token: account }, position: [500, 3] },
    'postgres',
    's.token_transfers',
  )
  expect(text).toContain(
    'WHERE "token" = $1 AND "block_num" >= $2 AND "block_num" <= $3 AND ("block_num", "log_idx") < ($4, $5) ORDER BY "block_num" desc, "log_idx" desc LIMIT 11 OFFSET 0',
  )
  expect(values).toEqual([Buffer.from(account.slice(2), 'hex'), 0, 500, 500, 3])
})

test('an `either` filter is one branch per column, and a row belongs to one of them', () => {
  const { text, values } = compilePage(
    transactionList,
    { ...page, limit: 6, offset: 20, filters: { address: account, reverted: true } },
    'postgres',
    's.txs',
  )
  expect(text.match(/UNION ALL/g)).toHaveLength(1)
  expect(text).toContain('"to" = $3 AND ("from" = $2) IS NOT TRUE AND "status" = 0')
  expect(text.match(/LIMIT 26\)/g)).toHaveLength(2)
  expect(text.endsWith('LIMIT 6 OFFSET 20')).toBe(true)
  // The address three times, and the block bounds once for both branches.
  expect(values).toHaveLength(3 + 2)
})

test('ClickHouse gets typed parameters and gives bytes as hex', () => {
  const { text, parameters } = compilePage(
    transferList,
    { ...page, filters: { sender: account } },
    'clickhouse',
    'c.token_transfers',
  )
  expect(text).toContain('lower(hex(`token`)) AS `token`')
  expect(text).toContain('WHERE `from` = unhex({p1: String}) AND `block_num` >= {p2: UInt64}')
  expect(parameters).toEqual({ p1: account.slice(2), p2: 0, p3: 900 })
})

test('a prefix is a range of constants, its complement what lies outside', () => {
  const inside = compilePage(transferList, { ...page, filters: { tip20: true } }, 'postgres', 's')
  expect(inside.text).toContain(
    `WHERE "token" >= '\\x20c000000000000000000000'::bytea AND "token" < '\\x20c000000000000000000001'::bytea AND`,
  )
  const outside = compilePage(transferList, { ...page, filters: { tip20: false } }, 'clickhouse', 'c')
  expect(outside.text).toContain(
    "(`token` < unhex('20c000000000000000000000') OR `token` >= unhex('20c000000000000000000001'))",
  )
})

test('a count reads no more rows than its cap', () => {
  const { text } = compileCount(
    transactionList,
    { ...page, filters: { address: account } },
    10_000,
    'postgres',
    's.txs',
  )
  expect(text.match(/LIMIT 10000/g)).toHaveLength(3)
})

test('a filter the list does not have is a programming error', () => {
  expect(() =>
    compilePage(transferList, { ...page, filters: { feePayer: account } }, 'postgres', 's'),
  ).toThrow(TypeError)
})
