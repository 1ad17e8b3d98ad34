import { expect, it } from 'vitest'
import {
  describeWithShared,
  type RecordedBlock,
  readFixture,
  readRecording,
} from '../../test/support/shared.ts'
import { parseBlock, parseReceipts } from '../block.ts'
import { detectHeaderRule, type HeaderRule } from './header.ts'
import { assertNotRefuted, type BlockProof, verifyBlock } from './verifyBlock.ts'

const allProved: Omit<BlockProof, 'parent'> = {
  header: 'proved',
  transactionsRoot: 'proved',
  receiptsRoot: 'proved',
  bloom: 'proved',
  unprovableTxs: 0,
}

function prove(recorded: RecordedBlock): { rule: HeaderRule; proof: BlockProof } {
  const block = parseBlock(recorded.block)
  const receipts = parseReceipts(recorded.receipts, block)
  const rule = detectHeaderRule(block)
  return { rule, proof: verifyBlock(block, receipts, { headerRule: rule, checks: 'roots' }) }
}

describeWithShared('blocks of real chains', () => {
  it.each([
    ['tempo', 'tempo-rpc', 'tempo-mainnet', '17708868'],
    ['tempo', 'tempo-rpc', 'tempo-mainnet', '20636966'],
    ['tempo', 'tempo-rpc', 'tempoModerato', '6000178'],
    ['tempo', 'tempo-rpc', 'tempoModerato', '6541'],
    ['ethereum', 'evm-rpc', 'ethereum', '1000000'],
    ['ethereum', 'evm-rpc', 'ethereum', '18500000'],
    ['ethereum', 'evm-rpc', 'optimism', '154497277'],
  ])('are proved under the %s header rule: %s/%s/%s', (rule, ...folder) => {
    expect(prove(readFixture(...folder))).toEqual({ rule, proof: { ...allProved, parent: 'unchecked' } })
  })
})

describeWithShared('recordings of the dev chain', () => {
  it('are proved block by block, each linked to its parent', () => {
    let parent: { number: number; hash: string } | undefined
    for (const recorded of readRecording('tempo-dev-2k')) {
      const block = parseBlock(recorded.block)
      const receipts = parseReceipts(recorded.receipts, block)
      const options = { headerRule: 'ethereum', checks: 'roots', ...(parent && { parent }) } as const
      const proof = verifyBlock(block, receipts, options)
      expect(proof).toEqual({ ...allProved, parent: parent ? 'proved' : 'unchecked' })
      assertNotRefuted(proof, Number(block.number))
      parent = { number: Number(block.number), hash: block.hash }
    }
  })

  it('are proved with every kind of transaction and of signature the dev chain can make', () => {
    for (const recorded of readRecording('tempo-dev-30k', 10)) {
      expect(prove(recorded)).toEqual({ rule: 'ethereum', proof: { ...allProved, parent: 'unchecked' } })
    }
  })
})
