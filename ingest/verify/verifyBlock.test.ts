// Invariant: I2.
import { keccak256 } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { address } from '#primitives.ts'
import type { RecordedBlock } from '../../test/chain/recordings.ts'
import { allProved, prove, refutedParts } from '../../test/ingest/support/blockProofs.ts'
import { amsterdamBlocks } from '../../test/support/amsterdam.ts'
import { type BuiltBlock, builtBlock } from '../../test/support/builtBlock.ts'
import { readAt, withAt, withFlipped } from '../../test/support/json.ts'
import { readRealBlock } from '../../test/support/realBlocks.ts'
import { scanned } from '../../test/support/scanned.ts'
import { parseBlock, parseReceipts } from '../read/block.ts'
import { creationAddress } from './parts/creationAddress.ts'
import { RefutedError } from './RefutedError.ts'
import { assertNotRefuted, verifyBlock } from './verifyBlock.ts'

let built: BuiltBlock
beforeAll(async () => {
  built = await builtBlock()
})

describe('a true block', () => {
  it('is proved in every part', () => {
    expect(prove(built, 'ethereum')).toEqual(allProved)
  })

  it('is proved from receipts that leave out their blooms', () => {
    const receipts = built.receipts.map((receipt) => ({ ...receipt, logsBloom: null }))
    expect(prove({ ...built, receipts }, 'ethereum')).toEqual(allProved)
  })

  it('is proved but for its header on a chain whose header rule is unknown', () => {
    expect(prove(built, 'unknown')).toEqual({ ...allProved, header: 'unprovable' })
  })

  it('is only linked to its parent when only links are checked', () => {
    const block = parseBlock(built.block)
    const parent = { number: Number(block.number) - 1, hash: block.parentHash }
    const links = (given: { number: number; hash: string }) =>
      verifyBlock(block, scanned([]), { headerRule: 'ethereum', checks: 'links', parent: given }).parent
    expect(links(parent)).toBe('proved')
    expect(links({ ...parent, hash: block.hash })).toBe('refuted')
    expect(links({ ...parent, number: 7 })).toBe('refuted')
  })
})

describe('a block of a chain whose headers stopped being provable', () => {
  const headerOf = (block: object) => {
    const receipts = scanned(parseReceipts(built.receipts, parseBlock(built.block)))
    const loose = new Set(['header'] as const)
    return verifyBlock(parseBlock(block), receipts, { headerRule: 'ethereum', checks: 'roots', loose }).header
  }

  it('is unprovable where its header does not hash, and proved where it does', () => {
    expect(headerOf(built.block)).toBe('proved')
    expect(headerOf({ ...built.block, miner: `0x${'7'.repeat(40)}` })).toBe('unprovable')
  })

  it('is still refuted where a list is not that of a header that hashes', () => {
    const of = { index: '0x0', validatorIndex: '0x1', amount: '0x1', address: `0x${'7'.repeat(40)}` }
    expect(headerOf({ ...built.block, withdrawals: [of] })).toBe('refuted')
  })
})

describe('a block of a fork that is known', () => {
  const headerOf = (block: BuiltBlock['block'], headersTo: number) => {
    const parsed = parseBlock(block)
    const known = { headersTo, envelopesTo: headersTo }
    const receipts = parseReceipts(built.receipts, parseBlock(built.block))
    return verifyBlock(parsed, scanned(receipts), { headerRule: 'ethereum', checks: 'roots', known })
  }

  it('is refuted with an invented field, and unprovable above the known heights', () => {
    const invented = { ...built.block, invented: '0x1', miner: `0x${'7'.repeat(40)}` }
    expect(headerOf(invented, 1_000).header).toBe('refuted')
    expect(headerOf(invented, 999).header).toBe('unprovable')
    expect(headerOf(built.block, 1_000)).toEqual(allProved)
  })

  it('is unprovable without its slot above the known heights, and refuted with another field changed or below', async () => {
    const fields = { blockAccessListHash: keccak256('0x08'), slotNumber: '0x9' } as const
    const { block } = await builtBlock({ fields })
    const told = withAt(block, 'slotNumber', undefined)
    expect(headerOf(block, 999)).toEqual(allProved)
    expect(headerOf(told, 999).header).toBe('unprovable')
    expect(headerOf(told, 1_000).header).toBe('refuted')
    expect(headerOf(withAt(block, 'slotNumber', '0xa'), 999).header).toBe('refuted')
    expect(headerOf(withAt(block, 'blockAccessListHash', undefined), 999).header).toBe('refuted')
  })

  it('is refuted with an invented envelope', () => {
    const transactions = built.block.transactions.map((tx) => ({
      ...tx,
      ...(tx['type'] === '0x2' && { type: '0x9' }),
    }))
    const invented = { ...built.block, transactions }
    expect(headerOf(invented, 1_000).transactionsRoot).toBe('refuted')
    expect(headerOf(invented, 999).transactionsRoot).toBe('unprovable')
  })
})

describe('a block of Amsterdam', () => {
  it.each(['0x1', '0x1e8480'] as const)(
    'is proved whatever its gas is to that of its receipts (%s)',
    async (gasUsed) => {
      const fields = { gasUsed, blockAccessListHash: keccak256('0x08'), slotNumber: '0x0' } as const
      expect(prove(await builtBlock({ fields }), 'ethereum')).toEqual(allProved)
    },
  )

  it('is proved with the log of its payment, and refuted without it or with another amount', () => {
    const [paid] = amsterdamBlocks()
    if (!paid) throw new Error('no block')
    expect(prove(paid, 'ethereum')).toEqual(allProved)
    expect(refutedParts(prove(withAt(paid, 'receipts[0].logs', []), 'ethereum'))).toEqual(['receiptsRoot'])
    expect(refutedParts(prove(withFlipped(paid, 'receipts[0].logs[0].data'), 'ethereum'))).toEqual([
      'receiptsRoot',
    ])
  })
})

describe('a block with one byte changed', () => {
  it.each([
    ...['sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'gasLimit'],
    ...['parentHash', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce', 'baseFeePerGas', 'difficulty'],
    ...['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
  ])('is refuted by its header: %s', (path) => {
    expect(refutedParts(prove({ ...built, block: withFlipped(built.block, path) }, 'ethereum'))).toEqual([
      'header',
    ])
  })

  it.each([
    ...[
      '[0].nonce',
      '[0].gasPrice',
      '[0].gas',
      '[0].to',
      '[0].value',
      '[1].input',
      '[0].v',
      '[0].r',
      '[0].s',
    ],
    ...['[2].chainId', '[2].yParity', '[2].accessList[0].address', '[2].accessList[0].storageKeys[1]'],
    ...['[3].maxFeePerGas', '[3].maxPriorityFeePerGas', '[4].maxFeePerBlobGas', '[4].blobVersionedHashes[0]'],
    ...[
      '[5].authorizationList[0].address',
      '[5].authorizationList[0].nonce',
      '[5].authorizationList[0].chainId',
    ],
    ...['[5].authorizationList[0].r', '[5].authorizationList[0].s', '[5].authorizationList[0].yParity'],
  ])('is refuted by its transactions root: transactions%s', (path) => {
    const proof = prove({ ...built, block: withFlipped(built.block, `transactions${path}`) }, 'ethereum')
    expect(refutedParts(proof)).toEqual(['transactionsRoot'])
  })

  it.each([
    ...['[2].status', '[2].cumulativeGasUsed', '[2].gasUsed', '[5].logsBloom', '[3].logs[1].address'],
    ...['[3].logs[2].topics[0]', '[5].logs[3].topics[2]', '[3].logs[1].data'],
  ])('is refuted by its receipts root: receipts%s', (path) => {
    const proof = prove({ ...built, receipts: withFlipped(built.receipts, path) }, 'ethereum')
    expect(refutedParts(proof)).toEqual(['receiptsRoot'])
  })
})

describe('a wrong block that agrees with itself', () => {
  it('is refuted when a transaction is another one with its true hash', () => {
    const hash = keccak256('0x01')
    const block = withAt(withAt(built.block, 'transactions[3].hash', hash), 'transactions[3].to', null)
    const receipts = withAt(built.receipts, '[3]', withHash(readAt(built.receipts, '[3]'), hash))
    expect(refutedParts(prove({ block, receipts }, 'ethereum'))).toEqual(['transactionsRoot'])
  })

  it('is refuted when two transactions have changed places', () => {
    const [first, second, ...others] = built.block.transactions
    const swapped = [{ ...second, transactionIndex: '0x0' }, { ...first, transactionIndex: '0x1' }, ...others]
    const block = parseBlock({ ...built.block, transactions: swapped })
    const options = { headerRule: 'ethereum', checks: 'roots' } as const
    expect(refutedParts(verifyBlock(block, scanned([]), options))).toEqual(['transactionsRoot'])
  })

  it('is refuted when its last log, or its last transaction and receipt, are left out', () => {
    const fewerLogs = withAt(
      built.receipts,
      '[5].logs',
      (readAt(built.receipts, '[5].logs') as unknown[]).slice(0, -1),
    )
    expect(refutedParts(prove({ ...built, receipts: fewerLogs }, 'ethereum'))).toEqual(['receiptsRoot'])
    const block = { ...built.block, transactions: built.block.transactions.slice(0, -1) }
    const cut = { block, receipts: built.receipts.slice(0, -1) }
    expect(refutedParts(prove(cut, 'ethereum'))).toEqual(['transactionsRoot'])
  })
})

describe('a block with a transaction of an unknown envelope', () => {
  const unknown = (): RecordedBlock => ({
    block: withAt(built.block, 'transactions[4].type', '0x6a'),
    receipts: withAt(built.receipts, '[4].type', undefined),
  })

  it('is unprovable where that transaction stands in the way, and counted', () => {
    const proof = prove(unknown(), 'ethereum')
    const unprovable = { transactionsRoot: 'unprovable', receiptsRoot: 'unprovable', unprovableTxs: 1 }
    expect(proof).toEqual({ ...allProved, ...unprovable })
    expect(() => assertNotRefuted(proof, 1000)).not.toThrow()
  })

  it('is still refuted by its bloom when a log is wrong, whatever the receipt says its bloom is', () => {
    const { block, receipts } = unknown()
    const wrong = withFlipped(receipts, '[5].logs[3].topics[2]')
    expect(refutedParts(prove({ block, receipts: wrong }, 'ethereum'))).toEqual(['bloom'])
  })

  it('is still refuted by another transaction that contradicts its hash', () => {
    const { block, receipts } = unknown()
    const wrong = { block: withFlipped(block, 'transactions[1].value'), receipts }
    expect(refutedParts(prove(wrong, 'ethereum'))).toEqual(['transactionsRoot'])
  })
})

describe('assertNotRefuted', () => {
  it.each([
    ['parent', 'parent_refuted'],
    ['header', 'header_refuted'],
    ['transactionsRoot', 'transactions_root_refuted'],
    ['receiptsRoot', 'receipts_root_refuted'],
    ['bloom', 'bloom_refuted'],
  ] as const)('names the refuted %s with the code %s', (part, code) => {
    const facts = { code, part, blockNumber: 12, remedy: 'retry' }
    const thrown = expect(() => assertNotRefuted({ ...allProved, [part]: 'refuted' }, 12))
    thrown.toThrow(RefutedError)
    thrown.toThrow(expect.objectContaining(facts))
  })
})

describe('fields that another rule hashes (L33)', () => {
  it.each([
    ['timestampMillisPart', '0x3e7'],
    ['consensusContext', { epoch: 1, view: 2, parentView: 1, proposer: `0x${'11'.repeat(32)}` }],
  ])('%s refutes a header that does not cover it', (field, value) => {
    const { block, receipts } = readRealBlock('ethereum', '18500000')
    const told = { block: { ...Object(block), [field]: value }, receipts }
    expect(refutedParts(prove(told, 'ethereum'))).toEqual(['header'])
    expect(prove({ block: { ...Object(block), [field]: null }, receipts }, 'ethereum')).toEqual(allProved)
  })
})

/** The receipt with its own and its logs' transaction hash replaced. */
function withHash(receipt: unknown, hash: string): unknown {
  const logs = readAt(receipt, 'logs') as readonly object[]
  return {
    ...(receipt as object),
    transactionHash: hash,
    logs: logs.map((log) => ({ ...log, transactionHash: hash })),
  }
}

describe('what no root covers but the transaction gives (L25)', () => {
  const creator = address('0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0')
  const created = '0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d'

  it('is the address of a created contract', () => {
    expect(creationAddress(creator, '0x0')).toBe(created)
  })

  it('refutes a contract that a plain call is said to have created, where addresses are made in the known way', () => {
    const told = withAt(built, 'receipts[0].contractAddress', created)
    expect(refutedParts(prove(told, 'ethereum'))).toEqual(['receiptsRoot'])
    expect(refutedParts(prove(told, 'unknown'))).toEqual([])
  })

  it('refutes a creation that went well and is said to have created nothing', () => {
    const nth = built.block.transactions.findIndex(({ to = null }) => to === null)
    const silent = withAt(built, `receipts[${nth}].contractAddress`, null)
    expect(refutedParts(prove(silent, 'ethereum'))).toEqual(['receiptsRoot'])
    expect(refutedParts(prove(silent, 'unknown'))).toEqual([])
  })
})
