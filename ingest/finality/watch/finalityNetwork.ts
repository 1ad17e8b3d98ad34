/** The questions and news of a watch of a chain's finality; the endpoints and the stores are behind it. */
import type { Hash } from '#primitives.ts'
import type { CertificatePart } from '../certificate/CertificateRefusedError.ts'
import type { Certificate } from '../certificate/certificate.ts'
import type { RecomputedHeader } from '../certificate/recomputedHeader.ts'
import type { CertifiedHeader } from '../check/assertFinalized.ts'
import type { EpochKeys } from '../keys/epochKeys.ts'
import type { BoundaryBlock, KeyChange } from '../keys/followKey.ts'
import type { KeyDecision } from '../keys/keyDecision.ts'
import type { GivenCertificate } from '../rules/newestProofs.ts'
import type { StoredProof } from '../rules/ProvedFinality.ts'

export interface GivenCertificates {
  /** Each once, however many gave it. */
  readonly given: readonly GivenCertificate[]
  /** Endpoints that say that they do not have the method. */
  readonly without: readonly string[]
  /** Some that serve them were not asked this time. */
  readonly isPart?: boolean
}

/** The endpoints. How they answer moves nothing by itself. */
export interface FinalityNetwork {
  /**
   * Certificates of the newest final block, or of one height, from all endpoints; what takes long is
   * given when it is asked for again.
   */
  certificates(of: 'latest' | { readonly height: number }, signal: AbortSignal): Promise<GivenCertificates>
  /**
   * The header of a block from one of these endpoints, from any where none is named; null where none
   * of them has it yet.
   */
  headerOf(
    digest: Hash,
    endpoints: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<RecomputedHeader | null>
  /** A certificate that these endpoints gave was refused for this part. */
  refused?(endpoints: readonly string[], part: CertificatePart): void
}

/** Checks of proofs, at some 35 ms of CPU a time. */
export interface FinalityChecks {
  /** As `assertFinalized`. */
  check(
    bytes: Uint8Array,
    header: CertifiedHeader,
    keys: EpochKeys,
    signal?: AbortSignal,
  ): Promise<Certificate>
  /** As `followKey`. */
  follow(keys: EpochKeys, change: KeyChange, signal?: AbortSignal): Promise<EpochKeys>
}

/** Stores for the writer of a chain. Each is durable when it resolves. */
export interface FinalityKeeper {
  keepProof(proof: StoredProof): Promise<void>
  keepKey(decision: KeyDecision): Promise<void>
  /** That an epoch has no key is no longer so. */
  forgetRefusal(fromEpoch: number): Promise<void>
}

/** Proofs and keys that were stored, by whichever process. */
export interface FinalityStore {
  /** Those that a new one is compared with, by ascending height, and all that contradict each other. */
  proofs(): Promise<readonly StoredProof[]>
  keys(): Promise<readonly KeyDecision[]>
  /** The proof of the block of this height; null where none is stored, or several are. */
  proofAt(height: number): Promise<StoredProof | null>
  /** The last block of an epoch, where it is held. */
  blockAt(height: number): Promise<BoundaryBlock | null>
}
