import fc from 'fast-check'
import { toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  tempoAnswer as answer,
  type Envelope,
  tempoEnvelope as envelope,
  SignatureEnvelope,
  TxEnvelopeTempo,
} from '#test/support/arbitraryTempo.ts'
import type { RpcTransaction } from '../../read/block.ts'
import { RlpWriter } from '../tries/rlp.ts'
import { isObject } from './looseFields.ts'
import { writeTransaction } from './transaction.ts'

function verdictOf(tx: object) {
  return writeTransaction(new RlpWriter(), tx as unknown as RpcTransaction)
}

/**
 * The bytes of a signature told as other parts than its own: of another kind, or with some bytes
 * moved to the part beside it.
 */
function retold(digits: string, signature: unknown, shift: number): object[] {
  const part = (from: number, to?: number) => `0x${digits.slice(from, to)}`
  const { length } = digits
  const tail = (count: number) => part(length - 64 * count, length - 64 * (count - 1))
  const asSecp256k1 = { type: 'secp256k1', r: part(0, -64), s: part(length - 64) }
  const moved = 2 * shift
  const asWebAuthn = {
    type: 'webAuthn',
    webauthnData: part(2, length - 256 - moved),
    r: part(length - 256 - moved, length - 192),
    s: tail(3),
    pubKeyX: tail(2),
    pubKeyY: tail(1),
  }
  const asKey = (version: string) => ({
    version,
    userAddress: part(2, 42 + moved),
    signature: { type: 'secp256k1', r: part(42 + moved, 106 + moved), s: part(106 + moved) },
  })
  const isWebAuthn = isObject(signature) && signature['type'] === 'webAuthn'
  const kinds = isWebAuthn ? [asWebAuthn] : []
  return [asSecp256k1, { ...asSecp256k1, yParity: '0x2' }, asKey('v1'), asKey('v2'), ...kinds]
}

describe('a Tempo transaction', () => {
  it('is encoded as viem does, with any signature, sponsor, access key and delegations', () => {
    fc.assert(
      fc.property(envelope, (tx) => {
        const serialized = TxEnvelopeTempo.serialize(tx as Envelope)
        const writer = new RlpWriter()
        const verdict = writeTransaction(writer, answer(tx, serialized) as unknown as RpcTransaction)
        expect([toHex(writer.since(0)), verdict]).toEqual([serialized, 'own'])
      }),
    )
  })

  it('is contradicted by its hash when any digit of its signature is wrong', () => {
    const broken = fc.tuple(envelope, fc.nat(), fc.constantFrom('1', '2', '3'))
    fc.assert(
      fc.property(broken, ([tx, at, digit]) => {
        const plain = { ...tx, keyAuthorization: undefined, authorizationList: [] }
        const json = JSON.stringify(answer(plain, TxEnvelopeTempo.serialize(plain as Envelope)).signature)
        const digits = [...json.matchAll(/(?<=(r|s|X|Y|data|Address)":"0x[0-9a-f]*)[0-9a-f]/gi)]
        const found = digits[at % digits.length]
        fc.pre(found !== undefined && found[0] !== digit)
        const signature = JSON.parse(json.slice(0, found.index) + digit + json.slice(found.index + 1))
        const signed = { ...answer(plain, TxEnvelopeTempo.serialize(plain as Envelope)), signature }
        expect(writeTransaction(new RlpWriter(), signed as unknown as RpcTransaction)).toBe('contradicted')
      }),
    )
  })

  it('is contradicted by its hash when the parity of its signature is no parity', () => {
    const signature = { type: 'secp256k1', signature: { r: 1n, s: 1n, yParity: 1 } } as const
    fc.assert(
      fc.property(envelope, fc.constantFrom('0x0', '0x2', '0x', '0x1b', 'z'), (tx, yParity) => {
        const plain = { ...tx, signature, keyAuthorization: undefined, authorizationList: [] }
        const given = answer(plain, TxEnvelopeTempo.serialize(plain as Envelope))
        const wrong = { ...given, signature: { type: 'secp256k1', r: '0x1', s: '0x1', yParity } }
        expect(writeTransaction(new RlpWriter(), given as unknown as RpcTransaction)).toBe('own')
        expect(writeTransaction(new RlpWriter(), wrong as unknown as RpcTransaction)).toBe('contradicted')
      }),
    )
  })

  it('is contradicted when the bytes of its signature are told as other parts', () => {
    fc.assert(
      fc.property(envelope, fc.integer({ min: 1, max: 31 }), (tx, shift) => {
        const plain = { ...tx, keyAuthorization: undefined, authorizationList: [] }
        const given = answer(plain, TxEnvelopeTempo.serialize(plain as Envelope))
        const digits = SignatureEnvelope.serialize(plain.signature).slice(2)
        for (const signature of retold(digits, given.signature, shift))
          expect([signature, verdictOf({ ...given, signature })]).toEqual([signature, 'contradicted'])
      }),
    )
  })

  it.each(['055', '005', '1b5'])('is contradicted when told as a multisig, with an r of 0x%s…', (first) => {
    const words = { r: BigInt(`0x${first}${'5'.repeat(61)}`), s: BigInt(`0x${'7'.repeat(64)}`) }
    fc.assert(
      fc.property(envelope, (tx) => {
        const signature = { type: 'secp256k1', signature: { ...words, yParity: 1 } } as const
        const plain = { ...tx, signature, keyAuthorization: undefined, authorizationList: [] }
        const given = answer(plain, TxEnvelopeTempo.serialize(plain as Envelope))
        const digits = SignatureEnvelope.serialize(signature).slice(2)
        expect(verdictOf(given)).toBe('own')
        // An odd number of digits would get a zero in front of the tag.
        for (const from of [2, 3])
          expect(verdictOf({ ...given, signature: `0x${digits.slice(from)}` })).toBe('contradicted')
      }),
      { numRuns: 20 },
    )
  })

  it('is contradicted when its signature is no hex, also where its bytes were written just before', () => {
    const writer = new RlpWriter()
    fc.assert(
      fc.property(envelope, fc.constantFrom('r', 's', 'pubKeyX', 'pubKeyY', 'webauthnData'), (tx, part) => {
        const plain = { ...tx, keyAuthorization: undefined, authorizationList: [] }
        const given = answer(plain, TxEnvelopeTempo.serialize(plain as Envelope))
        const signature: Record<string, unknown> = Object(given.signature)
        const told = signature[part]
        fc.pre(typeof told === 'string')
        writer.rewind(0)
        expect(writeTransaction(writer, given as unknown as RpcTransaction)).toBe('own')
        const wrong = { ...given, signature: { ...signature, [part]: `${String(told).slice(0, -1)}z` } }
        writer.rewind(0)
        expect(writeTransaction(writer, wrong as unknown as RpcTransaction)).toBe('contradicted')
      }),
    )
  })

  it('is encoded with a multisig, which nodes give as the bytes after its tag', () => {
    const signature = '0xc101'
    const writer = new RlpWriter()
    writeTransaction(writer, { type: '0x76', signature } as unknown as RpcTransaction)
    expect(toHex(writer.since(0)).slice(-8)).toBe('8305c101')
  })

  it('is encoded with the access key of a configurable account, and open where that gives no match', () => {
    const inner = '0xc101'
    const userAddress = `0x${'a'.repeat(40)}`
    const signature = { userAddress, version: 'v2', signature: inner }
    const tx = { type: '0x76', hash: `0x${'1'.repeat(64)}`, signature } as unknown as RpcTransaction
    const writer = new RlpWriter()
    expect(writeTransaction(writer, tx)).toBe('open')
    expect(toHex(writer.since(0)).slice(-50)).toBe(`9804${'a'.repeat(40)}05c101`)
    const oddDigits = { ...signature, signature: '0xc10' }
    expect(writeTransaction(new RlpWriter(), { ...tx, signature: oddDigits } as never)).toBe('contradicted')
  })

  it('is encoded alike whether the kind of its key is told by the name of T14 or of the builds before', () => {
    const [before, since] = ['multisig', 'configurableAccount'].map((keyType) => {
      const account = `0x${'b'.repeat(40)}`
      const signed = { chainId: '0x1', keyType, keyId: account, account, signature: '0xc101' }
      const writer = new RlpWriter()
      writeTransaction(writer, { type: '0x76', keyAuthorization: signed, signature: '0xc101' } as never)
      return toHex(writer.since(0))
    })
    expect(since).toBe(before)
    expect(since).toContain(`0103${'94'}${'b'.repeat(40)}`)
  })

  it.each([
    null,
    7,
    '',
    'zz',
    {},
    [],
    { type: 'p256', r: 5 },
    { signature: {}, userAddress: 1 },
    { signature: [] },
  ])('never throws, and does not match, with the odd signature %j', (signature) => {
    const odd = { type: '0x76', hash: `0x${'1'.repeat(64)}`, signature, feePayerSignature: signature }
    const lists = {
      aaAuthorizationList: [signature],
      keyAuthorization: { limits: [signature], allowedCalls: {} },
    }
    for (const tx of [odd, { ...odd, ...lists }]) {
      expect(writeTransaction(new RlpWriter(), tx as unknown as RpcTransaction)).not.toBe('own')
    }
  })
})
