/**
 * Certificates over a canned chain, signed before anything is measured: a node that follows a
 * network is given them by its consensus.
 */
import { hexOf } from '#ingest/finality/certificate/certificate.ts'
import { EPOCH_BLOCKS, epochOf } from '#ingest/finality/keys/epochs.ts'
import { hash } from '#primitives.ts'
import { signingNetwork } from '#test/support/signedFinality.ts'
import type { CannedChain } from '../cannedFile.ts'

/** Signs canned chains: one secret in place of a quorum. */
export const cannedGroup = signingNetwork(`0x${'0c'.repeat(32)}`)

/** Both are within. */
export interface Heights {
  readonly from: number
  readonly to: number
}

export interface CannedCertificates {
  /** Hex digits as nodes write them; undefined where none was signed. */
  at(height: number): string | undefined
  /** The height of a block that one of them names. */
  heightOf(digest: unknown): number | undefined
}

/** Takes some 50 ms for each height. */
export function cannedCertificates(chain: CannedChain, { from, to }: Heights): CannedCertificates {
  const texts = new Map<number, string>()
  const heights = new Map<unknown, number>()
  for (let height = from; height <= to; height++) {
    const block: { readonly hash: string } = JSON.parse(chain.block(height).toString())
    const digest = hash(block.hash)
    const proposal = { epoch: epochOf(height, EPOCH_BLOCKS), view: height + 1, parentView: height, digest }
    texts.set(height, hexOf(cannedGroup.certificate(proposal)).slice(2))
    heights.set(digest, height)
  }
  return { at: (height) => texts.get(height), heightOf: (digest) => heights.get(digest) }
}
