import { expect, test } from 'vitest'
import * as lists from './compile.ts'
import { transactionList, transferList } from './list.ts'

const account = `0x${'ab'.repeat(20)}`
const compilePage = (...[list, query, source]: Parameters<typeof lists.compilePage>) =>
  lists.compilePage(list, query, source).bind(query)
const page = { order: 'desc', limit: 11, offset: 0, filters: {}, fromBlock: 0, toBlock: 900 } as const

test('a page is a keyset walk that one index serves', () => {
  const { text, values } = compilePage(
    transferList,
    { ...page, filters: { token: account }, position: [500, 3] },
    's.token_transfers',
  )
  expect(text).toContain(
    'WHERE "token" = $1 AND "block_num" >= $2 AND "block_num" <= $3 AND ("block_num", "log_idx") < ($4, $5) ORDER BY "block_num" desc, "log_idx" desc LIMIT $6 OFFSET $7',
  )
  expect(values).toEqual([Buffer.from(account.slice(2), 'hex'), 0, 500, 500, 3, 11, 0])
})

test('an `either` filter is one branch per column, and a row that both have is one row', () => {
  const { text, values } = compilePage(
    transactionList,
    { ...page, limit: 6, offset: 20, filters: { address: account } },
    's.txs',
  )
  expect(text).toMatch(/^SELECT DISTINCT ON \("block_num", "idx"\) \*/)
  expect(text.match(/UNION ALL/g)).toHaveLength(1)
  expect(text).toContain('WHERE "to" = $2 AND')
  expect(text.match(/LIMIT \$7\)/g)).toHaveLength(2)
  expect(text.endsWith('LIMIT $5 OFFSET $6')).toBe(true)
  // The address twice, the block bounds once for both branches, and how far the page and its
  // branches go.
  expect(values.slice(2)).toEqual([0, 900, 6, 20, 26])
})

test('two filters are found by the hash of both, in words that no other index understands', () => {
  const { text } = compilePage(
    transactionList,
    { ...page, filters: { sender: account, feeToken: account, reverted: true } },
    's.txs',
  )
  expect(text).toContain(
    'WHERE "paid_fee_token" IS NOT NULL AND hash_record_extended(ROW("from", "paid_fee_token"), 0) = hash_record_extended(ROW($1::bytea, $2::bytea), 0) AND ("from", "paid_fee_token") IS NOT DISTINCT FROM ($1::bytea, $2::bytea) AND "status" = 0 AND',
  )
})

test('TIP-20 tokens are a range of constants, the others what lies outside', () => {
  const inside = compilePage(transferList, { ...page, filters: { tip20: true } }, 's')
  expect(inside.text).toContain(
    `WHERE "token" >= '\\x20c000000000000000000000'::bytea AND "token" < '\\x20c000000000000000000001'::bytea AND`,
  )
  const outside = compilePage(transferList, { ...page, filters: { tip20: false } }, 's')
  expect(outside.text).toContain(
    `("token" < '\\x20c000000000000000000000'::bytea OR "token" >= '\\x20c000000000000000000001'::bytea)`,
  )
})

test('queries of one shape are one statement, and each binds its own values', () => {
  const first = { ...page, filters: { token: account } }
  const compiled = lists.compilePage(transferList, first, 's')
  const second = { ...first, limit: 51, offset: 100, toBlock: 7 }
  expect(compiled.bind(second).text).toBe(compiled.bind(first).text)
  expect(compiled.bind(second).values.slice(1)).toEqual([0, 7, 51, 100])
})

test('a count reads no more rows than its cap', () => {
  const { text } = lists.compileCount(
    transactionList,
    { ...page, filters: { address: account } },
    10_000,
    's.txs',
  )
  expect(text.match(/LIMIT 10000/g)).toHaveLength(3)
  expect(text).toContain('UNION DISTINCT')
})

test('a filter the list does not have is a programming error', () => {
  expect(() => compilePage(transferList, { ...page, filters: { feePayer: account } }, 's')).toThrow(TypeError)
})
