/** A chain's certificates as the program sees them: a watch over its endpoints and its ledger. */
import { CertificateChecks } from '#ingest/finality/check/CertificateChecks.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import type { FinalityChoice } from '#ingest/finality/rules/chosenRule.ts'
import type { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import {
  type FinalityProblem,
  FinalityWatch,
  type LastRefused,
} from '#ingest/finality/watch/FinalityWatch.ts'
import type {
  FinalityKeeper,
  FinalityNetwork,
  FinalityStore,
} from '#ingest/finality/watch/finalityNetwork.ts'
import type { Hex } from '#primitives.ts'
import type { Lease } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { forgetRefusal, keepKey, readKeys } from '#store/finality/finalityKeys.ts'
import { comparedProofs, keepProof, proofAt, readBoundary } from '#store/finality/finalityProofs.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'

/** How finality of a chain is decided, as its source was opened. */
export interface ReachedFinality {
  readonly choice: FinalityChoice
  readonly proved: ProvedFinality
  /** Compiled and configured; null where none is known, and no certificate can be checked. */
  readonly keys: EpochKeys | null
  readonly network: FinalityNetwork
}

export interface FinalityStatus {
  /** By what the newest final block is final: a certificate of the chain, or the word of endpoints. */
  readonly rule: 'proved' | 'agreed'
  /** Newest final block that is held, or -1. */
  readonly height: number
  /** Block of the newest certificate that was checked. */
  readonly certificateHeight: number | null
  readonly epoch: number | null
  /** The key that signed it. */
  readonly identity: Hex | null
  /** Unix milliseconds. */
  readonly lastCheckedMs: number | null
  /** Endpoints that gave a certificate at the last look; 0 where this process does not ask. */
  readonly endpointsServing: number
  /**
   * A key that its makers stated and that was not seen signing: no certificate under it was checked
   * here. Null where there is none.
   */
  readonly statedKey: { readonly fromEpoch: number; readonly identity: Hex } | null
  /** The certificate that was refused last since this process started. */
  readonly lastRefused: LastRefused | null
}

export interface ChainFinalityOptions {
  readonly reached: ReachedFinality | undefined
  readonly state: ChainState
  readonly postgres: Postgres
  /** The lease under which this process writes the chain; null while another one does. */
  readonly lease: () => Lease | null
  readonly runtime: Runtime
  readonly log: Logger
}

export class ChainFinality {
  readonly #options: ChainFinalityOptions
  readonly #checks: CertificateChecks | null = null
  readonly #watch: FinalityWatch | null = null

  constructor(options: ChainFinalityOptions) {
    this.#options = options
    const { reached, state, postgres, runtime, log } = options
    if (!reached?.keys || reached.choice === 'endpoints') return
    const { keys, proved, network, choice } = reached
    this.#checks = new CertificateChecks(log)
    this.#watch = new FinalityWatch({
      chainId: state.chainId,
      keys,
      rule: proved,
      certificatesAlone: choice === 'certificate',
      network,
      checks: this.#checks,
      store: storeOf(postgres, state.chainId),
      keeper: () => this.#keeper(keys.epochBlocks),
      head: () => state.head,
      failpoint: runtime.failpoint,
      clock: runtime.clock,
      log,
    })
  }

  /** By what the newest final block is final, where the operator lets certificates count. */
  get rule(): FinalityStatus['rule'] {
    return this.#options.reached?.choice === 'endpoints' ? 'agreed' : this.#options.state.finality
  }

  get status(): FinalityStatus {
    const proof = this.#counted?.proof ?? null
    const stated = this.#watch?.statedKey ?? null
    return {
      rule: this.rule,
      height: this.#options.state.finalized,
      certificateHeight: proof?.block.number ?? null,
      epoch: proof?.certificate.epoch ?? null,
      identity: this.#watch?.identity ?? null,
      lastCheckedMs: this.#watch?.lastCheckedMs ?? null,
      endpointsServing: this.#watch?.endpointsServing ?? 0,
      statedKey: stated && { fromEpoch: stated.fromEpoch, identity: stated.key },
      lastRefused: this.#watch?.lastRefused ?? null,
    }
  }

  /** The problems of the chain's certificates. */
  get problems(): readonly FinalityProblem[] {
    return this.#watch?.problems ?? this.#withoutKey
  }

  /** The operator lets endpoints decide although certificates were checked here; null otherwise. */
  get note(): string | null {
    const { reached, state } = this.#options
    const proved = reached?.choice === 'endpoints' ? reached.proved.number : -1
    if (proved < 0) return null
    return `chain ${state.chainId}: endpoints alone decide what is final, as \`finality.rule\` says, though a certificate of block ${proved} was checked here`
  }

  /** Before anything becomes final: what an earlier process stored counts. */
  async load(): Promise<void> {
    const { log, state } = this.#options
    if (this.note !== null) log.warn({ chainId: state.chainId }, this.note)
    await this.#watch?.load()
  }

  /** Asks for certificates once, as `run` does. @throws what asking, checking and storing throw */
  async look(signal: AbortSignal): Promise<void> {
    await this.#watch?.look(signal)
  }

  /** Until aborted. Nothing, where no key of the chain is known. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#watch?.run(signal)
  }

  async close(): Promise<void> {
    await this.#checks?.close()
  }

  /** Certificates, where they decide. */
  get #counted(): ProvedFinality | null {
    const { reached } = this.#options
    return reached && reached.choice !== 'endpoints' ? reached.proved : null
  }

  /** A key that was configured is so no more: nothing can be proved, and words count no longer. */
  get #withoutKey(): readonly FinalityProblem[] {
    const { head } = this.#options.state
    const proved = this.#counted?.proof?.block.number ?? -1
    if (proved < 0 || head <= proved) return []
    const message = `no key is known, and finality stands at block ${proved}, whose certificate was checked; the head is ${head}`
    return [{ kind: 'finality_key_unknown', message }]
  }

  #keeper(epochBlocks: number): FinalityKeeper | null {
    const { lease: held, postgres, state } = this.#options
    const lease = held()
    if (!lease || lease.lost.aborted) return null
    const place = { postgres, chainId: state.chainId, fence: lease.fence }
    return {
      keepProof: (proof) => keepProof(place, proof, epochBlocks),
      keepKey: (decision) => keepKey(place, decision),
      forgetRefusal: (fromEpoch) => forgetRefusal(place, fromEpoch),
    }
  }
}

const storeOf = ({ pool }: Postgres, chainId: number): FinalityStore => ({
  proofs: () => comparedProofs(pool, chainId),
  keys: () => readKeys(pool, chainId),
  proofAt: (height) => proofAt(pool, chainId, height),
  blockAt: (height) => readBoundary(pool, chainId, height),
})
