/** The worth of the certificates that endpoints gave at one look. */
import type { Hash } from '#primitives.ts'
import { CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import { type Certificate, readCertificate } from '../certificate/certificate.ts'
import type { RecomputedHeader } from '../certificate/recomputedHeader.ts'
import type { CertifiedHeader } from '../check/assertFinalized.ts'
import { contradicts, type FinalityProof } from './ProvedFinality.ts'

/** A certificate as endpoints gave it: nothing of it has been checked. */
export interface GivenCertificate {
  readonly bytes: Uint8Array
  /** Names of the endpoints that gave these bytes. */
  readonly endpoints: readonly string[]
}

export interface ProofSearch {
  /** The newest proof that is held; null where there is none yet. */
  readonly held: FinalityProof | null
  /** Proofs that a new one may contradict, of whatever height. */
  readonly compared: readonly FinalityProof[]
  /** The header of a block from one of these endpoints; null where none of them has it. */
  headerOf(digest: Hash, endpoints: readonly string[]): Promise<RecomputedHeader | null>
  /** As `assertFinalized`, under the keys that are held. */
  check(bytes: Uint8Array, header: CertifiedHeader): Promise<Certificate>
}

export interface RefusedCertificate {
  readonly endpoints: readonly string[]
  readonly error: CertificateRefusedError
}

export interface FoundProofs {
  /** The newest block that is proved, and blocks that are so too and contradict it or what is held. */
  readonly proofs: readonly FinalityProof[]
  readonly refused: readonly RefusedCertificate[]
}

interface Candidate {
  readonly proof: FinalityProof
  readonly given: GivenCertificate
}

/**
 * Looks from the newest block down, and checks no more than needed: a certificate finalizes all
 * ancestors, so of several that are valid only one that contradicts says more.
 * @throws whatever `headerOf` and `check` throw beside CertificateRefusedError
 */
export async function newestProofs(
  given: readonly GivenCertificate[],
  search: ProofSearch,
): Promise<FoundProofs> {
  const refused: RefusedCertificate[] = []
  const look = (one: GivenCertificate) => refusing(one, refused, () => candidateOf(one, search))
  const candidates = (await Promise.all(given.map(look))).filter((candidate) => candidate !== null)
  candidates.sort((one, other) => other.proof.block.number - one.proof.block.number)
  const proofs: FinalityProof[] = []
  for (const { proof, given: one } of candidates) {
    const known = search.held ? [search.held, ...proofs] : proofs
    const isNews = known.every(({ block }) => block.number < proof.block.number)
    if (!isNews && ![...search.compared, ...known].some((other) => contradicts(other, proof))) continue
    const checked = await refusing(one, refused, () => search.check(one.bytes, proof.block))
    if (checked) proofs.push(proof)
  }
  return { proofs, refused }
}

async function candidateOf(given: GivenCertificate, search: ProofSearch): Promise<Candidate | null> {
  const certificate = readCertificate(given.bytes)
  if (certificate.digest === search.held?.block.hash) return null
  const block = await search.headerOf(certificate.digest, given.endpoints)
  return block && { proof: { certificate, block, endpoint: given.endpoints[0] ?? '' }, given }
}

async function refusing<Value>(
  { endpoints }: GivenCertificate,
  refused: RefusedCertificate[],
  look: () => Promise<Value>,
): Promise<Value | null> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof CertificateRefusedError)) throw error
    refused.push({ endpoints, error })
    return null
  }
}
