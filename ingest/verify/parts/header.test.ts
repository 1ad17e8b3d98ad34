import { fromRlp, keccak256, toHex, toRlp } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { amsterdamBlocks, amsterdamHeader } from '#test/support/amsterdam.ts'
import { type BuiltBlock, builtBlock, type JsonObject } from '#test/support/builtBlock.ts'
import { withAt } from '#test/support/json.ts'
import { readRealBlock } from '#test/support/realBlocks.ts'
import { parseBlock } from '../../read/block.ts'
import { detectHeaderRule, hasUnknownHeaderFields, headerBytes, headerHash } from './header.ts'

let built: BuiltBlock
beforeAll(async () => {
  built = await builtBlock()
})

const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const mainnetGenesis = {
  number: '0x0',
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: `0x${'0'.repeat(64)}`,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'0'.repeat(40)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: emptyRoot,
  receiptsRoot: emptyRoot,
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x400000000',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: `0x${'0'.repeat(64)}`,
  nonce: '0x0000000000000042',
  transactions: [],
}

describe('header hashes', () => {
  it('give the hash of the Ethereum genesis, which has no fork fields', () => {
    expect(detectHeaderRule(parseBlock(mainnetGenesis))).toBe('ethereum')
  })

  it('include the fields of every fork up to Prague, and leave out those of later ones', () => {
    expect(detectHeaderRule(parseBlock(built.block))).toBe('ethereum')
    const forks = ['requestsHash', 'parentBeaconBlockRoot', 'excessBlobGas', 'blobGasUsed', 'withdrawalsRoot']
    const hashes = new Set<string>([built.block.hash])
    let block: unknown = built.block
    for (const field of forks) {
      block = withAt(block, field, null)
      hashes.add(headerHash(parseBlock(block), 'ethereum'))
    }
    expect(hashes.size).toBe(forks.length + 1)
  })

  it('are of no known rule when a chain hashes something else', () => {
    const block = parseBlock(withAt(built.block, 'extraData', '0x'))
    expect(detectHeaderRule(block)).toBe('unknown')
  })

  it('may miss a field of a fork we do not know', () => {
    expect(hasUnknownHeaderFields(parseBlock(built.block))).toBe(false)
    expect(hasUnknownHeaderFields(parseBlock({ ...built.block, slotsMissed: '0x1' }))).toBe(true)
  })
})

describe('header hashes of Amsterdam', () => {
  const swapped = (header: JsonObject) => ({
    ...header,
    blockAccessListHash: `0x${String(header['slotNumber']).slice(2).padStart(64, '0')}`,
    slotNumber: '0x1',
  })

  it.each(['sepolia11856337', 'devnet192amsterdam', 'synthetic'] as const)(
    'give that of %s, and another one without either field',
    (name) => {
      const header = amsterdamHeader(name)
      expect(detectHeaderRule(parseBlock(header))).toBe('ethereum')
      for (const field of ['blockAccessListHash', 'slotNumber'])
        expect(detectHeaderRule(parseBlock(withAt(amsterdamHeader(name), field, undefined))), field).toBe(
          'unknown',
        )
      expect(detectHeaderRule(parseBlock(swapped(amsterdamHeader(name))))).toBe('unknown')
    },
  )

  it('give that of the block before the fork, which has neither', () => {
    expect(detectHeaderRule(parseBlock(amsterdamHeader('devnet191prague')))).toBe('ethereum')
  })

  it('hash slot 0 as the empty string, and differ where both fields are left out', () => {
    const [block] = amsterdamBlocks()
    expect(block?.block).toMatchObject({ slotNumber: '0x0' })
    expect(detectHeaderRule(parseBlock(block?.block))).toBe('ethereum')
    const { blockAccessListHash: _, slotNumber: __, ...header } = amsterdamHeader('synthetic')
    expect(headerHash(parseBlock(header), 'ethereum')).toBe(
      '0x674ef048b9dc0acfb0837431fddf9bf19b689effe7207df912cbf774899338be',
    )
  })
})

describe('Tempo header hashes', () => {
  it('cover every field that Tempo wraps around the header', () => {
    const { block } = readRealBlock('tempo-mainnet', '20636966')
    expect(detectHeaderRule(parseBlock(block))).toBe('tempo')
    const changes = {
      mainBlockGeneralGasLimit: '0x1',
      sharedGasLimit: '0x1',
      timestampMillisPart: '0x1',
      consensusContext: null,
      'consensusContext.epoch': 1,
      'consensusContext.view': 1,
      'consensusContext.parentView': 1,
      'consensusContext.proposer': emptyRoot,
    }
    for (const [path, value] of Object.entries(changes)) {
      expect(detectHeaderRule(parseBlock(withAt(block, path, value))), path).toBe('unknown')
    }
  })

  it('cover the list hash that some builds write into the inner header', () => {
    const { block } = readRealBlock('tempo-mainnet', '20636966')
    const items = fromRlp(toHex(headerBytes(parseBlock(block), 'tempo')))
    const header = Array.isArray(items) ? items : []
    const withList = header.map((item) =>
      Array.isArray(item) && item.length > 4 ? [...item, emptyRoot] : item,
    )
    const hash = keccak256(toRlp(withList))
    const told = { ...Object(block), hash, blockAccessListHash: emptyRoot, transactions: [] }
    expect(detectHeaderRule(parseBlock(told))).toBe('tempo')
    expect(detectHeaderRule(parseBlock({ ...told, blockAccessListHash: null }))).toBe('unknown')
  })
})
