import { noble } from 'ox/Bls'
import { describe, expect, it } from 'vitest'
import { signingNetwork } from '#test/support/signedFinality.ts'
import { bytesOfHex } from './certificate.ts'
import { firstWrong, keyPoint, signaturePoint } from './groupSignatures.ts'

const network = signingNetwork(`0x${'02'.repeat(32)}`)
const message = (byte: number) => Uint8Array.of(byte)
const fieldSize = noble.fields.Fp.ORDER

const bigintOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** A second spelling: the same coordinate plus the field's size, where both fit into 381 bits. */
function respelled(bytes: Uint8Array): Uint8Array | null {
  const flags = BigInt((bytes[0] ?? 0) & 0xe0) << 376n
  const coordinate = bigintOf(bytes) - flags + fieldSize
  if (coordinate >= 2n ** 381n) return null
  return new Uint8Array(Buffer.from((coordinate + flags).toString(16).padStart(96, '0'), 'hex'))
}

describe('a point of a signature', () => {
  const signature = network.sign(message(0))

  it('is read from 48 bytes', () => {
    expect(signaturePoint(signature)).not.toBeNull()
    expect(signaturePoint(signature.subarray(1))).toBeNull()
    expect(signaturePoint(Uint8Array.of(...signature, 0))).toBeNull()
    expect(signaturePoint(new Uint8Array())).toBeNull()
  })

  it('is not read from its uncompressed form', () => {
    expect(signaturePoint(noble.G1.ProjectivePoint.fromHex(signature).toRawBytes(false))).toBeNull()
  })

  it.each([0xc0, 0xe0, 0x40])('infinity is none (%i)', (flags) => {
    expect(signaturePoint(Uint8Array.of(flags, ...new Array<number>(47).fill(0)))).toBeNull()
  })

  it('on the curve and outside of the subgroup is none', () => {
    // x = 4 is the least coordinate on the curve; only one point in 2^125 is in the subgroup.
    const outside = Uint8Array.of(0x80, ...new Array<number>(46).fill(0), 4)
    expect(() => noble.G1.ProjectivePoint.fromHex(outside)).toThrow('subgroup')
    expect(signaturePoint(outside)).toBeNull()
  })

  it('has one spelling, though the library takes a second one', () => {
    const tries = Array.from({ length: 64 }, (_, index) => network.sign(message(index)))
    const second = tries.map(respelled).find((bytes) => bytes !== null)
    if (!second) throw new Error('none of 64 signatures has a coordinate small enough')
    expect(() => noble.G1.ProjectivePoint.fromHex(second)).not.toThrow()
    expect(signaturePoint(second)).toBeNull()
  })
})

describe('a point of a key', () => {
  it('is read from 96 bytes, is not infinity, and not outside of the subgroup', () => {
    expect(keyPoint(bytesOfHex(network.key))).not.toBeNull()
    expect(keyPoint(bytesOfHex(network.key).subarray(1))).toBeNull()
    expect(keyPoint(network.sign(message(0)))).toBeNull()
    expect(keyPoint(Uint8Array.of(0xc0, ...new Array<number>(95).fill(0)))).toBeNull()
    const changed = bytesOfHex(network.key)
    changed[95] = (changed[95] ?? 0) ^ 1
    expect(keyPoint(changed)).toBeNull()
  })
})

describe('signatures together', () => {
  const key = pointOf(keyPoint(bytesOfHex(network.key)))
  const signed = (byte: number, by = byte) => ({
    message: message(byte),
    signature: pointOf(signaturePoint(network.sign(message(by)))),
  })

  it('are right when each is', () => {
    expect(firstWrong(key, [signed(1), signed(2)])).toBeNull()
  })

  it('name the first that is wrong', () => {
    expect(firstWrong(key, [signed(1, 3), signed(2)])).toBe(0)
    expect(firstWrong(key, [signed(1), signed(2, 3)])).toBe(1)
    expect(firstWrong(key, [signed(1, 2), signed(2, 1)])).toBe(0)
  })

  it('are wrong when only their sum is right', () => {
    const { signature } = signed(9)
    const [first, second] = [signed(1), signed(2)]
    const moved = [
      { ...first, signature: first.signature.add(signature) },
      { ...second, signature: second.signature.subtract(signature) },
    ]
    expect(firstWrong(key, moved)).toBe(0)
  })
})

function pointOf<Of>(point: Of | null): Of {
  if (point === null) throw new Error('no point')
  return point
}
