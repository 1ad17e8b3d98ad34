import { describe, expect, it } from 'vitest'
import { digestOf, type SigningNetwork, signingNetwork } from '#test/support/signedFinality.ts'
import { assertFinalized, type CertifiedHeader } from '../check/assertFinalized.ts'
import type { EpochKeys } from '../keys/epochKeys.ts'
import { type GivenCertificate, newestProofs, type ProofSearch } from './newestProofs.ts'
import type { FinalityProof } from './ProvedFinality.ts'

const network = signingNetwork(`0x${'02'.repeat(32)}`)
const forger = signingNetwork(`0x${'03'.repeat(32)}`)
const keys: EpochKeys = {
  epochBlocks: 10,
  keys: [{ fromEpoch: 0, key: network.key, origin: 'configured' }],
  unknownFrom: [],
}

const heights = new Map<string, number>()

/** A block's certificate; its hash is of this byte. */
function given(number: number, { byte = number, view = number + 1, by = network, from = 'one' } = {}) {
  const digest = digestOf(byte)
  heights.set(digest, number)
  return { bytes: certificate(by, number, byte, view), endpoints: [from] } satisfies GivenCertificate
}

const certificate = (by: SigningNetwork, number: number, byte: number, view: number) =>
  by.certificate({ epoch: Math.floor(number / 10), view, parentView: view - 1, digest: digestOf(byte) })

/** A search that counts its checks. */
function searchFrom(held: FinalityProof | null = null, compared: readonly FinalityProof[] = []) {
  const checked: number[] = []
  const search: ProofSearch = {
    held,
    compared,
    headerOf: async (hash) => {
      const number = heights.get(hash)
      if (number === undefined) return null
      const parentHash = digestOf(Number(`0x${hash.slice(-2)}`) - 1)
      return { number, hash, parentHash, extraData: '0x' }
    },
    check: async (bytes: Uint8Array, header: CertifiedHeader) => {
      checked.push(header.number)
      return assertFinalized(bytes, header, keys)
    },
  }
  return { search, checked }
}

async function proofOf(...certificates: GivenCertificate[]) {
  const { proofs } = await newestProofs(certificates, searchFrom().search)
  const [proof] = proofs
  if (!proof) throw new Error('no proof')
  return proof
}

const numbersOf = (proofs: readonly FinalityProof[]) => proofs.map(({ block }) => block.number)

describe('of the certificates that endpoints give', () => {
  it('the newest is checked, and no other', async () => {
    const { search, checked } = searchFrom()
    const { proofs, refused } = await newestProofs([given(12), given(14), given(13)], search)
    expect([numbersOf(proofs), refused, checked]).toEqual([[14], [], [14]])
  })

  it('none is checked that is not newer than what is held', async () => {
    const { search, checked } = searchFrom(await proofOf(given(14)))
    const { proofs } = await newestProofs([given(14), given(12)], search)
    expect([proofs, checked]).toEqual([[], []])
  })

  it('headers are asked for at a time: none has to wait for another one', async () => {
    const { search } = searchFrom()
    const asked: string[] = []
    const one = Promise.withResolvers<void>()
    const headerOf: ProofSearch['headerOf'] = async (hash, endpoints) => {
      asked.push(hash)
      if (asked.length === 2) one.resolve()
      await one.promise
      return await search.headerOf(hash, endpoints)
    }
    const { proofs } = await newestProofs([given(12), given(14)], { ...search, headerOf })
    expect(numbersOf(proofs)).toEqual([14])
  })

  it('a forged one is passed over, and named with who gave it', async () => {
    const { search } = searchFrom()
    const forged = given(15, { byte: 99, by: forger, from: 'liar' })
    const { proofs, refused } = await newestProofs([forged, given(14)], search)
    expect(numbersOf(proofs)).toEqual([14])
    expect(refused).toMatchObject([{ endpoints: ['liar'], error: { part: 'vote' } }])
  })

  it('one that is no certificate is refused, and one without a header is left', async () => {
    const { search, checked } = searchFrom()
    const without = { bytes: certificate(network, 16, 77, 17), endpoints: ['one'] }
    const { proofs, refused } = await newestProofs(
      [{ bytes: Uint8Array.of(0x80, 0), endpoints: ['two'] }, without],
      search,
    )
    expect([proofs, checked]).toEqual([[], []])
    expect(refused).toMatchObject([{ endpoints: ['two'], error: { part: 'bytes' } }])
  })

  it.each([
    ['height', given(14, { byte: 88, view: 40 })],
    ['view', given(13, { byte: 89, view: 15 })],
  ])('two valid ones of one %s are both found', async (_what, other) => {
    const { search } = searchFrom()
    const { proofs } = await newestProofs([given(14), other], search)
    expect(numbersOf(proofs)).toHaveLength(2)
  })

  it('one that contradicts what is held is found', async () => {
    const { search } = searchFrom(await proofOf(given(14)))
    const { proofs } = await newestProofs([given(14, { byte: 88, view: 40 })], search)
    expect(proofs.map(({ block }) => block.hash)).toEqual([digestOf(88)])
  })

  it.each([
    ['height', 12, { byte: 88, view: 40 }],
    ['view', 10, { byte: 89, view: 13 }],
    ['parent', 13, { byte: 90, view: 41 }],
  ])(
    'one that contradicts an earlier one by its %s is found below the newest',
    async (_what, height, other) => {
      const [earlier, newest] = [await proofOf(given(12)), await proofOf(given(19))]
      const { search, checked } = searchFrom(newest, [earlier, newest])
      const { proofs } = await newestProofs([given(15), given(height, other)], search)
      expect([proofs.map(({ block }) => block.hash), checked]).toEqual([[digestOf(other.byte)], [height]])
    },
  )
})
