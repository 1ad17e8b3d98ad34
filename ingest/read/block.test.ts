import { beforeAll, describe, expect, it } from 'vitest'
import { hash } from '#primitives.ts'
import { type BuiltBlock, builtBlock } from '#test/support/builtBlock.ts'
import { readAt, withAt, withFlipped } from '#test/support/json.ts'
import { type AskedBlock, parseBlock, parseReceipts } from './block.ts'
import { type LoosePart, looseParts } from './looseParts.ts'
import { NodeAnswerError } from './NodeAnswerError.ts'

let built: BuiltBlock
beforeAll(async () => {
  built = await builtBlock()
})

function problemOf(parse: () => unknown): { code: string; field: string; blockNumber: number | undefined } {
  try {
    parse()
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    expect(error.remedy).toBe('retry')
    return { code: error.code, field: error.field, blockNumber: error.blockNumber }
  }
  throw new Error('the answer was accepted')
}

function blockProblem(answer: unknown, asked?: AskedBlock) {
  return problemOf(() => parseBlock(answer, asked))
}

function receiptsProblem(answer: unknown) {
  return problemOf(() => parseReceipts(answer, parseBlock(built.block)))
}

describe('parseBlock', () => {
  it('returns the very value it was given', () => {
    expect(parseBlock(built.block)).toBe(built.block)
  })

  it('fills in the type that old nodes leave out of legacy transactions', () => {
    const block = parseBlock(withAt(built.block, 'transactions[0].type', undefined))
    expect(block.transactions[0]?.type).toBe('0x0')
  })

  it('keeps fields and envelopes it does not know', () => {
    const unknown = { ...built.block.transactions[0], type: '0x6a', to: undefined, gasless: true }
    const block = parseBlock(withAt({ ...built.block, novelty: 1 }, 'transactions[0]', unknown))
    expect(block).toMatchObject({
      novelty: 1,
      transactions: [{ type: '0x6a', gasless: true }, {}, {}, {}, {}, {}],
    })
  })

  it('finds out null and an answer about another block', () => {
    const asked = { number: 1000 }
    expect(blockProblem(null, asked)).toEqual({ code: 'block_missing', field: '', blockNumber: 1000 })
    expect(blockProblem(built.block, { number: 1001 })).toMatchObject({
      code: 'block_mismatch',
      field: 'number',
    })
    const other = hash(`0x${'1'.repeat(64)}`)
    expect(blockProblem(built.block, { hash: other })).toMatchObject({
      code: 'block_mismatch',
      field: 'hash',
    })
  })

  it.each([
    ['number', '1000', 'quantity_invalid'],
    ['number', -1, 'quantity_invalid'],
    ['number', ['0x3e8'], 'shape_invalid'],
    ['number', '0x20000000000000', 'quantity_invalid'],
    ['number', undefined, 'shape_invalid'],
    ['timestamp', '0x66.5', 'quantity_invalid'],
    ['gasUsed', '-0x1', 'quantity_invalid'],
    ['gasUsed', '0xFG', 'quantity_invalid'],
    ['baseFeePerGas', `0x1${'0'.repeat(64)}`, 'quantity_invalid'],
    ['hash', '0x12', 'hex_invalid'],
    ['parentHash', `0x${'G'.repeat(64)}`, 'hex_invalid'],
    ['stateRoot', null, 'shape_invalid'],
    ['miner', `0x${'AG'.repeat(20)}`, 'hex_invalid'],
    ['miner', undefined, 'shape_invalid'],
    ['logsBloom', '0x', 'hex_invalid'],
    ['extraData', '0x123', 'hex_invalid'],
    ['nonce', `0x1${'0'.repeat(16)}`, 'hex_invalid'],
    ['requestsHash', '0x', 'hex_invalid'],
    ['consensusContext', { epoch: -1 }, 'quantity_invalid', 'consensusContext.epoch'],
    ['transactions', {}, 'shape_invalid'],
    ['transactions[1]', `0x${'ab'.repeat(32)}`, 'shape_invalid'],
    ['transactions[1].hash', 'latest', 'hex_invalid'],
    ['transactions[1].type', '0x100', 'quantity_invalid'],
    ['transactions[1].from', undefined, 'shape_invalid'],
    ['transactions[1].to', '0x0', 'hex_invalid'],
    ['transactions[1].value', '5', 'quantity_invalid'],
    ['transactions[1].value', 0.5, 'quantity_invalid'],
    ['transactions[1].nonce', null, 'shape_invalid'],
    ['transactions[1].input', '0xabc', 'hex_invalid'],
    ['transactions[1].r', `0x${'1'.repeat(65)}`, 'quantity_invalid'],
    ['transactions[1].blockHash', `0x${'ab'.repeat(32)}`, 'block_mismatch'],
    ['transactions[1].blockNumber', '0x3e9', 'block_mismatch'],
    ['transactions[1].transactionIndex', '0x2', 'index_mismatch'],
    ['transactions[1].transactionIndex', '0x02', 'index_mismatch'],
    ['transactions[2].accessList[0].address', '0x', 'hex_invalid'],
    ['transactions[4].blobVersionedHashes', ['0x'], 'hex_invalid'],
    ['transactions[5].authorizationList[0].nonce', '', 'quantity_invalid'],
    ['transactions[5].authorizationList', '0x', 'shape_invalid'],
  ])('rejects %s = %j as %s', (path, value, code, field = path) => {
    expect(blockProblem(withAt(built.block, path, value))).toMatchObject({ code, field })
  })

  it('rejects a Tempo transaction without calls, or with a broken one', () => {
    const tempo = {
      ...built.block.transactions[1],
      type: '0x76',
      calls: [{ to: null, input: '0x' }, { to: '0x' }],
    }
    const broken = withAt(built.block, 'transactions[1]', tempo)
    expect(blockProblem(broken)).toMatchObject({ code: 'hex_invalid', field: 'transactions[1].calls[1].to' })
    const none = withAt(broken, 'transactions[1].calls', null)
    expect(blockProblem(none)).toMatchObject({ code: 'shape_invalid', field: 'transactions[1].calls' })
  })

  it('reads no part of an envelope we do not know that only has a name of one of Tempo’s', () => {
    const nested = [[{ to: '0x', data: '0x' }], []]
    for (const parts of [
      { calls: nested },
      { calls: 2 },
      { feeToken: '0x' },
      { nonceKey: [] },
      { validBefore: 'now' },
    ]) {
      const tx = { ...built.block.transactions[1], type: '0x7b', ...parts }
      expect(parseBlock(withAt(built.block, 'transactions[1]', tx)).transactions[1]).toMatchObject(parts)
    }
  })
})

describe('parseReceipts', () => {
  it('returns the very value it was given', () => {
    expect(parseReceipts(built.receipts, parseBlock(built.block))).toBe(built.receipts)
  })

  it('takes receipts from before Byzantium, without bloom, without price, and with a numeric block timestamp', () => {
    let receipts = withAt(built.receipts, '[0].status', undefined)
    receipts = withAt(receipts, '[0].root', readAt(built.block, 'stateRoot'))
    receipts = withAt(receipts, '[0].effectiveGasPrice', null)
    receipts = withAt(receipts, '[0].blockTimestamp', 1769905903)
    expect(parseReceipts(withAt(receipts, '[1].logsBloom', undefined), parseBlock(built.block))).toHaveLength(
      6,
    )
  })

  it('takes null for an empty list and for no bytes, whatever the roots prove', () => {
    const block = { ...built.block, transactions: [built.block.transactions[0]] }
    let told = withAt([built.receipts[0]], '[0].logs', null)
    for (const loose of [new Set<LoosePart>(), new Set(looseParts)])
      expect(parseReceipts(structuredClone(told), parseBlock(block), loose)[0]?.logs).toEqual([])
    told = withAt(told, '[0].logs', undefined)
    expect(parseReceipts(structuredClone(told), parseBlock(block))[0]?.logs).toEqual([])
    const full = withAt(told, '[0].logsBloom', readAt(built.receipts, '[3].logsBloom'))
    expect(problemOf(() => parseReceipts(full, parseBlock(block)))).toMatchObject({ code: 'shape_invalid' })
    const log = withAt(withAt(built.receipts, '[1].logs[0].topics', null), '[1].logs[0].data', null)
    expect(parseReceipts(log, parseBlock(built.block))[1]?.logs[0]).toMatchObject({ topics: [], data: '0x' })
  })

  it('finds out missing receipts', () => {
    expect(receiptsProblem(null)).toEqual({ code: 'receipts_missing', field: '', blockNumber: 1000 })
    expect(receiptsProblem(withAt(built.receipts, '[3]', null))).toMatchObject({
      code: 'receipts_missing',
      field: '[3]',
    })
    expect(receiptsProblem(built.receipts.slice(0, -1))).toMatchObject({ code: 'count_mismatch' })
    expect(receiptsProblem([...built.receipts, built.receipts[5]])).toMatchObject({ code: 'count_mismatch' })
  })

  it.each([
    ['[2].logs', {}, 'shape_invalid'],
    ['[2].cumulativeGasUsed', '0', 'quantity_invalid'],
    ['[2].gasUsed', '0x20000000000000', 'quantity_invalid'],
    ['[2].status', undefined, 'shape_invalid', '[2].root'],
    ['[2].status', true, 'shape_invalid'],
    ['[2].contractAddress', '0x0', 'hex_invalid'],
    ['[2].logsBloom', '0x00', 'hex_invalid'],
    ['[2].type', '0x2', 'transaction_mismatch'],
    ['[2].transactionIndex', '0x3', 'index_mismatch'],
    ['[3].logs[1].logIndex', '0x3', 'index_mismatch'],
    ['[3].logs[1].logIndex', '0x5', 'index_mismatch'],
    ['[3].logs[1].logIndex', '4', 'quantity_invalid'],
    ['[3].logs[1].topics', [`0x${'1'.repeat(63)}`], 'hex_invalid'],
    ['[3].logs[1].topics', Array(5).fill(`0x${'1'.repeat(64)}`), 'shape_invalid'],
    ['[3].logs[1].data', '', 'hex_invalid'],
    ['[3].logs[1].removed', true, 'log_removed'],
    ['[3].logs[1].address', null, 'shape_invalid'],
  ])('rejects %s = %j as %s', (path, value, code, field = path) => {
    expect(receiptsProblem(withAt(built.receipts, path, value))).toMatchObject({ code, field })
  })

  it.each([
    ['[3].blockHash', 'block_mismatch'],
    ['[3].blockNumber', 'block_mismatch'],
    ['[3].transactionHash', 'transaction_mismatch'],
    ['[3].from', 'transaction_mismatch'],
    ['[3].logs[2].blockHash', 'block_mismatch'],
    ['[3].logs[2].blockNumber', 'block_mismatch'],
    ['[3].logs[2].transactionHash', 'transaction_mismatch'],
    ['[3].logs[2].transactionIndex', 'index_mismatch'],
  ])('rejects %s of a sibling block or transaction as %s', (field, code) => {
    expect(receiptsProblem(withFlipped(built.receipts, field))).toMatchObject({ code, field })
  })
})
