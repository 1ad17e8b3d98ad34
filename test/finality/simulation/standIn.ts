/**
 * Signatures that cost nothing, in place of the curve's: a hash of key and message. Keys are those of
 * the made-up network, so that what blocks say of them is read by the program's own code.
 */
import { createHash } from 'node:crypto'
import {
  certificateBytes,
  finalizeMessage,
  hexOf,
  type Proposal,
  seedMessage,
} from '#ingest/finality/certificate/certificate.ts'
import type { SignatureScheme } from '#ingest/finality/certificate/groupSignatures.ts'
import type { Hex } from '#primitives.ts'
import { networkA, networkB } from '../../support/finalityChain.ts'
import type { SigningNetwork } from '../../support/signedFinality.ts'

const signatureOf = (key: Hex, message: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha384').update(key).update(message).digest())

export const standIn: SignatureScheme<Hex, Uint8Array> = {
  signaturePoint: (bytes) => bytes,
  keyPoint: (bytes) => hexOf(bytes),
  firstWrong: (key, signed) => {
    const wrong = signed.findIndex(
      ({ message, signature }) => Buffer.compare(signatureOf(key, message), signature) !== 0,
    )
    return wrong < 0 ? null : wrong
  },
}

function standingInFor({ key }: Pick<SigningNetwork, 'key'>): SigningNetwork {
  const sign = (message: Uint8Array) => signatureOf(key, message)
  return {
    key,
    sign,
    certificate: (proposal: Proposal) =>
      certificateBytes({
        ...proposal,
        vote: sign(finalizeMessage(proposal)),
        seed: sign(seedMessage(proposal)),
      }),
  }
}

export const groupA = standingInFor(networkA)
export const groupB = standingInFor(networkB)
/** Its key is named by no block and by no pin. */
export const stranger = standingInFor({ key: `0x${'8c'.repeat(96)}` })
