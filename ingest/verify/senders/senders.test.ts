import { keccak256, numberToHex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { address, hash } from '#primitives.ts'
import { readRecording } from '#test/chain/recordings.ts'
import { type BuiltBlock, builtBlock } from '#test/support/builtBlock.ts'
import { parseBlock, type RpcBlock } from '../../read/block.ts'
import { SenderRefutedError } from './SenderRefutedError.ts'
import { statedSender } from './sender.ts'
import { drawSenderSample, everySender, isSampled, SENDERS_ONE_IN } from './senderSample.ts'
import { assertSenders } from './senders.ts'

const stranger = address(`0x${'5'.repeat(40)}`)
const proved = { unprovableTxs: 0 }
const never = { key: [1, 2], oneIn: 2 ** 40 } as const

/** The block as told by a node that says another sender at one place. */
function lyingAt(block: RpcBlock, at: number): RpcBlock {
  const transactions = block.transactions.map((tx, index) => (index === at ? { ...tx, from: stranger } : tx))
  return { ...block, transactions }
}

let built: BuiltBlock
let block: RpcBlock
beforeAll(async () => {
  built = await builtBlock()
  block = parseBlock(built.block)
})

describe('assertSenders', () => {
  it('takes a true block, and names block, place, told and true sender of a lie at any place', () => {
    assertSenders(block, proved, everySender)
    for (const [index, tx] of block.transactions.entries()) {
      const told = () => assertSenders(lyingAt(block, index), proved, everySender)
      expect(told).toThrow(SenderRefutedError)
      const facts = { blockNumber: 1000, txIndex: index, told: stranger, recovered: tx.from, remedy: 'retry' }
      expect(told).toThrow(expect.objectContaining(facts))
    }
  })

  it('refutes a transaction whose signature is nobody’s', () => {
    const [first] = block.transactions
    const forged = { ...block, transactions: [{ ...first, r: `0x${'f'.repeat(64)}` }] } as unknown as RpcBlock
    expect(() => assertSenders(forged, proved, everySender)).toThrow(
      expect.objectContaining({ recovered: null }),
    )
  })

  it('recovers nobody outside the sample', () => {
    for (const index of block.transactions.keys()) assertSenders(lyingAt(block, index), proved, never)
  })

  it('says nothing of a transaction whose own hash could not be recomputed', () => {
    const [first] = block.transactions
    const open = { ...block, transactions: [{ ...first, from: stranger, gas: '0x1' }] } as unknown as RpcBlock
    assertSenders(open, { unprovableTxs: 1 }, everySender)
    expect(() => assertSenders(lyingAt(block, 0), { unprovableTxs: 1 }, everySender)).toThrow(
      SenderRefutedError,
    )
  })
})

describe('a sender that the signature states', () => {
  it('is refuted outside the sample too: by P-256, passkey and access key', () => {
    let refuted = 0
    for (const recorded of readRecording('tempo-dev-2k', 4)) {
      const held = parseBlock(recorded.block)
      for (const [index, tx] of held.transactions.entries()) {
        const told = () => assertSenders(lyingAt(held, index), proved, never)
        if (statedSender(tx) === null) told()
        else {
          expect(told).toThrow(SenderRefutedError)
          refuted++
        }
      }
    }
    expect(refuted).toBeGreaterThan(20)
  })
})

describe('a sample of senders', () => {
  const hashes = Array.from({ length: 50_000 }, (_, index) => hash(keccak256(numberToHex(index))))
  const chosen = (key: readonly [number, number]) =>
    hashes.filter((one) => isSampled({ key, oneIn: SENDERS_ONE_IN }, one))

  it('is one in 250, the same again under its key, and others under any other', () => {
    const [one, same, other, another] = [chosen([1, 2]), chosen([1, 2]), chosen([3, 2]), chosen([1, 3])]
    for (const found of [one, other, another]) {
      expect(found.length).toBeGreaterThan(120)
      expect(found.length).toBeLessThan(280)
    }
    expect(same).toEqual(one)
    // By chance one of 200 is in both.
    const held = new Set(one)
    expect(other.filter((tx) => held.has(tx)).length).toBeLessThan(15)
    expect(another.filter((tx) => held.has(tx)).length).toBeLessThan(15)
  })

  it('is drawn anew by every process', () => {
    const randoms = [0.25, 0.5, 0.75, 0]
    const draw = () => drawSenderSample(() => randoms.shift() ?? 0, 100)
    expect([draw(), draw()]).toEqual([
      { key: [2 ** 30, 2 ** 31], oneIn: 100 },
      { key: [3 * 2 ** 30, 0], oneIn: 100 },
    ])
  })
})
