import fc from 'fast-check'
import { keccak256, numberToHex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { word } from '#test/support/arbitrary.ts'
import { withFlipped } from '#test/support/json.ts'
import { accessKeys, signZk, zkTransaction, zkVector } from '#test/support/zkSignature.ts'
import type { RpcTransaction } from '../../read/block.ts'
import { RlpWriter } from '../tries/rlp.ts'
import { readSignatureParts } from './signatureParts.ts'
import { signatureText } from './tempoSignature.ts'
import { writeTransaction } from './transaction.ts'

const identity = { publisherId: word, issuer: word, addressSeed: word }
const identities = fc.record({ scheme: fc.integer({ min: 0, max: 255 }), ...identity })
const digest = keccak256('0x01')
const accessKeySignature = Object(zkVector.keyAuthorizationJson.signature['accessKeySignature'])

/** A transaction with nothing that may be encoded in a way we do not know, but its signature. */
const plain = { ...zkTransaction(), keyAuthorization: null }

function hashed(signature: unknown): RpcTransaction {
  const writer = new RlpWriter()
  writeTransaction(writer, { ...plain, signature } as RpcTransaction)
  return { ...plain, signature, hash: keccak256(writer.since(0)) } as RpcTransaction
}

const verdictOf = (tx: unknown) => writeTransaction(new RlpWriter(), tx as RpcTransaction)

describe("an identity's signature", () => {
  it('of a real transaction gives its bytes and hash, as the root of a grant', () => {
    const writer = new RlpWriter()
    expect(writeTransaction(writer, zkTransaction())).toBe('own')
    expect(toHex(writer.since(0))).toBe(zkVector.rawTransaction)
  })

  it('is encoded as the text of the protocol says, of any scheme and with any access key', async () => {
    await fc.assert(
      fc.asyncProperty(identities, fc.constantFrom(...accessKeys()), async (one, key) => {
        const { bytes, json } = await signZk(one, key, digest)
        expect(signatureText(json)).toBe(bytes)
        expect(signatureText(readSignatureParts(Buffer.from(bytes.slice(2), 'hex')))).toBe(bytes)
      }),
      { numRuns: 20 },
    )
  })

  it('is the same with numbers that have leading zeros', () => {
    const { signature } = zkVector.keyAuthorizationJson
    const padded = { ...signature, scheme: '0x01', issuedAt: `0x00${String(signature['issuedAt']).slice(2)}` }
    expect(signatureText(padded)).toBe(signatureText(signature))
  })

  it('is contradicted by its hash when one digit of any part is another', () => {
    const { signature } = zkVector.keyAuthorizationJson
    const told = hashed(signature)
    expect(verdictOf(told)).toBe('own')
    for (const name of Object.keys(signature).filter(
      (one) => !['accessKeySignature', 'scheme'].includes(one),
    )) {
      const flipped = withFlipped(signature, name)
      expect([name, verdictOf({ ...told, signature: flipped })]).toEqual([name, 'contradicted'])
    }
    const key = withFlipped(signature['accessKeySignature'], 'r')
    expect(verdictOf({ ...told, signature: { ...signature, accessKeySignature: key } })).toBe('contradicted')
    expect(verdictOf({ ...told, signature: { ...signature, scheme: '0x2' } })).toBe('contradicted')
  })

  it.each([
    ['publisherId', '0x'],
    ['issuer', `0x${'1'.repeat(63)}`],
    ['keyHash', `0x${'1'.repeat(66)}`],
    ['addressSeed', null],
    ['proof', `0x${'1'.repeat(510)}`],
    ['proof', `0x${'z'.repeat(512)}`],
    ['issuedAt', '0x'],
    ['validUntil', `0x1${'0'.repeat(16)}`],
  ])('is contradicted with the %s %j', (name, value) => {
    const signature = { ...zkVector.keyAuthorizationJson.signature, [name]: value }
    expect(verdictOf({ ...hashed(zkVector.keyAuthorizationJson.signature), signature })).toBe('contradicted')
  })

  it('is none where a node tells of a key alone that it has no access key', () => {
    const told = hashed(accessKeySignature)
    expect(verdictOf({ ...told, signature: { ...accessKeySignature, accessKeySignature: null } })).toBe('own')
  })

  it('is hashed with a scheme that we do not know, and open where its bytes are others', () => {
    const signature = { ...zkVector.keyAuthorizationJson.signature, scheme: '0x9' }
    expect(verdictOf(hashed(signature))).toBe('own')
    const told = { ...hashed(signature), hash: numberToHex(1, { size: 32 }) }
    expect(verdictOf(told)).toBe('open')
    expect(verdictOf({ ...told, signature: { ...signature, proof: '0x01' } })).toBe('open')
    const known = { ...signature, scheme: '0x1' }
    expect(verdictOf({ ...told, signature: { ...known, circuit: '0x1' } })).toBe('open')
    expect(verdictOf({ ...told, signature: { ...known, accessKeySignature: { type: 'ed25519' } } })).toBe(
      'open',
    )
    expect(verdictOf({ ...told, signature: { ...known, accessKeySignature: known } })).toBe('open')
  })
})

describe('a signature read from bytes', () => {
  it('has no parts when they would be written as other bytes', () => {
    const bytes = Buffer.from(String(signatureText(zkVector.keyAuthorizationJson.signature)).slice(2), 'hex')
    const read = (...parts: readonly Uint8Array[]) => readSignatureParts(Buffer.concat(parts))
    expect(read(bytes)).not.toBeNull()
    expect(read(bytes, Buffer.of(0))).toBeNull()
    expect(read(bytes.subarray(0, -1))).toBeNull()
    // A length that is written longer than it must be.
    expect(read(Buffer.of(6, 0xfa, 0), bytes.subarray(2))).toBeNull()
    for (const other of ['', '00', '03', '04', '05c0', '06', '06c0', '01', '02', 'ff'.repeat(65), 'c0'])
      expect([other, read(Buffer.from(other, 'hex'))]).toEqual([other, null])
  })

  it('never throws, and never takes an identity for an access key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(readSignatureParts(Buffer.concat([Buffer.of(6), bytes]))).toBeNull()
      }),
    )
  })
})
