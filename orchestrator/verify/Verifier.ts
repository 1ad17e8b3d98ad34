/**
 * Looks at every endpoint of the catalog in turn, without paying and without an effect, and writes
 * down how it is. Any number of programs and commands may do so beside each other.
 */
import {
  claimDue,
  type EndpointName,
  type HealthState,
  readHealth,
  recordProbe,
} from '#rows/catalog/catalogHealth.ts'
import type { AppDatabase } from '#rows/database.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock, Random } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { LiveOffer } from '#wallet/liveOffers.ts'
import type { LookTarget } from './drift.ts'
import { type LookOptions, look, type Sight } from './look.ts'
import { afterLook } from './schedule.ts'
import { readTargets } from './targets.ts'

/** Looks at a time; the budget of egress has as many. */
const TOGETHER_MAX = 8
/** Longer than a look with its wait for a turn: those of a killed process are due again then. */
const CLAIM_MS = 120_000
/** Between rounds: no seller is asked more often than this. */
const PAUSE_MS = 1_000
/** Until the catalog is looked through again where nothing was due. */
const IDLE_MS = 15_000
/** Until the next round where the database failed. */
const AGAIN_MS = 60_000
/** A look that was put off because others were under way. */
const BUSY_MS = 60_000

export interface VerifierOptions {
  /** Writes. */
  readonly app: AppDatabase
  readonly egress: LookOptions['egress']
  readonly clock: Clock
  readonly random: Random
  /** Origins that are not looked at: where this very program answers. */
  readonly isOwn?: (origin: string) => boolean
}

/** The result for one endpoint. */
export interface Verified extends EndpointName {
  readonly state: HealthState
  /** Null where nothing could be called without an effect. */
  readonly sight: Sight | null
}

export class Verifier {
  readonly #options: VerifierOptions

  constructor(options: VerifierOptions) {
    this.#options = options
  }

  /** Until aborted; a database that fails is asked again. */
  async run(log: Logger, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const failed = { log, ms: AGAIN_MS, message: 'services of the catalog could not be looked at' }
    await repeat({ clock, signal, failed }, async () =>
      (await this.verifyDue(signal)) === 0 ? IDLE_MS : PAUSE_MS,
    )
  }

  /** One round over what is due. Returns how many endpoints it had. */
  async verifyDue(signal: AbortSignal): Promise<number> {
    const due = await claimDue(this.#options.app, TOGETHER_MAX, CLAIM_MS)
    const targets = await this.#targetsOf(due)
    await Promise.all(targets.map((each) => this.#verify(each.name, each.target, signal)))
    return due.length
  }

  /** Every endpoint of a service, now. Returns what was found, in the order of paths. */
  async verifyService(serviceId: string, signal: AbortSignal): Promise<readonly Verified[]> {
    const held = await readHealth(this.#options.app, [serviceId])
    // A call that had an effect once is made no second time.
    const targets = await this.#targetsOf(held.filter(({ state, isOver }) => !isOver || state === 'unprobed'))
    const found = await mapAtMost(TOGETHER_MAX, targets, ({ name, target }) =>
      this.#verify(name, target, signal),
    )
    return found.flatMap((each) => each ?? [])
  }

  /** Endpoints that left the catalog meanwhile are left out. */
  async #targetsOf(names: readonly EndpointName[]) {
    const targets = await readTargets(this.#options.app, names)
    return names.flatMap((name, index) => {
      const target = targets[index]
      return target ? [{ name, target }] : []
    })
  }

  async #verify(name: EndpointName, target: LookTarget, signal: AbortSignal): Promise<Verified | null> {
    const { app, egress, clock, random, isOwn = () => false } = this.#options
    const { endpoint, service } = target
    const isSkipped = isOwn(new URL(service.serviceUrl).origin)
    const sight = isSkipped ? null : await look(target, { egress, clock, purpose: 'probe' }, signal)
    const asBefore = { nextMs: BUSY_MS, isVerified: false, isFreed: false, drift: undefined }
    const found = sight === 'busy' ? null : sight
    const stored = found && { ...found, offers: found.offers.map(presentOffer) }
    const change = await recordProbe(app, name, stored, (held) =>
      sight === 'busy' ? { ...held, ...asBefore } : afterLook(held, found, endpoint.method, random),
    )
    return change && { ...name, state: change.state, sight: found }
  }
}

/** As it is kept, and shown in the history. */
const presentOffer = ({ protocol, intent, amount, network, token, recipient }: LiveOffer) => ({
  ...{ protocol, intent, amount: `${amount}`, network },
  ...{ currency: token, recipient },
})
