/** The one check of a certificate of finality. Pure; it takes some 35 ms of CPU. */
import type { BlockRef } from '#primitives.ts'
import { CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import {
  bytesOfHex,
  type Certificate,
  finalizeMessage,
  readCertificate,
  seedMessage,
} from '../certificate/certificate.ts'
import { groupSignatures, type SignatureScheme } from '../certificate/groupSignatures.ts'
import { type EpochKeys, keyAt } from '../keys/epochKeys.ts'
import { epochOf } from '../keys/epochs.ts'

/** A block's height and its hash as we recomputed it, never as it was told. */
export type CertifiedHeader = Pick<BlockRef, 'number' | 'hash'>

/**
 * The certificate, when it proves that the block with this header, and so each of its ancestors,
 * is final. Its view is not compared with the header's: the last block of an epoch may be proposed
 * again in later ones.
 * @throws CertificateRefusedError naming the first part that is wrong
 */
export const assertFinalized = (bytes: Uint8Array, header: CertifiedHeader, keys: EpochKeys): Certificate =>
  assertFinalizedBy(groupSignatures, bytes, header, keys)

/** The same under another scheme: a simulation has no 35 ms for each. */
export function assertFinalizedBy<Key, Signature>(
  scheme: SignatureScheme<Key, Signature>,
  bytes: Uint8Array,
  header: CertifiedHeader,
  keys: EpochKeys,
): Certificate {
  const certificate = readCertificate(bytes)
  const { epoch, digest } = certificate
  const signed = [
    { message: finalizeMessage(certificate), signature: pointOf(scheme, certificate, 'vote') },
    { message: seedMessage(certificate), signature: pointOf(scheme, certificate, 'seed') },
  ]
  if (digest !== header.hash)
    throw new CertificateRefusedError(
      'digest',
      `it is of ${digest}, block ${header.number} is ${header.hash}`,
    )
  const epochOfHeight = epochOf(header.number, keys.epochBlocks)
  if (epoch !== epochOfHeight)
    throw new CertificateRefusedError(
      'epoch',
      `${epoch}, while block ${header.number} is of ${epochOfHeight}`,
    )
  const wrong = scheme.firstWrong(heldKey(scheme, keys, epoch), signed)
  if (wrong !== null)
    throw new CertificateRefusedError(
      wrong === 0 ? 'vote' : 'seed',
      `not signed by the key of epoch ${epoch}`,
    )
  return certificate
}

function pointOf<Signature>(
  { signaturePoint }: Pick<SignatureScheme<never, Signature>, 'signaturePoint'>,
  certificate: Certificate,
  part: 'vote' | 'seed',
): Signature {
  const point = signaturePoint(certificate[part])
  if (!point)
    throw new CertificateRefusedError(`${part}Point`, 'it is outside of the subgroup, infinite or misspelled')
  return point
}

function heldKey<Key>(
  { keyPoint }: Pick<SignatureScheme<Key, never>, 'keyPoint'>,
  keys: EpochKeys,
  epoch: number,
): Key {
  const held = keyAt(keys, epoch)
  const point = held && keyPoint(bytesOfHex(held.key))
  if (!point) throw new CertificateRefusedError('key', `none is known for epoch ${epoch}`)
  return point
}
