/** A liar's versions of a true certificate: each may look like one, and none is. */
import {
  bytesOfHex,
  type Certificate,
  certificateBytes,
  finalizeMessage,
  hexOf,
  readCertificate,
} from '#ingest/finality/certificate/certificate.ts'
import { networkA } from '../../support/finalityChain.ts'

/** Compressed infinity of G1. */
const infinity = Uint8Array.of(0xc0, ...new Uint8Array(47))

/** @param text digits of a certificate that `networkA` signed; each result has what is wrong with it */
export function falseSpellings(text: string): readonly (readonly [what: string, text: string])[] {
  const bytes = bytesOfHex(`0x${text}`)
  const certificate = readCertificate(bytes)
  const { vote, seed } = certificate
  const digits = (changed: Uint8Array) => hexOf(changed).slice(2)
  const changed = (change: Partial<Certificate>) => digits(certificateBytes({ ...certificate, ...change }))
  const flipped = (place: number) => digits(bytes.map((byte, index) => (index === place ? byte ^ 1 : byte)))
  const digestAt = bytes.length - 2 * vote.length - 32
  return [
    ['a bit of the epoch', flipped(0)],
    ['a bit of the view', flipped(1)],
    ['a bit of the parent’s view', flipped(2)],
    ['a bit of the digest', flipped(digestAt + 9)],
    ['a bit of the vote', flipped(bytes.length - vote.length - 1)],
    ['a bit of the seed', flipped(bytes.length - 1)],
    ['vote and seed swapped', changed({ vote: seed, seed: vote })],
    ['a notarization', changed({ vote: networkA.sign(notarizeMessage(certificate)) })],
    ['an infinite vote', changed({ vote: infinity })],
    ['an infinite seed', changed({ seed: infinity })],
    ['a varint that is not the shortest', `${nonMinimal(text.slice(0, 2))}${text.slice(2)}`],
    ['a byte appended', `${text}00`],
    ['a byte less', text.slice(0, -2)],
    ['0x before the digits', `0x${text}`],
    ['upper case', text.toUpperCase()],
    ['nothing', ''],
  ]
}

/** The same proposal, signed as notarized: a step before it is final. */
function notarizeMessage(certificate: Certificate): Uint8Array {
  const proposal = finalizeMessage(certificate).slice('\u000eTEMPO_FINALIZE'.length)
  return new Uint8Array(Buffer.concat([Buffer.from('\u000eTEMPO_NOTARIZE'), proposal]))
}

/** One byte below 128 in two. */
const nonMinimal = (byte: string): string => `${(Number.parseInt(byte, 16) | 0x80).toString(16)}00`
