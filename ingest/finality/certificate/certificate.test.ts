import { describe, expect, it } from 'vitest'
import { finalityVectors } from '#test/support/signedFinality.ts'
import { CertificateRefusedError } from './CertificateRefusedError.ts'
import { bytesOfHex, certificateBytes, finalizeMessage, readCertificate, seedMessage } from './certificate.ts'

const own = finalityVectors('ownKey')
const bytes = bytesOfHex(own.certificate)
const text = (message: Uint8Array) => Buffer.from(message).toString('latin1')

describe('a certificate', () => {
  it('is read into its proposal and signatures, and written the same', () => {
    const { epoch, view, parentView, digest } = own
    const certificate = readCertificate(bytes)
    expect(certificate).toMatchObject({ epoch, view, parentView, digest })
    expect(certificateBytes(certificate)).toEqual(bytes)
  })

  it('signs a namespace with its length, and what stands in front of the signatures', () => {
    const certificate = readCertificate(bytes)
    expect(text(finalizeMessage(certificate))).toBe(`\x0eTEMPO_FINALIZE${text(bytes.subarray(0, -96))}`)
    expect(text(seedMessage(certificate))).toBe(`\x0aTEMPO_SEED${text(bytes.subarray(0, 4))}`)
  })

  it.each([
    ['a byte appended', Uint8Array.of(...bytes, 0)],
    ['a byte missing', bytes.subarray(0, -1)],
    ['nothing', new Uint8Array()],
    ['a number in more bytes than it needs', Uint8Array.of(0xac, 0x82, 0x00, ...bytes.subarray(2))],
  ])('with %s is refused', (_what, changed) => {
    expect(() => readCertificate(changed)).toThrow(CertificateRefusedError)
    expect(() => readCertificate(changed)).toThrow('for its bytes')
  })
})
