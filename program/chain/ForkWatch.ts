/**
 * Asks the endpoints which forks their chain has, at the start and each day. A fork that this
 * version does not know is told a week ahead: what it brings cannot be proved or decoded.
 */

import { isoSeconds } from '#http/schema.ts'
import { ethConfigMethod, readEthConfig } from '#ingest/rpc/ethConfig.ts'
import {
  type AnnouncedFork,
  FORK_SCHEDULE_BYTES_MAX,
  forkScheduleMethod,
  readForkSchedule,
} from '#ingest/rpc/forkSchedule.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { knownForksOf } from '#ingest/verify/knownChains.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { forks, isDated, isKnownForkTime, newestKnownFork } from '#transform/forks.ts'
import { witnessesOf } from './chainRules.ts'

export interface ForkWatchOptions {
  readonly source: Pick<RpcSource, 'callEach' | 'endpoints'>
  readonly chainId: number
  /** From when on headers may hash in a new way, in Unix seconds; null: never, as far as is known. */
  readonly adopt: (unknownForkFrom: number | null) => void
  readonly clock: Clock
  readonly log: Logger
}

/** A fork that is active or near, and not known here or known as a draft alone. */
export interface UnknownFork {
  readonly name: string
  /** Unix seconds; the earliest that an endpoint tells. */
  readonly activatesAt: number
  readonly isActive: boolean
  readonly isDraft: boolean
  /** Endpoints that announce it. */
  readonly toldBy: number
}

/** Forks are announced days ahead. */
const LOOK_MS = 24 * 3_600_000
/** The next look after one at which no endpoint told anything: it may have been away. */
const LOOK_AGAIN_MS = 3_600_000
/** Long enough to bring in another version, short enough to be read. */
const AHEAD_SECONDS = 7 * 24 * 3_600
/** Forks told at a time: more are no forks, and each is a line in /status. */
const TOLD_MAX = 8

const confirmed = new Set(
  forks.filter(({ knowledge }) => knowledge === 'confirmed').map(({ name }) => keyOf(name)),
)
const drafts = new Map(
  forks.filter(({ knowledge }) => knowledge === 'draft').map((fork) => [keyOf(fork.name), fork]),
)

/** Chains of Ethereum whose forks are known are asked in its way, all others in Tempo's. */
const schedulesOf = (chainId: number) =>
  knownForksOf(chainId).headerRule === 'ethereum'
    ? {
        method: ethConfigMethod,
        read: (answer: unknown) => readEthConfig(answer, isDated('Amsterdam', chainId)),
      }
    : { method: forkScheduleMethod, read: readForkSchedule }

export class ForkWatch {
  readonly #options: ForkWatchOptions
  /** Times of forks that are not confirmed here, one for each endpoint that tells one. */
  #announced: ReadonlyMap<string, { readonly name: string; readonly times: readonly number[] }> = new Map()
  readonly #logged = new Set<string>()

  constructor(options: ForkWatchOptions) {
    this.#options = options
  }

  /** Those that are active or begin within a week, the first one first. */
  get forks(): readonly UnknownFork[] {
    const nowSeconds = this.#options.clock.now() / 1_000
    return [...this.#announced]
      .map(([key, { name, times }]) => {
        const activatesAt = Math.min(...times)
        const isActive = activatesAt <= nowSeconds
        return { name, activatesAt, isActive, isDraft: drafts.has(key), toldBy: times.length }
      })
      .filter(({ activatesAt }) => activatesAt <= nowSeconds + AHEAD_SECONDS)
      .toSorted((one, other) => one.activatesAt - other.activatesAt)
      .slice(0, TOLD_MAX)
  }

  /** The operator's warning, in words; null if every fork is known. */
  get problem(): string | null {
    const told = this.forks
    return told.length === 0 ? null : told.map(describeFork).join('; ')
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, chainId, log } = this.#options
    const failed = { log, ms: LOOK_AGAIN_MS, message: 'forks could not be asked for', about: { chainId } }
    await repeat({ clock, signal, failed }, async () => ((await this.look(signal)) ? LOOK_MS : LOOK_AGAIN_MS))
  }

  /** Asks once. False when no endpoint told its forks; then what was told before still holds. */
  async look(signal?: AbortSignal): Promise<boolean> {
    const { source, adopt, chainId } = this.#options
    const { method, read } = schedulesOf(chainId)
    const bounds = { bytesMax: FORK_SCHEDULE_BYTES_MAX, ...(signal && { signal }) }
    const answers = await source.callEach(method, [], bounds)
    const schedules = answers.map(read).filter((schedule) => schedule !== null)
    if (schedules.length === 0) return false
    this.#announced = announcedIn(schedules, chainId)
    this.#log()
    adopt(this.#unknownForkFrom())
    return true
  }

  /**
   * One endpoint's word does not make less provable where there are several. What was proved by the
   * newest fork known here was so before an older one could be told.
   */
  #unknownForkFrom(): number | null {
    const { source, chainId } = this.#options
    const witnesses = witnessesOf(source)
    const sure = [...this.#announced.values()].flatMap(
      ({ times }) => times.toSorted((one, other) => one - other)[witnesses - 1] ?? [],
    )
    return sure.length === 0 ? null : Math.max(Math.min(...sure), newestKnownFork(chainId))
  }

  #log(): void {
    const { chainId, log } = this.#options
    for (const fork of this.forks) {
      if (this.#logged.has(keyOf(fork.name))) continue
      this.#logged.add(keyOf(fork.name))
      log.warn({ chainId, fork: fork.name }, describeFork(fork))
    }
  }
}

/** Forks that are not confirmed here, by the same name in any case; Ethereum's have none, but a time. */
function announcedIn(schedules: readonly (readonly AnnouncedFork[])[], chainId: number) {
  const found = new Map<string, { readonly name: string; readonly times: number[] }>()
  for (const schedule of schedules) {
    const own = Map.groupBy(schedule, ({ name }) => keyOf(name))
    for (const [key, [first, ...others]] of own) {
      if (first === undefined || confirmed.has(key) || isKnownForkTime(chainId, first.activatesAt)) continue
      const held = found.get(key) ?? { name: first.name, times: [] }
      held.times.push(Math.min(first.activatesAt, ...others.map(({ activatesAt }) => activatesAt)))
      found.set(key, held)
    }
  }
  return found
}

/** The meaning of a fork for who runs this version, in one line. */
function describeFork({ name, activatesAt, isActive, toldBy }: UnknownFork): string {
  const when = `${isActive ? 'is active since' : 'begins at'} ${isoSeconds(activatesAt)}`
  const draft = drafts.get(keyOf(name))
  const known = draft
    ? `this version knows a draft of it alone (${draft.changes}), which may differ`
    : 'this version does not know it'
  return `fork ${name} ${when}, as ${toldBy} endpoint${toldBy === 1 ? ' tells' : 's tell'}: ${known}. Header fields, transaction types and signatures that it brings are taken unproved and marked, its events are not decoded, and fees and exchanges may be folded by old rules: bring in a newer version`
}

function keyOf(name: string): string {
  return name.toLowerCase()
}
