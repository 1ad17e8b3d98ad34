/**
 * The way of a chain's keys from the epoch that is known to the one whose certificates come. Each
 * epoch's last block tells the next key; the block counts by its own certificate.
 */
import type { Hash } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import { readCertificate } from '../certificate/certificate.ts'
import { type EpochKey, type EpochKeys, withoutKeyFrom } from '../keys/epochKeys.ts'
import type { BoundaryBlock } from '../keys/followKey.ts'
import { type KeyRefusal, KeyRefusedError } from '../keys/KeyRefusedError.ts'
import type { GivenCertificate } from '../rules/newestProofs.ts'
import type { StoredProof } from '../rules/ProvedFinality.ts'
import type { FinalityChecks, FinalityKeeper, FinalityNetwork, FinalityStore } from './finalityNetwork.ts'

export interface KeyWalkOptions {
  readonly network: FinalityNetwork
  readonly checks: FinalityChecks
  readonly store: Pick<FinalityStore, 'blockAt' | 'proofAt'>
  readonly clock: Clock
  /** Stores the proof of a last block, before it is used. */
  readonly proved: (proof: StoredProof, keeper: FinalityKeeper) => Promise<void>
}

/** Epochs at one look. Each takes a few requests and a check. */
const STEPS_MAX = 8
/** After a refusal the same block is not asked for at once: nodes may have it later. */
const AGAIN_MS = 10_000
/** More than there are pins. */
const REFUSALS_MAX = 64

/** How far a walk came. */
export interface Walked {
  /** Certificates of this epoch can be checked. */
  readonly reached: number
  /** Up to here no epoch is left out. */
  readonly followedTo: number
}

/** A last block, and its own certificate where one was checked. */
interface Boundary extends BoundaryBlock {
  readonly hash: Hash | null
  readonly isCertified: boolean
}

/** Reasons that pass when more is held or served; nothing about them is stored. */
const passing: readonly KeyRefusal[] = ['certificate_missing', 'announcement_not_held', 'old_key_unknown']

export class KeyWalk {
  readonly #options: KeyWalkOptions
  #keys: EpochKeys
  #problem: KeyRefusedError | null = null
  /** By epoch, until its last block is asked for again. */
  readonly #refusals: BoundedMap<number, KeyRefusedError>

  constructor(keys: EpochKeys, options: KeyWalkOptions) {
    this.#keys = keys
    this.#options = options
    this.#refusals = new BoundedMap({ max: REFUSALS_MAX, now: () => options.clock.monotonic() })
  }

  get keys(): EpochKeys {
    return this.#keys
  }

  /** Why an epoch's key is not known; null where all that were needed are. */
  get problem(): KeyRefusedError | null {
    return this.#problem
  }

  /** Takes keys that were stored meanwhile, by this process or another one. */
  adopt(keys: EpochKeys): void {
    this.#keys = keys
  }

  /**
   * Goes from an epoch whose key is known to another one. Behind a gap a pin is gone on from: the keys
   * from it on are what certificates may be checked under, and prove no more than that.
   * @throws KeyRefusedError where the way ends; at once, while it is too early to try again
   */
  async walk(from: number, to: number, keeper: FinalityKeeper, signal: AbortSignal): Promise<Walked> {
    let problem: KeyRefusedError | null = null
    let hasJumped = false
    let [reached, followedTo] = [from, from]
    for (let steps = 0; reached < to && steps < STEPS_MAX; steps++) {
      try {
        this.#assertDue(reached + 1)
        await this.#step(reached, keeper, signal)
        reached++
        if (!hasJumped) followedTo = reached
      } catch (error) {
        if (!(error instanceof KeyRefusedError)) throw error
        const pin = this.#pinBetween(reached, to)
        this.#refused(error)
        if (pin === null) throw error
        // A pin is worth more than the blocks that are served.
        if (error.reason === 'pin_contradicted') problem = error
        reached = pin
        hasJumped = true
      }
    }
    this.#problem = problem
    return { reached, followedTo }
  }

  /** @throws KeyRefusedError that of before, while it is too early to try again */
  #assertDue(epoch: number): void {
    const refused = this.#refusals.get(epoch)
    if (refused) throw refused
  }

  #refused(error: KeyRefusedError): void {
    this.#problem = error
    if (!this.#refusals.has(error.epoch))
      this.#refusals.set(error.epoch, error, this.#options.clock.monotonic() + AGAIN_MS)
  }

  /** The first epoch behind this one with a key that was compiled in or configured. */
  #pinBetween(epoch: number, to: number): number | null {
    const isPin = ({ fromEpoch, origin }: EpochKey) =>
      fromEpoch > epoch && fromEpoch <= to && origin !== 'followed'
    return this.#keys.keys.find(isPin)?.fromEpoch ?? null
  }

  async #step(epoch: number, keeper: FinalityKeeper, signal: AbortSignal): Promise<void> {
    const next = epoch + 1
    const number = next * this.#keys.epochBlocks - 1
    const boundary = await this.#boundary(number, keeper, signal)
    if (!boundary) throw new KeyRefusedError('certificate_missing', next)
    try {
      await this.#take(await this.#follow(boundary, keeper, signal), next, boundary.hash, keeper)
    } catch (error) {
      if (!(error instanceof KeyRefusedError)) throw error
      if (!boundary.isCertified)
        throw passes(error) ? error : new KeyRefusedError('certificate_missing', next)
      if (!passes(error)) await this.#refuse(error, boundary.hash, keeper)
      throw error
    }
  }

  /** The block of one epoch before is asked for where a key has changed alone. */
  async #follow(boundary: Boundary, keeper: FinalityKeeper, signal: AbortSignal): Promise<EpochKeys> {
    const { checks } = this.#options
    const held = this.#keys
    try {
      return await checks.follow(held, { boundary, before: null, isCertified: boundary.isCertified }, signal)
    } catch (error) {
      if (!(error instanceof KeyRefusedError) || error.reason !== 'announcement_not_held') throw error
      const before = await this.#boundary(boundary.number - held.epochBlocks, keeper, signal)
      return await checks.follow(held, { boundary, before, isCertified: boundary.isCertified }, signal)
    }
  }

  async #take(followed: EpochKeys, epoch: number, boundaryHash: Hash | null, keeper: FinalityKeeper) {
    const added = followed.keys.find(({ fromEpoch, origin }) => fromEpoch === epoch && origin === 'followed')
    if (added) await keeper.keepKey({ fromEpoch: epoch, key: added.key, boundaryHash, refusal: null })
    else if (followed.unknownFrom.includes(epoch)) await keeper.forgetRefusal(epoch)
    this.#keys = { ...followed, unknownFrom: followed.unknownFrom.filter((from) => from !== epoch) }
  }

  async #refuse({ reason, epoch }: KeyRefusedError, boundaryHash: Hash | null, keeper: FinalityKeeper) {
    await keeper.keepKey({ fromEpoch: epoch, key: null, boundaryHash, refusal: reason })
    this.#keys = withoutKeyFrom(this.#keys, epoch)
  }

  /** As its certificate proves it, one that is stored first; else as it is held. */
  async #boundary(height: number, keeper: FinalityKeeper, signal: AbortSignal): Promise<Boundary | null> {
    const { network, store } = this.#options
    const stored = await store.proofAt(height)
    const header = stored && (await network.headerOf(stored.block.hash, null, signal))
    if (header) return { ...header, isCertified: true }
    const { given: all } = await network.certificates({ height }, signal)
    for (const given of all) {
      const proof = await this.#proofOf(given, height, signal)
      if (!proof) continue
      await this.#options.proved(proof, keeper)
      return { ...proof.block, isCertified: true }
    }
    const held = await store.blockAt(height)
    return held && { ...held, hash: null, isCertified: false }
  }

  async #proofOf({ bytes, endpoints }: GivenCertificate, height: number, signal: AbortSignal) {
    const { network, checks, clock } = this.#options
    try {
      const block = await network.headerOf(readCertificate(bytes).digest, endpoints, signal)
      if (block?.number !== height) return null
      const certificate = await checks.check(bytes, block, this.#keys, signal)
      return { certificate, block, endpoint: endpoints[0] ?? '', checkedAtMs: clock.now() }
    } catch (error) {
      if (!(error instanceof CertificateRefusedError)) throw error
      network.refused?.(endpoints, error.part)
      return null
    }
  }
}

const passes = ({ reason }: KeyRefusedError): boolean => passing.includes(reason)
