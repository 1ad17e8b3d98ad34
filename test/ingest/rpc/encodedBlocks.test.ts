// Goal: a block whose JSON does not prove all of it is asked for as it was hashed, before a second
// endpoint's word is needed; a node that does not tell that, or lies, costs one question in ten
// minutes and stops no other one's (L39). One that leaves out the slot of a block is no liar.
// Method: real sources over HTTP; their nodes answer with a block of a fork nobody knows.
import { afterEach, beforeAll, expect, test } from 'vitest'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import type { Hex } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { type EncodedBatch, sameRows } from '#transform/batch.ts'
import { decodeRaw } from '#transform/decode/decodeRange.ts'
import { leavesOutAlone } from '#transform/leftOut.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { type BuiltBlock, builtBlock } from '../../support/builtBlock.ts'
import { withAt } from '../../support/json.ts'
import { type FakeNode, type NodeCall, startNode } from '../support/proxyNode.ts'

const CHAIN_ID = 9_025
const AT = 1_000
const profile: ChainProfile = { chainId: CHAIN_ID, kind: 'evm', checks: 'roots', headerRule: 'ethereum' }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** The last one is of a fork that nobody knows. */
const newFields = {
  blockAccessListHash: `0x${'ba'.repeat(32)}`,
  slotNumber: '0x1234',
  slotsMissed: '0x1',
} as const

let newField: BuiltBlock
let newEnvelope: BuiltBlock
/** A block of Amsterdam, and as a node tells it that keeps to the schema of JSON-RPC. */
let slotted: BuiltBlock
let slotless: BuiltBlock
beforeAll(async () => {
  const { slotsMissed: _, ...fields } = newFields
  slotted = await builtBlock({ fields })
  slotless = withAt(slotted, 'block.slotNumber', undefined)
  newField = await builtBlock({ fields: newFields })
  newEnvelope = await builtBlock({ fields: newFields, hasEnvelope: true })
})

/** @param encoded what it tells of the block's own bytes; absent, it knows no such method */
async function nodeOf(
  told: BuiltBlock,
  encoded?: { block: Hex; receipts: readonly Hex[] },
): Promise<FakeNode> {
  const answers: Readonly<Record<string, unknown>> = {
    eth_chainId: `0x${CHAIN_ID.toString(16)}`,
    eth_getBlockByNumber: told.block,
    eth_getBlockReceipts: told.receipts,
    ...(encoded && { debug_getRawBlock: encoded.block, debug_getRawReceipts: encoded.receipts }),
  }
  const node = await startNode({
    call: ({ method }: NodeCall) =>
      method in answers
        ? { result: answers[method] }
        : { error: { code: -32601, message: 'no such method' } },
  })
  open.push(node)
  return node
}

/** Fetches the block so many times; what was taken on one endpoint's word is counted. */
async function take(nodes: readonly FakeNode[], times = 1) {
  const source = createSource({
    ...{ chainId: CHAIN_ID, urls: nodes.map(({ url }) => url), finalityDepth: 0, announcements: false },
    ...{ runtime: systemRuntime(), log: silentLogger },
  })
  open.push(source)
  await source.head()
  let alone = 0
  const fetcher = {
    ...{ source, failpoint: () => {}, lane: 'head' as const },
    decode: async (raw: Parameters<typeof decodeRaw>[1]) => decodeRaw(profile, raw).batch,
    witnessing: {
      isProved: ({ proofs }: EncodedBatch) => proofs.unprovableBlocks === 0,
      isSame: sameRows,
      leavesOut: leavesOutAlone,
      takenSurely: () => {},
      takenAlone: () => {
        alone++
      },
    },
  }
  const taken = []
  for (let time = 0; time < times; time++) taken.push(await fetchVerified(fetcher, { from: AT, to: AT }))
  const failures = source.endpoints().map(({ lastFailure }) => lastFailure)
  return { alone, taken, proofs: taken.at(-1)?.batch.proofs, failures }
}

const asked = ({ calls }: FakeNode) => [calls.get('debug_getRawBlock'), calls.get('debug_getRawReceipts')]

test('a new header field is proved by the block itself', async () => {
  const node = await nodeOf(newField, newField.encoded)
  const { alone, proofs } = await take([node])
  expect(proofs).toEqual({ provedBlocks: 1, unprovableBlocks: 0, unprovableTxs: 0, unprovableParts: [] })
  expect({ alone, asked: asked(node) }).toEqual({ alone: 0, asked: [1, 1] })
})

test('a node that does not tell it is believed alone, and asked once', async () => {
  const node = await nodeOf(newField)
  const { alone, proofs } = await take([node], 3)
  expect(proofs).toMatchObject({ unprovableBlocks: 1 })
  expect({ alone, asked: asked(node) }).toEqual({ alone: 3, asked: [1, 1] })
})

test('what it does not prove still needs a second endpoint', async () => {
  const nodes = [await nodeOf(newEnvelope, newEnvelope.encoded), await nodeOf(newEnvelope)]
  const { alone, proofs } = await take(nodes)
  expect(proofs).toMatchObject({ unprovableBlocks: 1, unprovableTxs: 1 })
  expect(alone).toBe(0)
})

test('a false amount beside an honest block is refuted by it', async () => {
  const lie = withAt(newField, 'block.stateRoot', `0x${'12'.repeat(32)}`)
  const liar = await nodeOf(lie, newField.encoded)
  await expect(take([liar])).rejects.toMatchObject({ name: 'RefutedError' })
  const { taken } = await take([liar, await nodeOf(newField, newField.encoded)])
  expect(taken).toHaveLength(1)
  expect(taken[0]?.batch.proofs).toMatchObject({ provedBlocks: 1 })
})

test('false bytes of one endpoint are asked for once and are its fault; the other one proves every block', async () => {
  const liar = await nodeOf(newField, newEnvelope.encoded)
  const honest = await nodeOf(newField, newField.encoded)
  const { alone, proofs, failures } = await take([liar, honest], 3)
  expect(proofs).toEqual({ provedBlocks: 1, unprovableBlocks: 0, unprovableTxs: 0, unprovableParts: [] })
  expect({ alone, asked: asked(liar) }).toEqual({ alone: 0, asked: [1, 1] })
  expect(asked(honest)).toEqual([3, 3])
  expect(failures).toEqual([expect.stringContaining('refuted'), null])
})

test('an amount that one endpoint invents behind false bytes stops nobody', async () => {
  const lie = withAt(newField, 'block.stateRoot', `0x${'12'.repeat(32)}`)
  const nodes = [await nodeOf(lie, newEnvelope.encoded), await nodeOf(newField, newField.encoded)]
  const { taken, failures } = await take(nodes, 3)
  for (const { batch } of taken) expect(batch.proofs).toMatchObject({ provedBlocks: 1 })
  expect(failures).toEqual([expect.stringContaining('refuted'), null])
})

test('an endpoint that tells no bytes is not to blame where the other one has them', async () => {
  const nodes = [await nodeOf(newField), await nodeOf(newField, newField.encoded)]
  const { proofs, failures } = await take(nodes, 4)
  expect(proofs).toMatchObject({ provedBlocks: 1 })
  expect(failures).toEqual([null, null])
})

test('where no endpoint tells bytes each is asked for them once', async () => {
  const nodes = [await nodeOf(newField), await nodeOf(newField)]
  const { alone, proofs } = await take(nodes, 3)
  expect(proofs).toMatchObject({ unprovableBlocks: 1 })
  expect({ alone, asked: nodes.map(asked) }).toEqual({
    alone: 0,
    asked: [
      [1, 1],
      [1, 1],
    ],
  })
})

test('a block without its slot is taken unproved of one endpoint, which is not to blame', async () => {
  const { alone, proofs, failures } = await take([await nodeOf(slotless)])
  expect(proofs).toMatchObject({ unprovableBlocks: 1, unprovableParts: ['header'] })
  expect({ alone, failures }).toEqual({ alone: 1, failures: [null] })
})

test.each([
  ['first', () => [nodeOf(slotless), nodeOf(slotted)]],
  ['second', () => [nodeOf(slotted), nodeOf(slotless)]],
  ['first, with its bytes', () => [nodeOf(slotless, slotted.encoded), nodeOf(slotted)]],
])('another endpoint answers where one leaves out the slot, and none is to blame (%s)', async (_, open) => {
  const { alone, taken, failures } = await take(await Promise.all(open()), 4)
  for (const { batch } of taken) expect(batch.proofs).toMatchObject({ provedBlocks: 1 })
  expect({ alone, failures }).toEqual({ alone: 0, failures: [null, null] })
})

test('a slot left out covers no other lie', async () => {
  const lie = withAt(slotless, 'block.miner', `0x${'12'.repeat(20)}`)
  const { alone, taken, failures } = await take([await nodeOf(lie), await nodeOf(slotted)], 3)
  for (const { batch } of taken) expect(batch.proofs).toMatchObject({ provedBlocks: 1 })
  expect({ alone, failures }).toEqual({ alone: 0, failures: [expect.stringContaining('refuted'), null] })
})

test('two endpoints that leave it out agree on a block that stays unproved', async () => {
  const { alone, proofs, failures } = await take([await nodeOf(slotless), await nodeOf(slotless)])
  expect(proofs).toMatchObject({ unprovableBlocks: 1 })
  expect({ alone, failures }).toEqual({ alone: 0, failures: [null, null] })
})

test('a false slot beside a block whose slot was left out is not taken for it', async () => {
  const lie = withAt(slotted, 'block.slotNumber', '0x1')
  const { taken, failures } = await take(
    [await nodeOf(slotless), await nodeOf(lie), await nodeOf(slotted)],
    3,
  )
  for (const { batch } of taken) expect(batch.proofs).toMatchObject({ provedBlocks: 1 })
  expect(failures[0]).toBeNull()
})
