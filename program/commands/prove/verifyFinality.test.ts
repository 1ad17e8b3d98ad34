import { describe, expect, test } from 'vitest'
import { hexOf } from '#ingest/finality/certificate/certificate.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { readHeader } from '#ingest/read/block.ts'
import { headerHash } from '#ingest/verify/parts/header.ts'
import { hash, isRecord } from '#primitives.ts'
import { finalityAnswer, mainnetAnswer, rlpOf } from '#test/support/finalityAnswer.ts'
import { finalityVectors, signingNetwork } from '#test/support/signedFinality.ts'
import { verifyFinality } from './verifyFinality.ts'

const CHAIN = 4217
const network = signingNetwork(`0x${'03'.repeat(32)}`)
const keys: EpochKeys = {
  epochBlocks: 10,
  keys: [{ fromEpoch: 0, key: network.key, origin: 'pinned' }],
  unknownFrom: [],
}
const trust = { chainId: null, keysOf: (id: number) => (id === CHAIN ? keys : null) }

/** Mainnet's block with another height and parent, and the hash of that. */
function childOf(parentHash: string, height: number) {
  const { block } = finalityVectors('mainnet').boundary
  const told = { ...block, parentHash, number: `0x${height.toString(16)}`, hash: `0x${'0'.repeat(64)}` }
  return { ...told, hash: headerHash(readHeader(told), 'tempo') }
}

const chain: ReturnType<typeof childOf>[] = []
for (let height = 21; height < 25; height++)
  chain.push(childOf(chain.at(-1)?.hash ?? `0x${'1'.repeat(64)}`, height))

/** As served for the block at an index of the chain, with the last one certified. */
function answerOf(index: number) {
  const above = chain.slice(index)
  const [block, last] = [above[0], above.at(-1)]
  if (!block || !last) throw new RangeError('no such block')
  const proposal = { epoch: 2, view: 4, parentView: 3, digest: hash(last.hash) }
  return finalityAnswer(block, {
    ...{ chainId: CHAIN, certificate: hexOf(network.certificate(proposal)), epoch: 2, view: 4 },
    ...{ blockNumber: 24, blockHash: last.hash, headers: above.map(rlpOf) },
  })
}

const problemOf = (answer: unknown, trusted: Parameters<typeof verifyFinality>[1] = trust) =>
  verifyFinality(JSON.stringify(answer), trusted).problem

/** The answer with one value put in place of what stands at a path. */
function withAt(value: unknown, path: readonly string[], put: (at: unknown) => unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return put(value)
  if (Array.isArray(value))
    return value.map((item, at) => (`${at}` === name ? withAt(item, rest, put) : item))
  if (!isRecord(value)) throw new TypeError('no such path')
  return { ...value, [name]: withAt(value[name], rest, put) }
}

const flipped = (text: string, at: number) => {
  const bytes = Buffer.from(text.slice(2), 'hex')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return hexOf(bytes)
}

describe('an answer with its proof', () => {
  test('holds for a block below the certificate’s, and for that one', () => {
    for (const index of [0, 1, 3]) expect(problemOf(answerOf(index))).toBeNull()
    expect(verifyFinality(JSON.stringify(answerOf(0)), trust).block).toMatchObject({ number: 21 })
  })

  test('does not hold with any byte of a header changed, which is named', () => {
    const answer = answerOf(1)
    for (const [index, text] of answer.finality.proof.headers.entries())
      for (let at = 0; at < text.length / 2 - 1; at++) {
        const path = ['finality', 'proof', 'headers', `${index}`]
        const problem = problemOf(withAt(answer, path, () => flipped(text, at)))
        // A header that is none is named itself, another one where its hash is expected.
        const named = index === 2 ? /headers|blockNumber|blockHash/ : /headers/
        expect(problem?.path, `header ${index}, byte ${at}`).toMatch(named)
      }
  })

  test('does not hold with any byte of the certificate changed', () => {
    const answer = answerOf(3)
    const { certificate } = answer.finality.proof
    for (let at = 0; at < certificate.length / 2 - 1; at++)
      expect(
        problemOf(withAt(answer, ['finality', 'proof', 'certificate'], () => flipped(certificate, at)))?.path,
      ).toBe('finality.proof.certificate')
  })

  test('does not hold without one of its headers, or with one more', () => {
    const answer = answerOf(0)
    const withHeaders = (change: (headers: readonly unknown[]) => unknown) =>
      problemOf(withAt(answer, ['finality', 'proof', 'headers'], (at) => change(at as unknown[])))?.path
    for (const index of [0, 1, 2]) expect(withHeaders((all) => all.toSpliced(index, 1))).toMatch(/headers/)
    expect(withHeaders((all) => all.slice(0, -1))).toBe('finality.proof.blockNumber')
    expect(withHeaders((all) => [...all, rlpOf(childOf(chain[3]?.hash ?? '', 25))])).toMatch(/blockNumber/)
    expect(withHeaders((all) => [all[0], ...all])).toMatch(/headers/)
    expect(withHeaders(() => [])).toBe('finality.proof.headers')
  })

  test.each([
    ['id', `0x${'2'.repeat(64)}`],
    ['hash', `0x${'2'.repeat(64)}`],
    ['number', 22],
    ['timestamp', '2026-01-31T12:00:00Z'],
    ['parentHash', `0x${'2'.repeat(64)}`],
    ['miner', `0x${'2'.repeat(40)}`],
    ['gasLimit', 1],
    ['gasUsed', 1],
    ['baseFeePerGas', '1'],
    ['baseFeePerGas', null],
    ['slotNumber', 1],
    ['finality.rule', 'agreed'],
    ['finality.rule', null],
    ['finality.reason', 'not_final'],
    ['finality.proof', null],
    ['finality.proof.chainId', 42431],
    ['finality.proof.epoch', 3],
    ['finality.proof.view', 5],
    ['finality.proof.blockNumber', 23],
    ['finality.proof.blockHash', `0x${'2'.repeat(64)}`],
    ['finality.proof.more', 1],
    ['meta.rpc.stateRoot', `0x${'2'.repeat(64)}`],
    ['meta.rpc.hash', `0x${'2'.repeat(64)}`],
    ['meta.rpc.extraData', 5],
    ['more', 1],
  ])('does not hold with another %s', (path, value) => {
    expect(problemOf(withAt(answerOf(0), path.split('.'), () => value))).not.toBeNull()
  })

  test('does not hold under another key, nor for another chain than the one meant', () => {
    const other = signingNetwork(`0x${'04'.repeat(32)}`).key
    const keysOf = () => ({ ...keys, keys: [{ fromEpoch: 0, key: other, origin: 'pinned' as const }] })
    expect(problemOf(answerOf(0), { chainId: null, keysOf })?.path).toBe('finality.proof.certificate')
    expect(problemOf(answerOf(0), { ...trust, chainId: 1 })?.path).toBe('finality.proof.chainId')
    expect(problemOf(answerOf(0), { ...trust, chainId: CHAIN })).toBeNull()
    const compiled = { chainId: null, keysOf: (id: number) => initialKeys(id, null) }
    expect(problemOf(answerOf(0), compiled)?.path).toBe('finality.proof.certificate')
  })

  test('holds for mainnet’s own certificate under the key that is compiled in', () => {
    const compiled = { chainId: 4217, keysOf: (id: number) => initialKeys(id, null) }
    expect(problemOf(mainnetAnswer(), compiled)).toBeNull()
    expect(problemOf(mainnetAnswer())?.path).toBe('finality.proof.certificate')
  })

  test.each(['', '{', '[]', 'null', '{"finality":{}}'])('is not %j', (text) => {
    expect(verifyFinality(text, trust)).toMatchObject({ block: null, problem: expect.any(Object) })
  })

  test('is not a block without one', () => {
    const { finality: _finality, ...block } = answerOf(0)
    expect(problemOf(block)?.path).toBe('finality')
  })
})
