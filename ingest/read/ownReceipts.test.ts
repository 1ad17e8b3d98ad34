import { describe, expect, test } from 'vitest'
import { ownReceipts } from './ownReceipts.ts'

const hashOf = (nth: number) => `0x${'ab'.repeat(31)}${nth.toString(16).padStart(2, '0')}`
const blockHash = `0x${'cd'.repeat(32)}`
const block = {
  hash: blockHash,
  transactions: [0, 1, 2].map((nth) => ({ hash: hashOf(nth) })),
}
const receipt = (nth: number, more: object = {}) => ({
  ...{ transactionHash: hashOf(nth), blockHash, transactionIndex: `0x${nth}`, logs: [] },
  ...more,
})
const own = [receipt(0), receipt(1), receipt(2)]
const foreign = receipt(9, { transactionIndex: '0x0' })
const of = (receipts: unknown, of: unknown = block) => ownReceipts({ block: of, receipts })

describe('receipts of a block', () => {
  test('as they are told, where each stands in the place of its transaction', () => {
    expect(of(own).receipts).toBe(own)
    expect(of(own)).toMatchObject({ foreign: 0, isWhole: true })
  })

  test.each([
    ['foreign ones before them', [foreign, ...own], 1],
    ['foreign ones between and behind them', [own[0], foreign, own[1], own[2], receipt(8)], 2],
    ['the last one twice', [...own, receipt(2)], 1],
    ['all of them twice', [...own, ...own], 3],
    ['another order', [own[2], own[0], own[1]], 0],
    ['an empty place among more', [null, foreign, ...own], 1],
    ['hashes in upper case', own.map((one) => ({ ...one, transactionHash: upper(one) })), 0],
    ['hashes in upper case, out of order', own.toReversed().map((one) => receiptInUpperCase(one)), 0],
  ])('are picked out of a list with %s', (_, told, left) => {
    const picked = of(told)
    expect(picked).toMatchObject({ foreign: left, isWhole: true })
    expect(Object(picked.receipts).map((one: { transactionIndex: string }) => one.transactionIndex)).toEqual([
      '0x0',
      '0x1',
      '0x2',
    ])
  })

  test.each([
    ['none', []],
    ['fewer', own.slice(1)],
    ['as many, one of them foreign', [own[0], foreign, own[2]]],
    ['one twice and one not', [own[0], own[0], own[2]]],
    ['more, and one not', [foreign, receipt(8), own[0], own[1]]],
  ])('are not whole in a list with %s', (_, told) => {
    expect(of(told)).toEqual({ receipts: told, foreign: 0, isWhole: false })
  })

  test('none are needed of a block without transactions', () => {
    expect(of([foreign], { hash: blockHash, transactions: [] })).toEqual({
      ...{ receipts: [], foreign: 1, isWhole: true },
    })
  })

  test('of two with one hash, the one that names the block', () => {
    const stale = receipt(1, { blockHash: `0x${'ee'.repeat(32)}` })
    expect(of([own[0], stale, own[1], own[2]])).toEqual({ receipts: own, foreign: 1, isWhole: true })
  })

  test('numbers that count foreign ones along become those of the block', () => {
    const log = (logIndex: string, transactionIndex: string) => ({ logIndex, transactionIndex })
    const told = [
      receipt(9, { transactionIndex: '0x0', logs: [log('0x0', '0x0'), log('0x1', '0x0')] }),
      receipt(0, { transactionIndex: '0x1', logs: [log('0x2', '0x1')] }),
      receipt(1, { transactionIndex: '0x2', logs: [] }),
      receipt(2, { transactionIndex: '0x3', logs: [log('0x3', '0x3')] }),
    ]
    expect(of(told).receipts).toEqual([
      receipt(0, { logs: [log('0x0', '0x0')] }),
      own[1],
      receipt(2, { logs: [log('0x1', '0x2')] }),
    ])
  })

  test.each([
    ['no list', null],
    ['a list of something else', [1, 2, 3]],
  ])('%s is left to who checks shapes', (_, told) => {
    expect(of(told)).toEqual({ receipts: told, foreign: 0, isWhole: true })
  })
})

const upper = ({ transactionHash }: { transactionHash: string }) =>
  `0x${transactionHash.slice(2).toUpperCase()}`
const receiptInUpperCase = <R extends { transactionHash: string }>(one: R) => ({
  ...one,
  transactionHash: upper(one),
})
