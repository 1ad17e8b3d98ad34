/**
 * Certificates of finality as Tempo's consensus writes them: a proposal, and two threshold
 * signatures of a quorum over it.
 *
 *     certificate = proposal | vote (48 bytes) | seed (48 bytes)
 *     proposal    = epoch | view | parent view | digest (32 bytes)
 *
 * Numbers are LEB128 in its shortest form. No chain id is in it: networks differ by their keys.
 */
import { type Hash, type Hex, hash } from '#primitives.ts'
import { CanonicalBytes, CanonicalBytesError, varintBytes } from './CanonicalBytes.ts'
import { CertificateRefusedError } from './CertificateRefusedError.ts'

/** The message that a quorum signed. */
export interface Proposal {
  readonly epoch: number
  /** Round of the epoch in which it was finalized; the block may have been proposed in an earlier one. */
  readonly view: number
  readonly parentView: number
  /** The block's hash. */
  readonly digest: Hash
}

export interface Certificate extends Proposal {
  /** Compressed point of G1, 48 bytes: the group's signature over `finalizeMessage`. */
  readonly vote: Uint8Array
  /** The same over `seedMessage`. */
  readonly seed: Uint8Array
}

const SIGNATURE_BYTES = 48
/** Three numbers of 8 bytes at most, the digest and two signatures. */
export const CERTIFICATE_BYTES_MAX = 3 * 8 + 32 + 2 * SIGNATURE_BYTES

/** @throws CertificateRefusedError `bytes`. The points of the signatures are not looked at. */
export function readCertificate(bytes: Uint8Array): Certificate {
  try {
    const rest = new CanonicalBytes(bytes)
    const [epoch, view, parentView] = [rest.varint(), rest.varint(), rest.varint()]
    const digest = hash(hexOf(rest.take(32)))
    const [vote, seed] = [rest.take(SIGNATURE_BYTES), rest.take(SIGNATURE_BYTES)]
    rest.end()
    return { epoch, view, parentView, digest, vote, seed }
  } catch (cause) {
    if (cause instanceof CanonicalBytesError)
      throw new CertificateRefusedError('bytes', cause.message, { cause })
    throw cause
  }
}

/** The bytes that a certificate's vote signs. One over the same proposal as notarized is not final. */
export const finalizeMessage = (proposal: Proposal): Uint8Array =>
  joined(namespaceBytes('TEMPO_FINALIZE'), proposalBytes(proposal))

/** The bytes that a certificate's seed signs: those of its round, whatever block it finalizes. */
export const seedMessage = ({ epoch, view }: Pick<Proposal, 'epoch' | 'view'>): Uint8Array =>
  joined(namespaceBytes('TEMPO_SEED'), varintBytes(epoch), varintBytes(view))

export const certificateBytes = (certificate: Certificate): Uint8Array =>
  joined(proposalBytes(certificate), certificate.vote, certificate.seed)

/** `0x` and lowercase digits. */
export const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

export const bytesOfHex = (hex: Hex): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), 'hex'))

const proposalBytes = ({ epoch, view, parentView, digest }: Proposal): Uint8Array =>
  joined(varintBytes(epoch), varintBytes(view), varintBytes(parentView), bytesOfHex(digest))

function namespaceBytes(name: string): Uint8Array {
  const text = new TextEncoder().encode(name)
  return joined(varintBytes(text.length), text)
}

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))
