import { constants, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ZstdCompressor } from './ZstdCompressor.ts'

const options = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } }

test('frames are those of the public call, piece after piece, whatever came before', () => {
  const compressor = new ZstdCompressor(options)
  const noise = fc.uint8Array({ maxLength: 5_000 }).map((bytes) => Buffer.from(bytes))
  const text = fc
    .tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(9_000))
    .map(([word, times]) => Buffer.from(word.repeat(times)))
  fc.assert(
    fc.property(fc.oneof(noise, text), (piece) => {
      const kept = compressor.compress(piece)
      compressor.compress(Buffer.from('another piece'))
      expect(Buffer.from(kept).equals(zstdCompressSync(piece, options))).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('pieces that do not compress, of any size, come whole', () => {
  const compressor = new ZstdCompressor(options)
  for (const size of [0, 1, 127_000, 3 << 20, 5 << 20]) {
    const piece = Buffer.alloc(size)
    for (let at = 0, state = 1; at < size; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      piece[at] = state >>> 24
    }
    expect(Buffer.from(compressor.compress(piece)).equals(zstdCompressSync(piece, options))).toBe(true)
  }
})
