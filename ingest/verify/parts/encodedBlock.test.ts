import { fromRlp, keccak256, toHex, toRlp } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { type BuiltBlock, builtBlock } from '#test/support/builtBlock.ts'
import { withAt } from '#test/support/json.ts'
import { readRealBlock } from '#test/support/realBlocks.ts'
import { scanned } from '#test/support/scanned.ts'
import { parseBlock, parseReceipts } from '../../read/block.ts'
import { type BlockProof, verifyBlock } from '../verifyBlock.ts'
import { type EncodedBlock, encodedHeaderVerdict } from './encodedBlock.ts'
import { type HeaderRule, headerBytes } from './header.ts'

/** The proof of an answer, with the block's own bytes or without. */
function prove(
  { block: json, receipts: list }: Pick<BuiltBlock, 'block' | 'receipts'>,
  encoded?: EncodedBlock,
  headerRule: HeaderRule = 'ethereum',
): BlockProof {
  const block = parseBlock(json)
  const receipts = scanned(parseReceipts(list, block))
  return verifyBlock(block, receipts, { headerRule, checks: 'roots', encoded })
}

const wrong = (told: BuiltBlock, path: string, value: unknown): BuiltBlock => withAt(told, path, value)

/** The last one is of a fork that nobody knows. */
const newFields = {
  blockAccessListHash: `0x${'ba'.repeat(32)}`,
  slotNumber: '0x1234',
  slotsMissed: '0x1',
} as const

let newField: BuiltBlock
let newEnvelope: BuiltBlock
beforeAll(async () => {
  newField = await builtBlock({ fields: newFields })
  newEnvelope = await builtBlock({ fields: newFields, hasEnvelope: true })
})

describe('a header with a field we do not know', () => {
  it('is proved by its own bytes alone', () => {
    expect(prove(newField).header).toBe('unprovable')
    expect(prove(newField, newField.encoded)).toMatchObject({
      ...{ header: 'proved', transactionsRoot: 'proved', receiptsRoot: 'proved', bloom: 'proved' },
      unprovableTxs: 0,
    })
    expect(prove(newField, newField.encoded, 'unknown').header).toBe('proved')
  })

  it.each(['stateRoot', 'timestamp', 'miner', 'gasUsed', 'baseFeePerGas', 'extraData'])(
    'is refuted where its %s is another',
    (field) => {
      const lie = wrong(newField, `block.${field}`, field === 'miner' ? `0x${'12'.repeat(20)}` : '0x12')
      if (field === 'stateRoot') Object.assign(lie.block, { stateRoot: `0x${'12'.repeat(32)}` })
      expect(prove(lie).header).toBe('unprovable')
      expect(prove(lie, newField.encoded).header).toBe('refuted')
    },
  )

  it.each(['requestsHash', 'slotNumber'])('is not proved where it leaves out its %s', (field) => {
    const told = wrong(newField, `block.${field}`, undefined)
    expect(prove(told, newField.encoded).header).toBe('unprovable')
  })

  it('is proved on Tempo, which has no field of Amsterdam, by what stands behind the inner header', () => {
    const json = { ...Object(readRealBlock('tempo-mainnet', '20636966').block), transactions: [] }
    const items = fromRlp(toHex(headerBytes(parseBlock(json), 'tempo')))
    const header = [...(Array.isArray(items) ? items : []), '0x2a' as const]
    const encoded = { block: toRlp([header, [], []]), receipts: [] }
    const verdictWith = (lie: object) =>
      encodedHeaderVerdict(parseBlock({ ...json, hash: keccak256(toRlp(header)), ...lie }), encoded)
    expect(verdictWith({})).toBe('proved')
    expect(verdictWith({ requestsHash: null })).toBe('open')
    expect(verdictWith({ gasUsed: '0x1' })).toBe('refuted')
  })

  it.each([
    ['of another block', () => newEnvelope.encoded.block],
    ['cut off', () => newField.encoded.block.slice(0, -40)],
    ['no hex', () => '0xzz'],
    ['nothing', () => '0x'],
    ['a list that says it is longer', () => '0xff00000001'],
  ])('stays unprovable by bytes that are %s', (_, block) => {
    expect(prove(newField, { ...newField.encoded, block: block() }).header).toBe('unprovable')
  })
})

describe('receipts of an envelope we do not know', () => {
  it('are proved by their own bytes, the transaction is not', () => {
    expect(prove(newEnvelope)).toMatchObject({ receiptsRoot: 'unprovable' })
    expect(prove(newEnvelope, newEnvelope.encoded)).toMatchObject({
      ...{ header: 'proved', transactionsRoot: 'unprovable', receiptsRoot: 'proved', bloom: 'proved' },
      unprovableTxs: 1,
    })
  })

  it.each([
    ['status', 'receipts.5.status', '0x0'],
    ['gas', 'receipts.5.cumulativeGasUsed', '0x1'],
    ['data of a log', 'receipts.5.logs.1.data', `0x${'5b'.repeat(20)}`],
    ['emitter of a log', 'receipts.5.logs.1.address', `0x${'12'.repeat(20)}`],
  ])('are refuted with another %s', (_, path, value) => {
    const lie = wrong(newEnvelope, path, value)
    expect(prove(lie).receiptsRoot).toBe('unprovable')
    expect(prove(lie, newEnvelope.encoded).receiptsRoot).toBe('refuted')
  })

  it('stay unprovable by bytes that are not theirs', () => {
    const receipts = newEnvelope.encoded.receipts.toReversed()
    expect(prove(newEnvelope, { ...newEnvelope.encoded, receipts }).receiptsRoot).toBe('unprovable')
    expect(prove(newEnvelope, { ...newEnvelope.encoded, receipts: receipts.slice(1) }).receiptsRoot).toBe(
      'unprovable',
    )
  })
})
