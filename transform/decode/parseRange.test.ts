import { describe, expect, test } from 'vitest'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { parseRange } from './parseRange.ts'

const range = { from: 100, to: 101 }
const item = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result })
const complete = [item(0, { b: 100 }), item(1, ['r100']), item(2, { b: 101 }), item(3, [])]

const parse = (value: unknown) => parseRange(Buffer.from(JSON.stringify(value)), range)

function failure(value: unknown): unknown {
  try {
    parse(value)
  } catch (error) {
    return error
  }
  throw new Error('it was accepted')
}

describe('parseRange', () => {
  test('each block gets its two results, in whatever order the items come', () => {
    const expected = [
      { number: 100, block: { b: 100 }, receipts: ['r100'] },
      { number: 101, block: { b: 101 }, receipts: [] },
    ]
    expect(parse(complete)).toEqual(expected)
    expect(parse(complete.toReversed())).toEqual(expected)
  })

  test('a null result stays null: never an empty block', () => {
    const [first] = parse([item(0, null), item(1, null), ...complete.slice(2)])
    expect(first).toEqual({ number: 100, block: null, receipts: null })
  })

  test('text beyond ASCII is kept', () => {
    const [first] = parse([item(0, 'Ωμέγα 🌾'), ...complete.slice(1)])
    expect(first?.block).toBe('Ωμέγα 🌾')
  })

  test.each([
    ['a missing item', complete.slice(0, 3), { code: 'item_missing', blockNumber: 101 }],
    ['no item', [], { code: 'item_missing', blockNumber: 100 }],
    ['an item twice', [...complete, item(2, {})], { code: 'item_duplicate', blockNumber: 101 }],
    [
      'an error item',
      [...complete.slice(0, 3), { jsonrpc: '2.0', id: 3, error: { code: -32000, message: 'x' } }],
      { code: 'item_failed', blockNumber: 101 },
    ],
    [
      'one error for the batch',
      { jsonrpc: '2.0', id: null, error: { code: -32005 } },
      { code: 'item_failed', blockNumber: 100 },
    ],
    ['an item nobody asked for', [...complete, item(4, {})], { code: 'shape_invalid' }],
    ['an id of another kind', [item('0', {}), ...complete.slice(1)], { code: 'shape_invalid' }],
    ['a fractional id', [item(0.5, {}), ...complete.slice(1)], { code: 'shape_invalid' }],
    ['an item that is none', [null, ...complete.slice(1)], { code: 'shape_invalid' }],
    ['an item without a result', [{ id: 0 }, ...complete.slice(1)], { code: 'shape_invalid' }],
  ])('%s is refused', (_, value, facts) => {
    const error = failure(value)
    expect(error).toBeInstanceOf(NodeAnswerError)
    expect(error).toMatchObject({ remedy: 'retry', ...facts })
  })

  test('a body cut short is refused at any byte, and the message does not quote it', () => {
    const body = Buffer.from(JSON.stringify(complete))
    for (let length = 0; length < body.length; length++) {
      const cut = () => parseRange(body.subarray(0, length), range)
      expect(cut).toThrow(expect.objectContaining({ code: 'json_invalid', remedy: 'retry' }))
      expect(cut).not.toThrow(/result/)
    }
  })
})
