import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isP256OfDigest, isP256OfMessage, type P256Signature } from './p256.ts'

const message = Buffer.from('what was signed')
/**
 * OpenSSL signs digests that it made itself; verified as bytes, such a digest is as good as any.
 */
const digest = hash('sha256', message, 'buffer')

function signed(): P256Signature {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const both = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('hex')
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex')
  return { r: both.slice(0, 64), s: both.slice(64), x: hex(x), y: hex(y) }
}

const zero = '0'.repeat(64)
const flipped = (word: string) => `${word.slice(0, -1)}${word.endsWith('0') ? '1' : '0'}`

describe.each([
  ['a message', (signature: P256Signature, of = message) => isP256OfMessage(of, signature)],
  [
    'a digest',
    (signature: P256Signature, of = message) => isP256OfDigest(hash('sha256', of, 'buffer'), signature),
  ],
])('a P-256 signature of %s', (_name, holds) => {
  it('holds by its own key, for 50 keys', () => {
    for (let count = 0; count < 50; count++) expect(holds(signed())).toBe(true)
  })

  it.each(['r', 's', 'x'] as const)('does not hold with another %s', (part) => {
    const signature = signed()
    expect(holds({ ...signature, [part]: flipped(signature[part]) })).toBe(false)
  })

  it('does not hold for anything else, by another key, or by what is no key', () => {
    const signature = signed()
    const { x, y } = signed()
    expect(holds(signature, Buffer.from('another message'))).toBe(false)
    expect(holds({ ...signature, x, y })).toBe(false)
    expect(holds({ ...signature, y: flipped(signature.y) })).toBe(false)
    expect(holds({ r: zero, s: zero, x: zero, y: zero })).toBe(false)
    expect(holds({ ...signature, r: 'f'.repeat(64) })).toBe(false)
    expect(holds({ ...signature, s: zero })).toBe(false)
  })
})

it('a digest is verified as the message it is of', () => {
  const signature = signed()
  expect([isP256OfDigest(digest, signature), isP256OfMessage(digest, signature)]).toEqual([true, false])
})
