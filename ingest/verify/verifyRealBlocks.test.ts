// Invariant: I2.
import { describe, expect, it } from 'vitest'
import { readRecording } from '../../test/chain/recordings.ts'
import { allProved, prove, refutedParts } from '../../test/ingest/support/blockProofs.ts'
import { withFlipped } from '../../test/support/json.ts'
import { readRealBlock } from '../../test/support/realBlocks.ts'
import { scanned } from '../../test/support/scanned.ts'
import { parseBlock, parseReceipts } from '../read/block.ts'
import { detectHeaderRule } from './parts/header.ts'
import { verifyBlock } from './verifyBlock.ts'

describe('blocks of real chains', () => {
  it.each([
    ['tempo', 'tempo-mainnet', '17708868'],
    ['tempo', 'tempo-mainnet', '20636966'],
    ['tempo', 'tempo-moderato', '6000178'],
    ['tempo', 'tempo-moderato', '6541'],
    ['ethereum', 'ethereum', '1000000'],
    ['ethereum', 'ethereum', '18500000'],
    ['ethereum', 'optimism', '154497277'],
  ] as const)('are proved under the %s header rule: %s/%s', (rule, chain, height) => {
    const recorded = readRealBlock(chain, height)
    expect(detectHeaderRule(parseBlock(recorded.block))).toBe(rule)
    expect(prove(recorded, rule)).toEqual(allProved)
  })

  it.each([
    ...[
      '[0].calls[0].to',
      '[0].calls[0].value',
      '[0].calls[0].input',
      '[0].nonce',
      '[0].nonceKey',
      '[0].gas',
    ],
    ...['[0].chainId', '[0].maxFeePerGas', '[0].maxPriorityFeePerGas', '[0].signature.r'],
    ...['[0].signature.s', '[0].signature.yParity'],
  ])('are refuted when a byte of a Tempo transaction is changed: transactions%s', (path) => {
    const { block, receipts } = readRealBlock('tempo-mainnet', '17708868')
    const wrong = { block: withFlipped(block, `transactions${path}`), receipts }
    expect(refutedParts(prove(wrong, 'tempo'))).toEqual(['transactionsRoot'])
  })

  it('are unprovable when the transaction grants an access key, whose encoding is still growing', () => {
    const { block, receipts } = readRealBlock('tempo-mainnet', '17708868')
    const wrong = { block: withFlipped(block, 'transactions[1].keyAuthorization.keyId'), receipts }
    expect(prove(wrong, 'tempo')).toMatchObject({ transactionsRoot: 'unprovable', unprovableTxs: 1 })
  })
})

describe('recordings of the dev chain', () => {
  it('are proved block by block, each linked to its parent', () => {
    let parent: { number: number; hash: string } | undefined
    for (const recorded of readRecording('tempo-dev-2k')) {
      const block = parseBlock(recorded.block)
      const receipts = parseReceipts(recorded.receipts, block)
      const options = { headerRule: 'ethereum', checks: 'roots', ...(parent && { parent }) } as const
      const proof = verifyBlock(block, scanned(receipts), options)
      expect(proof).toEqual({ ...allProved, parent: parent ? 'proved' : 'unchecked' })
      parent = { number: Number(block.number), hash: block.hash }
    }
  })

  it('are proved with every kind of transaction and of signature the dev chain can make', () => {
    for (const recorded of readRecording('tempo-dev-30k', 10)) {
      expect(detectHeaderRule(parseBlock(recorded.block))).toBe('ethereum')
      expect(prove(recorded, 'ethereum')).toEqual(allProved)
    }
  })
})
