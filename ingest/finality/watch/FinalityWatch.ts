/**
 * Looks for certificates of a chain's finality beside the head lane. The writer asks, checks and
 * stores, and only then lets blocks be final; a process that stands by takes what was stored, and so
 * spends no CPU and says nothing of its own.
 */
import type { Hex } from '#primitives.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock, Failpoint } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type CertificatePart, CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import type { Certificate } from '../certificate/certificate.ts'
import type { CertifiedHeader } from '../check/assertFinalized.ts'
import { type EpochKey, type EpochKeys, keyAt } from '../keys/epochKeys.ts'
import { epochOf } from '../keys/epochs.ts'
import { KeyRefusedError } from '../keys/KeyRefusedError.ts'
import { keysWith } from '../keys/keyDecision.ts'
import { type FoundProofs, type GivenCertificate, newestProofs } from '../rules/newestProofs.ts'
import type { FinalityProof, ProvedFinality, StoredProof } from '../rules/ProvedFinality.ts'
import type { FinalityChecks, FinalityKeeper, FinalityNetwork, FinalityStore } from './finalityNetwork.ts'
import { KeyWalk } from './KeyWalk.ts'

export interface FinalityWatchOptions {
  readonly chainId: number
  /** Compiled and configured ones. */
  readonly keys: EpochKeys
  readonly rule: ProvedFinality
  /** A block is final by a certificate alone, also before the first. */
  readonly certificatesAlone: boolean
  readonly network: FinalityNetwork
  readonly checks: FinalityChecks
  readonly store: FinalityStore
  /** Null while another process writes the chain. */
  readonly keeper: () => FinalityKeeper | null
  /** Newest head that was seen, or -1. */
  readonly head: () => number
  /** A certificate moved what is final to this proof. Must not throw. */
  readonly moved?: (proof: FinalityProof) => void
  readonly failpoint: Failpoint
  readonly clock: Clock
  readonly log: Logger
}

/** A problem of a chain's certificates. */
export interface FinalityProblem {
  readonly kind: 'finality_key_unknown' | 'finality_certificates_missing' | 'finality_equivocated'
  readonly message: string
}

export interface LastRefused {
  /** Unix milliseconds. */
  readonly atMs: number
  /** The first that is wrong. */
  readonly part: CertificatePart
  /** Which endpoints gave it, and what is wrong with it. */
  readonly problem: string
}

/** Finality of Tempo comes within a second of the block. */
const LOOK_MS = 1_000
/** A chain that has not moved for this long. */
const QUIET_MS = 30_000
/** While it stands, and where no endpoint serves certificates. */
const IDLE_MS = 5_000
const UNSERVED_MS = 60_000
const FAILED_MS = 5_000
/** A chain that moves has newer certificates within seconds; its nodes may be restarted meanwhile. */
export const MISSING_MS = 600_000

/** Sentences about endpoints in the log; each is told once. */
const LOGGED_MAX = 64
const EQUIVOCATED = 'equivocated'

export class FinalityWatch {
  readonly #options: FinalityWatchOptions
  readonly #walk: KeyWalk
  #serving: ReadonlySet<string> = new Set()
  /** The last epoch whose key is sure: it signed, or it was followed up to there. */
  #knownEpoch: number | null = null
  /** How far keys were followed from there, no epoch left out. */
  #walkedTo = 0
  #checkedAtMs: number | null = null
  /** When what is proved moved last, on the monotonic clock; before the start, where that is so. */
  #movedAtMs: number
  /** The newest proof that was taken from the store. */
  #loadedHeight = -1
  /** Certificates were asked for since the start. */
  #hasLooked = false
  #lastRefused: LastRefused | null = null
  readonly #logged = new Set<string>()

  constructor(options: FinalityWatchOptions) {
    this.#options = options
    const { keys, network, checks, store, clock } = options
    const proved = (proof: StoredProof, keeper: FinalityKeeper) => this.#take(proof, keeper)
    this.#walk = new KeyWalk(keys, { network, checks, store, clock, proved })
    this.#movedAtMs = clock.monotonic()
  }

  /** Endpoints that gave a certificate at the last look. */
  get endpointsServing(): number {
    return this.#serving.size
  }

  /** Unix milliseconds; when the newest proof was checked. */
  get lastCheckedMs(): number | null {
    return this.#checkedAtMs
  }

  /** The key that signed the newest proof; null without one. */
  get identity(): Hex | null {
    const { proof } = this.#options.rule
    return proof && (keyAt(this.#walk.keys, proof.certificate.epoch)?.key ?? null)
  }

  /** The first compiled key that is stated alone: nothing is proved yet of an epoch that it signs. */
  get statedKey(): EpochKey | null {
    const epoch = this.#options.rule.proof?.certificate.epoch ?? -1
    const isUnseen = ({ origin, fromEpoch }: EpochKey) => origin === 'stated' && fromEpoch > epoch
    return this.#walk.keys.keys.find(isUnseen) ?? null
  }

  /** The certificate that was refused last; null for none since the start, or while another process asks. */
  get lastRefused(): LastRefused | null {
    return this.#lastRefused
  }

  /** By urgency. */
  get problems(): readonly FinalityProblem[] {
    const { rule, clock, head, certificatesAlone } = this.#options
    const problems: FinalityProblem[] = []
    if (rule.equivocation) problems.push({ kind: 'finality_equivocated', message: rule.held ?? '' })
    const { problem, keys } = this.#walk
    // A block that somebody invents, of a later epoch, says nothing of its key.
    if (problem && head() >= problem.epoch * keys.epochBlocks - 1)
      problems.push({ kind: 'finality_key_unknown', message: problem.message })
    const waitedMs = clock.monotonic() - this.#movedAtMs
    const isAwaited = this.#hasLooked && (rule.proof !== null || certificatesAlone)
    if (isAwaited && waitedMs >= MISSING_MS && head() > rule.number) {
      const minutes = Math.floor(waitedMs / 60_000)
      const message = `no certificate above block ${rule.number} for ${minutes} minutes, while the head is ${head()}`
      problems.push({ kind: 'finality_certificates_missing', message })
    }
    return problems
  }

  /** Takes what was stored. The writer has to, before anything becomes final. */
  async load(): Promise<void> {
    const { store, rule, keys } = this.#options
    this.#walk.adopt(keysWith(keys, await store.keys()))
    const proofs = await store.proofs()
    for (const proof of proofs) {
      this.#taken(proof, rule.take(proof))
      this.#checkedAtMs = Math.max(this.#checkedAtMs ?? 0, proof.checkedAtMs)
    }
    const newest = proofs.at(-1)
    if (newest && newest.block.number > this.#loadedHeight) this.#ageFrom(newest)
  }

  /** By the wall clock, once: it may be set anew while the process runs, and may be behind the other's. */
  #ageFrom({ block, checkedAtMs }: StoredProof): void {
    const { clock } = this.#options
    this.#loadedHeight = block.number
    this.#movedAtMs = clock.monotonic() - Math.max(0, clock.now() - checkedAtMs)
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, chainId, log } = this.#options
    const message = 'certificates of finality could not be looked for'
    const failed = { log, ms: FAILED_MS, message, about: { chainId } }
    await repeat({ clock, signal, failed }, () => this.look(signal))
  }

  /** Once. @returns milliseconds until the next look @throws what asking, checking and storing throw */
  async look(signal: AbortSignal): Promise<number> {
    try {
      const writer = this.#options.keeper()
      if (writer) return await this.#ask(writer, signal)
      await this.load()
      return IDLE_MS
    } finally {
      this.#hasLooked = true
    }
  }

  async #ask(writer: FinalityKeeper, signal: AbortSignal): Promise<number> {
    const { network, rule, head, clock } = this.#options
    if (rule.equivocation) return UNSERVED_MS
    const { given, without, isPart = false } = await network.certificates('latest', signal)
    const serving = given.flatMap(({ endpoints }) => endpoints)
    this.#serving = new Set(isPart ? [...this.#serving, ...serving] : serving)
    if (given.length === 0) return rule.proof || isPart || without.length === 0 ? LOOK_MS : UNSERVED_MS
    const [knownEpoch, walkedTo] = [this.#knownEpoch, this.#walkedTo]
    const found = await this.#search(given, writer, signal)
    const checkedAtMs = clock.now()
    this.#tellRefused(found, checkedAtMs)
    const isOnTheWay = this.#knownEpoch !== knownEpoch || this.#walkedTo !== walkedTo
    for (const { endpoints, error } of found.refused)
      if (error.part !== 'key' || !isOnTheWay) network.refused?.(endpoints, error.part)
    const proofs = found.proofs.toReversed().map((proof) => ({ ...proof, checkedAtMs }))
    for (const proof of proofs) await this.#keep(proof, writer)
    // At once: of two that contradict each other neither may be final in between.
    for (const proof of proofs) this.#takeKept(proof)
    const isIdle = head() <= rule.number && clock.monotonic() >= this.#movedAtMs + QUIET_MS
    return isIdle ? IDLE_MS : LOOK_MS
  }

  #search(
    given: readonly GivenCertificate[],
    writer: FinalityKeeper,
    signal: AbortSignal,
  ): Promise<FoundProofs> {
    const { network, rule } = this.#options
    return newestProofs(given, {
      held: rule.proof,
      compared: rule.compared,
      headerOf: (digest, endpoints) => network.headerOf(digest, endpoints, signal),
      check: (bytes, header) => this.#check(bytes, header, writer, signal),
    })
  }

  /**
   * Under the key of its epoch, which is followed up to there. At the first start the pin is it; only
   * where that does not sign the way from the pin is looked for.
   */
  async #check(
    bytes: Uint8Array,
    header: CertifiedHeader,
    writer: FinalityKeeper,
    signal: AbortSignal,
  ): Promise<Certificate> {
    const { checks } = this.#options
    const epoch = epochOf(header.number, this.#walk.keys.epochBlocks)
    if (this.#knownEpoch !== null) {
      await this.#followTo(epoch, writer, signal)
      return await checks.check(bytes, header, this.#walk.keys, signal)
    }
    try {
      return await checks.check(bytes, header, this.#walk.keys, signal)
    } catch (error) {
      const pin = this.#walk.keys.keys.findLast(({ fromEpoch }) => fromEpoch <= epoch)
      if (!(error instanceof CertificateRefusedError) || error.part !== 'vote' || !pin) throw error
      await this.#walkFrom(pin.fromEpoch, epoch, writer, signal)
      return await checks.check(bytes, header, this.#walk.keys, signal)
    }
  }

  async #followTo(epoch: number, writer: FinalityKeeper, signal: AbortSignal): Promise<void> {
    if (this.#knownEpoch === null || epoch <= this.#knownEpoch) return
    await this.#walkFrom(Math.max(this.#knownEpoch, this.#walkedTo), epoch, writer, signal)
  }

  /** @throws CertificateRefusedError `key` where the way ends, or takes more than this look */
  async #walkFrom(from: number, to: number, writer: FinalityKeeper, signal: AbortSignal): Promise<void> {
    if (from >= to) return
    const { reached, followedTo } = await this.#walk
      .walk(from, to, writer, signal)
      .catch((error: unknown) => {
        if (error instanceof KeyRefusedError) throw new CertificateRefusedError('key', error.message)
        throw error
      })
    if (followedTo > from) this.#walkedTo = Math.max(this.#walkedTo, followedTo)
    if (reached < to)
      throw new CertificateRefusedError('key', `keys are followed up to epoch ${reached} of ${to} so far`)
  }

  /** Stored before anything is final by it. */
  async #take(proof: StoredProof, writer: FinalityKeeper): Promise<void> {
    await this.#keep(proof, writer)
    this.#takeKept(proof)
  }

  async #keep(proof: StoredProof, writer: FinalityKeeper): Promise<void> {
    const { failpoint } = this.#options
    failpoint('finality.keep.before')
    await writer.keepProof(proof)
    failpoint('finality.keep.after')
  }

  #takeKept(proof: StoredProof): void {
    const { rule, failpoint } = this.#options
    this.#taken(proof, rule.take(proof))
    failpoint('finality.taken')
    this.#checkedAtMs = proof.checkedAtMs
  }

  #taken(proof: FinalityProof, taken: ReturnType<ProvedFinality['take']>): void {
    const { clock, log, chainId, rule } = this.#options
    this.#knownEpoch = Math.max(this.#knownEpoch ?? 0, proof.certificate.epoch)
    if (taken === 'equivocated') {
      if (!this.#logged.has(EQUIVOCATED)) log.error({ chainId }, `finality stands still: ${rule.held}`)
      this.#logged.add(EQUIVOCATED)
      return
    }
    if (taken !== 'moved') return
    this.#movedAtMs = clock.monotonic()
    this.#options.moved?.(proof)
  }

  #tellRefused({ refused }: FoundProofs, atMs: number): void {
    const { chainId, log } = this.#options
    for (const { endpoints, error } of refused) {
      const { part, message } = error
      this.#lastRefused = { atMs, part, problem: `${endpoints.join(', ')}: ${message}` }
      this.#logOnce(`${endpoints.join()} ${part}`, () =>
        log.warn({ chainId, endpoints, problem: message }, 'a certificate of finality is refused'),
      )
    }
  }

  /** Endpoints may give a false one at each look. */
  #logOnce(key: string, tell: () => void): void {
    if (this.#logged.has(key) || this.#logged.size >= LOGGED_MAX) return
    this.#logged.add(key)
    tell()
  }
}
