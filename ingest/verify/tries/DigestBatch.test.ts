import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DigestBatch } from './DigestBatch.ts'
import { keccak256Hex } from './keccak.ts'

function digestsOf(batch: DigestBatch, inputs: readonly Uint8Array[]): readonly string[] {
  const places = inputs.map((input) => batch.add(input))
  batch.finish()
  return places.map((place) => batch.digests.hexAt(place, 32))
}

describe('DigestBatch', () => {
  it.each([
    ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  ])('hashes %j, alone and beside another, to %s', (text, expected) => {
    const input = Buffer.from(text)
    expect(digestsOf(new DigestBatch(), [input])).toEqual([`0x${expected}`])
    expect(digestsOf(new DigestBatch(), [Buffer.from('beside'), input])[1]).toBe(`0x${expected}`)
    expect(digestsOf(new DigestBatch(), [input, Buffer.from('beside')])[0]).toBe(`0x${expected}`)
  })

  // Padding is one byte, or ends a block, or needs a further one, near multiples of 136; beyond
  // 2,175 OpenSSL hashes.
  it('agrees with OpenSSL for every length up to 2,400, each input beside another of its length', () => {
    const inputs = Array.from({ length: 4_802 }, (_, index) => Buffer.alloc(index >> 1, `input ${index}`))
    expect(digestsOf(new DigestBatch(), inputs)).toEqual(inputs.map((input) => keccak256Hex(input)))
  })

  it('agrees with OpenSSL for any inputs in any order, kept from batch to batch', () => {
    const batch = new DigestBatch()
    const inputs = fc.array(fc.uint8Array({ maxLength: 1_000, size: 'max' }), { maxLength: 40 })
    fc.assert(
      fc.property(inputs, (given) => {
        batch.clear()
        expect(digestsOf(batch, given)).toEqual(given.map((input) => keccak256Hex(input)))
      }),
    )
  })

  it('takes what an input is when it is added, not what its memory holds later', () => {
    const batch = new DigestBatch()
    const input = Buffer.alloc(200, 'before')
    const expected = keccak256Hex(input)
    const place = batch.add(input)
    input.fill('after')
    batch.finish()
    expect(batch.digests.hexAt(place, 32)).toBe(expected)
  })
})
