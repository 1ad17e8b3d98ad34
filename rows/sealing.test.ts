import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SealBrokenError, sealerOf } from './sealing.ts'

const [oldKey, newKey, foreignKey] = [randomBytes(32), randomBytes(32), randomBytes(32)]

describe('sealing', () => {
  test('any bytes come back, and no two seals are alike', () => {
    const sealer = sealerOf([newKey])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, context) => {
        const sealed = sealer.seal(plain, context)
        expect(Buffer.from(sealer.open(sealed, context))).toEqual(Buffer.from(plain))
        expect(Buffer.from(sealer.seal(plain, context)).equals(sealed)).toBe(false)
      }),
    )
  })

  test('a value opens with an older key too, and with no other', () => {
    const sealed = sealerOf([oldKey]).seal(Buffer.from('whsec_1'), 'row:1')
    expect(Buffer.from(sealerOf([newKey, oldKey]).open(sealed, 'row:1')).toString()).toBe('whsec_1')
    expect(() => sealerOf([foreignKey]).open(sealed, 'row:1')).toThrow(SealBrokenError)
  })

  test('a value of another row, and one with any bit changed, does not open', () => {
    const sealer = sealerOf([newKey])
    const sealed = sealer.seal(Buffer.from('whsec_1'), 'row:1')
    expect(() => sealer.open(sealed, 'row:2')).toThrow(SealBrokenError)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => sealer.open(changed, 'row:1')).toThrow(SealBrokenError)
    }
    expect(() => sealer.open(sealed.subarray(0, 20), 'row:1')).toThrow(SealBrokenError)
  })
})
