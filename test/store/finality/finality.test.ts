// Goal: what was checked of a chain's finality is found again by the next process: the newest proof,
// the one that covers a block, evidence of two that contradict each other, keys and refusals.
// Method: proofs of a network with one key, written to real Postgres by a writer with a fence.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import { keyAt } from '#ingest/finality/keys/epochKeys.ts'
import { keysWith } from '#ingest/finality/keys/keyDecision.ts'
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { ProvedFinality, type StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import { hash } from '#primitives.ts'
import { FencedOutError } from '#runtime/lease.ts'
import { forgetRefusal, keepKey, readKeys } from '#store/finality/finalityKeys.ts'
import {
  comparedProofs,
  coveringProof,
  keepProof,
  newestProof,
  type ProofPlace,
} from '#store/finality/finalityProofs.ts'
import { digestOf, finalityVectors, signingNetwork } from '../../support/signedFinality.ts'
import { openChainStore } from '../support/chainStore.ts'

const EPOCH_BLOCKS = 300
const network = signingNetwork(finalityVectors('ownKey').secret)
let signed: StoredProof

beforeAll(() => {
  signed = proofOf(1, { digestByte: 1 })
})

/** The signature is not what is tested: those of many blocks are one and the same. */
function proofOf(height: number, { digestByte = 0, view = height, parent = 0 } = {}): StoredProof {
  const digest = digestByte === 0 ? hashOfHeight(height) : digestOf(digestByte)
  const epoch = Math.floor(height / EPOCH_BLOCKS)
  const certificate =
    digestByte === 1
      ? readCertificate(network.certificate({ epoch, view, parentView: view, digest }))
      : { ...signed.certificate, epoch, view, parentView: view, digest }
  const block = {
    number: height,
    hash: digest,
    parentHash: parent === 0 ? hashOfHeight(height - 1) : digestOf(parent),
  }
  return { certificate, block, endpoint: 'a.example', checkedAtMs: 1_790_000_000_000 + height }
}

const hashOfHeight = (height: number) => hash(`0x${height.toString(16).padStart(64, '0')}`)

async function openPlace(): Promise<ProofPlace> {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  return { postgres: store.postgres, chainId: store.chainId, fence: 1n }
}

const pool = ({ postgres }: ProofPlace) => postgres.pool

describe('proofs', () => {
  test('the newest one is found again as it was, and the one that covers a block', async () => {
    const place = await openPlace()
    expect(await newestProof(pool(place), place.chainId)).toBeNull()
    for (const height of [10, 20, 30]) await keepProof(place, proofOf(height), EPOCH_BLOCKS)
    await keepProof(place, { ...proofOf(20), endpoint: 'later.example' }, EPOCH_BLOCKS)
    expect(await newestProof(pool(place), place.chainId)).toEqual(proofOf(30))
    expect(await coveringProof(pool(place), place.chainId, 11)).toEqual(proofOf(20))
    expect(await coveringProof(pool(place), place.chainId, 20)).toEqual(proofOf(20))
    expect(await coveringProof(pool(place), place.chainId, 31)).toBeNull()
  })

  test('a writer that was fenced out stores none', async () => {
    const place = await openPlace()
    await expect(keepProof({ ...place, fence: 2n }, proofOf(1), EPOCH_BLOCKS)).rejects.toThrow(FencedOutError)
    expect(await newestProof(pool(place), place.chainId)).toBeNull()
  })

  test.each([
    ['one height', proofOf.bind(null, 40, { digestByte: 9, view: 7 })],
    ['two branches, the lower one', proofOf.bind(null, 39, { digestByte: 9, view: 7 })],
    ['two branches, the higher one', proofOf.bind(null, 41, { digestByte: 9, view: 7, parent: 8 })],
    ['one view', proofOf.bind(null, 33, { digestByte: 9, view: 40 })],
  ])('two of %s end finality at the next start too', async (_, contradicting) => {
    const place = await openPlace()
    for (const proof of [proofOf(40), proofOf(50), contradicting()])
      await keepProof(place, proof, EPOCH_BLOCKS)
    expect(await coveringProof(pool(place), place.chainId, 40)).toEqual(
      expect.objectContaining({ block: proofOf(50).block }),
    )
    const rule = new ProvedFinality()
    for (const proof of await comparedProofs(pool(place), place.chainId)) rule.take(proof)
    expect(rule.equivocation?.map(({ block }) => block.hash).toSorted()).toEqual(
      [proofOf(40).block.hash, digestOf(9)].toSorted(),
    )
  })

  test('old ones go, but one in 256 blocks stays, and the last of each epoch, and evidence', async () => {
    const place = await openPlace()
    await keepProof(place, proofOf(100, { digestByte: 9, view: 7 }), EPOCH_BLOCKS)
    for (let height = 1; height < 1_500; height++) await keepProof(place, proofOf(height), EPOCH_BLOCKS)
    const { rows } = await pool(place).query<{ height: number }>(
      `SELECT height FROM chain_${place.chainId}.finality_proofs ORDER BY height`,
    )
    const heights = rows.map(({ height }) => height)
    const old = heights.filter((height) => height < 1_500 - 512)
    expect(heights.length - old.length).toBe(512)
    expect(old).toEqual(expect.arrayContaining([100, 299, 599, 899]))
    expect(heights.every((height, index) => height - (heights[index - 1] ?? 0) <= 256)).toBe(true)
    expect(old.length).toBeLessThan(16)
  })
})

describe('keys', () => {
  test('one that was followed, and an epoch without one, are found again', async () => {
    const place = await openPlace()
    const [first, second, third] = [2, 3, 4].map((byte) => `0x${String(byte).repeat(192)}` as const)
    if (!first || !second || !third) throw new TypeError('three keys')
    await keepKey(place, { fromEpoch: 3, key: first, boundaryHash: digestOf(3), refusal: null })
    await keepKey(place, { fromEpoch: 5, key: second, boundaryHash: digestOf(5), refusal: null })
    await keepKey(place, { fromEpoch: 8, key: null, boundaryHash: null, refusal: 'certificate_missing' })
    const pinned = initialKeys(1, { identity: third, fromEpoch: 5 }, EPOCH_BLOCKS)
    if (!pinned) throw new TypeError('a key is configured')
    const held = async () => keysWith(pinned, await readKeys(pool(place), place.chainId))
    const keyIn = async (epoch: number) => keyAt(await held(), epoch)?.key ?? null
    expect(await Promise.all([2, 3, 4, 5, 7, 8, 9].map(keyIn))).toEqual([
      null,
      first,
      first,
      third,
      third,
      null,
      null,
    ])
    await keepKey(place, { fromEpoch: 8, key: second, boundaryHash: digestOf(8), refusal: null })
    expect(await keyIn(9)).toBe(second)
  })

  test('a refusal that has passed is forgotten, a key is not', async () => {
    const place = await openPlace()
    const key = `0x${'2'.repeat(192)}` as const
    await keepKey(place, { fromEpoch: 3, key, boundaryHash: digestOf(3), refusal: null })
    await keepKey(place, { fromEpoch: 4, key: null, boundaryHash: null, refusal: 'key_unannounced' })
    for (const epoch of [3, 4]) await forgetRefusal(place, epoch)
    expect(await readKeys(pool(place), place.chainId)).toEqual([
      { fromEpoch: 3, key, boundaryHash: digestOf(3), refusal: null },
    ])
  })
})
