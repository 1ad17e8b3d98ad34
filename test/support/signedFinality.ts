/**
 * Networks with one secret key, which sign like a whole group's: what they certify no verifier can
 * tell from what a quorum did.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Bls from 'ox/Bls'
import * as BlsPoint from 'ox/BlsPoint'
import { varintBytes } from '#ingest/finality/certificate/CanonicalBytes.ts'
import {
  bytesOfHex,
  certificateBytes,
  finalizeMessage,
  hexOf,
  type Proposal,
  seedMessage,
} from '#ingest/finality/certificate/certificate.ts'
import { signatureSuite } from '#ingest/finality/certificate/groupSignatures.ts'
import { type Hash, type Hex, hash } from '#primitives.ts'

/** The files of `test/data/finality`, as far as tests read them. */
interface Vectors {
  readonly mainnet: {
    readonly mainnet_identity: string
    readonly boundary: { readonly finalization: string; readonly block: Readonly<Record<string, unknown>> }
  }
  readonly keyChange: {
    readonly epochLength: number
    readonly key0: Hex
    readonly key1: Hex
    readonly updates: readonly {
      readonly epoch: number
      readonly height: number
      readonly hash: Hash
      readonly certificate: Hex
    }[]
  }
  readonly ownKey: Proposal & { readonly secret: Hex; readonly key: Hex; readonly certificate: Hex }
  readonly identities: Readonly<Record<'4217' | '42431', readonly PinnedVector[]>>
}

interface PinnedVector {
  readonly fromEpoch: number
  readonly key: Hex
}

export const finalityVectors = <Name extends keyof Vectors>(name: Name): Vectors[Name] =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../data/finality', `${name}.json`), 'utf8'))

export interface SigningNetwork {
  /** Compressed point of G2. */
  readonly key: Hex
  sign(message: Uint8Array): Uint8Array
  certificate(proposal: Proposal): Uint8Array
}

/** @param secret 32 bytes below the order of the curve's group */
export function signingNetwork(secret: Hex): SigningNetwork {
  const size = 'long-key:short-sig'
  const sign = (payload: Uint8Array) =>
    BlsPoint.toBytes(Bls.sign({ payload, privateKey: secret, suite: signatureSuite, size }))
  return {
    key: BlsPoint.toHex(Bls.getPublicKey({ privateKey: secret, size })),
    sign,
    certificate: (proposal) =>
      certificateBytes({
        ...proposal,
        vote: sign(finalizeMessage(proposal)),
        seed: sign(seedMessage(proposal)),
      }),
  }
}

/** The last block's word on the next epoch. */
export interface Outcome {
  readonly epoch: number
  readonly key: Hex
  readonly isNextFullDkg?: boolean
}

/** `extraData` of such a block, with four people and a polynomial of degree one. */
export function outcomeExtraData({ epoch, key, isNextFullDkg = false }: Outcome): Hex {
  const people = (many: number) => [varintBytes(many), new Uint8Array(32 * many).fill(many)]
  return hexOf(
    Buffer.concat([
      varintBytes(epoch),
      new Uint8Array(32).fill(7),
      Uint8Array.of(0, 0, 0, 0, 4),
      varintBytes(2),
      bytesOfHex(key),
      bytesOfHex(key),
      ...[3, 4, 0, 4].flatMap(people),
      Uint8Array.of(isNextFullDkg ? 1 : 0),
    ]),
  )
}

/** A hash of one byte, 32 times. */
export const digestOf = (byte: number): Hash => hash(`0x${byte.toString(16).padStart(2, '0').repeat(32)}`)
