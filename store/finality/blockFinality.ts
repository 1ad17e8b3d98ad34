/** Reads what makes a block final, and what proves it to a reader who has the chain's key alone. */
import { certificateBytes, hexOf } from '#ingest/finality/certificate/certificate.ts'
import type { StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import { readHeader } from '#ingest/read/block.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { detectHeaderRule, type HeaderRule, headerBytes } from '#ingest/verify/parts/header.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { readArchivedHeaders } from '../ledger/archive.ts'
import type { Queryable } from '../ledger/lane.ts'
import { CERTIFIED_BYTES_MAX, CERTIFIED_HEADERS_MAX, type CertifiedBlock } from '../proofs/certifiedBlock.ts'
import { coveringProof } from './finalityProofs.ts'

/**
 * Why no proof is given:
 * - `not_final`: the block is not final yet;
 * - `no_certificate`: it is final by the word of endpoints, and no certificate of it or of one above
 *   is held;
 * - `certificate_far`: more headers lie between than one answer has;
 * - `headers_unproved`: the headers that are held do not lead from it to the certificate.
 */
export const unprovedReasons = ['not_final', 'no_certificate', 'certificate_far', 'headers_unproved'] as const

export interface BlockFinality {
  /**
   * `proved` beside a proof alone: a certificate above the block may be of another branch. Null while
   * it is not final.
   */
  readonly rule: 'proved' | 'agreed' | null
  readonly reason: (typeof unprovedReasons)[number] | null
  readonly proof: CertifiedBlock | null
}

interface NamedBlock {
  readonly number: number
  readonly hash: string
}

/** Headers read at a time: what runs between is served then. */
const PAGE_HEADERS = 64

/**
 * @param client reads one snapshot, so that all headers are of one branch
 * @param isFinal whether it is, proof or not
 */
export async function readBlockFinality(
  client: Queryable,
  { chainId, schema }: { readonly chainId: number; readonly schema: string },
  block: NamedBlock,
  isFinal: boolean,
): Promise<BlockFinality> {
  const stored = await coveringProof(client, chainId, block.number)
  const headers = stored ? await headersUpTo(client, schema, block, stored) : null
  if (stored && Array.isArray(headers))
    return { rule: 'proved', reason: null, proof: proofOf(chainId, stored, headers) }
  if (!isFinal) return { rule: null, reason: 'not_final', proof: null }
  return { rule: 'agreed', reason: typeof headers === 'string' ? headers : 'no_certificate', proof: null }
}

function proofOf(
  chainId: number,
  { certificate, block }: StoredProof,
  headers: readonly string[],
): CertifiedBlock {
  const { epoch, view } = certificate
  return {
    ...{ chainId, certificate: hexOf(certificateBytes(certificate)), epoch, view },
    ...{ blockNumber: block.number, blockHash: block.hash, headers },
  }
}

/** The headers that link the block to the certificate's, or why there are none. */
async function headersUpTo(
  client: Queryable,
  schema: string,
  block: NamedBlock,
  stored: StoredProof,
): Promise<string[] | 'certificate_far' | 'headers_unproved'> {
  const to = stored.block.number
  if (to - block.number >= CERTIFIED_HEADERS_MAX) return 'certificate_far'
  const chain = new HeaderChain(block.hash)
  for (let from = block.number; from <= to; from += PAGE_HEADERS) {
    const range = { from, to: Math.min(to, from + PAGE_HEADERS - 1) }
    const page = await readArchivedHeaders(client, schema, range)
    if (page.length <= range.to - range.from) return 'headers_unproved'
    if (!page.every(({ block: told }) => chain.add(told))) return 'headers_unproved'
    if (chain.bytes > CERTIFIED_BYTES_MAX) return 'certificate_far'
  }
  return chain.tip === stored.block.hash ? chain.headers : 'headers_unproved'
}

/** Headers that follow one upon the other, by the hashes of their own fields. */
class HeaderChain {
  readonly headers: string[] = []
  bytes = 0
  /** Hash of the last one. */
  tip: string | null = null
  readonly #first: string
  #rule: HeaderRule | null = null

  /** @param first hash of the first one */
  constructor(first: string) {
    this.#first = first
  }

  /** False where it does not follow. */
  add(told: unknown): boolean {
    const header = headerOf(told)
    if (!header) return false
    this.#rule ??= detectHeaderRule(header)
    if (this.#rule === 'unknown') return false
    const bytes = headerBytes(header, this.#rule)
    const hash = keccak256Hex(bytes)
    if (this.tip === null ? hash !== this.#first : header.parentHash !== this.tip) return false
    this.headers.push(hexOf(bytes))
    this.bytes += bytes.length
    this.tip = hash
    return true
  }
}

function headerOf(told: unknown) {
  try {
    return readHeader(told)
  } catch (error) {
    if (error instanceof NodeAnswerError) return null
    throw error
  }
}
