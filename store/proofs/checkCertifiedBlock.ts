/**
 * Checks offline that a block is final. It shares no code with what makes such proofs but the hash
 * and the check of a certificate: RLP is read by viem.
 */

import { CertificateRefusedError } from '#ingest/finality/certificate/CertificateRefusedError.ts'
import { bytesOfHex } from '#ingest/finality/certificate/certificate.ts'
import { assertFinalized } from '#ingest/finality/check/assertFinalized.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { type Hash, hash } from '#primitives.ts'
import type { CertifiedBlock } from './certifiedBlock.ts'
import { asHex, byteStringOf, type DecodedItem, headerItems, NUMBER, PARENT_HASH } from './rlpItems.ts'

/** The part that does not hold: a header, the description of the certificate, or the certificate itself. */
export interface CertifiedProblem {
  readonly part: 'headers' | 'certificate' | 'epoch' | 'view' | 'blockNumber' | 'blockHash'
  readonly problem: string
}

interface Link {
  readonly number: number
  readonly hash: Hash
  readonly parentHash: string
}

/**
 * The first that does not hold; null where the block of this number and hash is final by the keys.
 * Takes some 50 ms of CPU, and 20 µs for each header.
 */
export function certifiedProblem(
  certified: CertifiedBlock,
  block: { readonly number: number; readonly hash: string },
  keys: EpochKeys,
): CertifiedProblem | null {
  const links: Link[] = []
  for (const [index, text] of certified.headers.entries()) {
    const link = linkOf(text)
    const problem = link ? linkProblem(link, links.at(-1), block) : 'is no header'
    if (!link || problem !== null) return { part: 'headers', problem: `[${index}] ${problem}` }
    links.push(link)
  }
  const last = links.at(-1)
  if (!last) return { part: 'headers', problem: 'none is there' }
  return certificateProblem(certified, last, keys)
}

function linkProblem(
  link: Link,
  below: Link | undefined,
  block: { readonly number: number; readonly hash: string },
): string | null {
  if (below) {
    if (link.parentHash !== below.hash) return `is no child of block ${below.number} ${below.hash}`
    return link.number === below.number + 1 ? null : `is of height ${link.number}`
  }
  if (link.hash !== block.hash) return `hashes to ${link.hash}, not to the block's hash`
  return link.number === block.number ? null : `is of height ${link.number}, not the block's`
}

function certificateProblem(certified: CertifiedBlock, last: Link, keys: EpochKeys): CertifiedProblem | null {
  if (certified.blockNumber !== last.number)
    return { part: 'blockNumber', problem: `the last header is of height ${last.number}` }
  if (certified.blockHash !== last.hash)
    return { part: 'blockHash', problem: `the last header hashes to ${last.hash}` }
  try {
    const { epoch, view } = assertFinalized(bytesOfHex(asHex(certified.certificate)), last, keys)
    if (certified.epoch !== epoch) return { part: 'epoch', problem: `the certificate is of ${epoch}` }
    return certified.view === view ? null : { part: 'view', problem: `the certificate is of ${view}` }
  } catch (error) {
    if (error instanceof CertificateRefusedError || error instanceof TypeError)
      return { part: 'certificate', problem: error.message }
    throw error
  }
}

/** Null for what is no header. */
function linkOf(text: string): Link | null {
  try {
    const header = headerItems(text)
    return {
      number: heightOf(header[NUMBER]),
      hash: hash(keccak256Hex(bytesOfHex(asHex(text)))),
      parentHash: byteStringOf(header[PARENT_HASH]),
    }
  } catch {
    return null
  }
}

function heightOf(item: DecodedItem | undefined): number {
  const text = byteStringOf(item)
  const height = text === '0x' ? 0 : Number(text)
  if (!Number.isSafeInteger(height)) throw new TypeError('no height')
  return height
}
