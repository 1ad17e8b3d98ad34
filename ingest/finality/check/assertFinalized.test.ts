import { describe, expect, it } from 'vitest'
import { hash } from '#primitives.ts'
import { digestOf, finalityVectors, signingNetwork } from '#test/support/signedFinality.ts'
import { type CertificatePart, CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import { bytesOfHex, certificateBytes, readCertificate } from '../certificate/certificate.ts'
import { recomputedHeader } from '../certificate/recomputedHeader.ts'
import type { EpochKeys } from '../keys/epochKeys.ts'
import { assertFinalized, type CertifiedHeader } from './assertFinalized.ts'

function headerOf(told: unknown) {
  const header = recomputedHeader(told)
  if (!header) throw new Error('no header')
  return header
}

function keysOf(epochBlocks: number, ...keys: readonly (readonly [number, string])[]): EpochKeys {
  const pinned = keys.map(([fromEpoch, key]) => {
    return { fromEpoch, key: `0x${key.replace(/^0x/, '')}`, origin: 'pinned' } as const
  })
  return { epochBlocks, keys: pinned, unknownFrom: [] }
}

function refusedPart(bytes: Uint8Array, header: CertifiedHeader, keys: EpochKeys): CertificatePart | null {
  try {
    assertFinalized(bytes, header, keys)
    return null
  } catch (error) {
    if (error instanceof CertificateRefusedError) return error.part
    throw error
  }
}

const mainnet = finalityVectors('mainnet')
const header = headerOf(mainnet.boundary.block)
const keys = keysOf(21_600, [0, mainnet.mainnet_identity])
const bytes = bytesOfHex(`0x${mainnet.boundary.finalization}`)

const flipped = (index: number, bit = 1) => bytes.map((byte, at) => (at === index ? byte ^ bit : byte))
const [voteAt, seedAt] = [bytes.length - 96, bytes.length - 48]

describe('a certificate of Tempo’s mainnet', () => {
  it('proves the block whose header hashes to its digest', () => {
    expect(assertFinalized(bytes, header, keys)).toMatchObject({ epoch: 1514, view: 21_600 })
  })

  it('proves nothing of a header of which a field is another one, whatever hash it is told with', () => {
    const changed = headerOf({ ...mainnet.boundary.block, extraData: '0x' })
    expect(refusedPart(bytes, changed, keys)).toBe('digest')
    expect(recomputedHeader(null)).toBeNull()
    expect(recomputedHeader({ ...mainnet.boundary.block, number: 'x' })).toBeNull()
  })

  it('is refused with a bit of any byte changed, which is named', () => {
    const expected = (index: number): readonly CertificatePart[] => {
      if (index < 2) return ['epoch']
      // The last byte of a number that becomes 0 is one more than it needs.
      if (index < voteAt - 32) return index === 4 || index === 7 ? ['bytes'] : ['vote']
      if (index < voteAt) return ['digest']
      return index < seedAt ? ['votePoint'] : ['seedPoint']
    }
    for (const index of bytes.keys())
      expect(expected(index), `byte ${index}`).toContain(refusedPart(flipped(index), header, keys))
  })

  it('is refused with a flag of a point changed', () => {
    for (const flag of [0x80, 0x40]) {
      expect(refusedPart(flipped(voteAt, flag), header, keys)).toBe('votePoint')
      expect(refusedPart(flipped(seedAt, flag), header, keys)).toBe('seedPoint')
    }
    // The point's negative is a valid point.
    expect(refusedPart(flipped(voteAt, 0x20), header, keys)).toBe('vote')
    expect(refusedPart(flipped(seedAt, 0x20), header, keys)).toBe('seed')
  })

  it('is refused with vote and seed swapped, and with an infinite one', () => {
    const certificate = readCertificate(bytes)
    const { vote, seed } = certificate
    const infinity = Uint8Array.of(0xc0, ...new Array<number>(47).fill(0))
    const changed = (change: object) => certificateBytes({ ...certificate, ...change })
    expect(refusedPart(changed({ vote: seed, seed: vote }), header, keys)).toBe('vote')
    expect(refusedPart(changed({ vote: infinity }), header, keys)).toBe('votePoint')
    expect(refusedPart(changed({ seed: infinity }), header, keys)).toBe('seedPoint')
    expect(refusedPart(changed({ vote: infinity, seed: infinity }), header, keys)).toBe('votePoint')
  })

  it('is refused with a byte in front of it, behind it or missing', () => {
    expect(refusedPart(Uint8Array.of(...bytes, 0), header, keys)).toBe('bytes')
    expect(refusedPart(Uint8Array.of(0, ...bytes), header, keys)).toBe('bytes')
    expect(refusedPart(bytes.subarray(0, -1), header, keys)).toBe('bytes')
  })

  it('is refused for another header, another height, and under another key', () => {
    expect(refusedPart(bytes, { ...header, hash: header.parentHash }, keys)).toBe('digest')
    expect(refusedPart(bytes, { ...header, number: header.number + 1 }, keys)).toBe('epoch')
    const october = finalityVectors('identities')['4217'][1]?.key ?? ''
    expect(refusedPart(bytes, header, keysOf(21_600, [0, october]))).toBe('vote')
    expect(refusedPart(bytes, header, keysOf(21_600, [1515, mainnet.mainnet_identity]))).toBe('key')
    expect(refusedPart(bytes, header, { ...keys, unknownFrom: [1514] })).toBe('key')
    expect(refusedPart(bytes, header, keysOf(21_600, [0, '00'.repeat(96)]))).toBe('key')
  })
})

describe('certificates of a network that changes its key', () => {
  const { epochLength, key0, key1, updates } = finalityVectors('keyChange')
  const both = keysOf(epochLength, [0, key0], [1, key1])

  it('are proved by the key of their epoch alone', () => {
    for (const { epoch, height, hash: digest, certificate } of updates) {
      const at = { number: height, hash: hash(digest) }
      const other = keysOf(epochLength, [0, epoch === 0 ? key1 : key0])
      expect(assertFinalized(bytesOfHex(certificate), at, both).epoch).toBe(epoch)
      expect(refusedPart(bytesOfHex(certificate), at, other)).toBe('vote')
    }
  })
})

describe('certificates of one secret', () => {
  const own = finalityVectors('ownKey')
  const network = signingNetwork(own.secret)
  const ownKeys = keysOf(10, [0, network.key])
  const at = { number: 3004, hash: hash(own.digest) }

  it('are those of the vector, byte by byte', () => {
    expect(network.key).toBe(own.key)
    expect(network.certificate(own)).toEqual(bytesOfHex(own.certificate))
    expect(assertFinalized(bytesOfHex(own.certificate), at, ownKeys)).toMatchObject({ view: 129 })
  })

  it('are refused where the proposal was notarized alone', () => {
    const signed = `\x0eTEMPO_NOTARIZE${Buffer.from(bytesOfHex(own.certificate).subarray(0, -96)).toString('latin1')}`
    const notarized = network.sign(Buffer.from(signed, 'latin1'))
    const certificate = { ...readCertificate(bytesOfHex(own.certificate)), vote: notarized }
    expect(refusedPart(certificateBytes(certificate), at, ownKeys)).toBe('vote')
  })

  it('are proved whatever their view, and refused in another epoch', () => {
    const proposal = { epoch: 1, view: 5_000_000_000, parentView: 4, digest: digestOf(5) }
    const certificate = network.certificate(proposal)
    expect(refusedPart(certificate, { number: 19, hash: proposal.digest }, ownKeys)).toBeNull()
    expect(refusedPart(certificate, { number: 20, hash: proposal.digest }, ownKeys)).toBe('epoch')
  })
})
