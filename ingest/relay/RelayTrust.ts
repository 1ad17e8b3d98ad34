/**
 * Which heights that endpoints name may be told to clients. Two endpoints that have reached one, or
 * blocks that ingest holds, are enough. One endpoint alone is believed a little above that, where
 * it shows that its head is on the chain known so far, and no longer than nothing speaks against it.
 */
import type { BlockRef } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { RpcError } from '../rpc/client/errors.ts'
import { HEADS_APART_MAX } from '../source.ts'
import type { RelayEndpoint } from './RelayEndpoint.ts'

/** Head and finality as ingest weighed them over its own endpoints; -1 before the first reading. */
export interface WeighedChain {
  readonly number: number
  readonly finalized: number
  /** The decider of finality; endpoints if it is absent. */
  readonly finality?: { readonly name: 'proved' | 'agreed' }
}

/** Ingest's part of the chain, fetched, proved and stored; -1 while there is nothing. */
export interface HeldChain {
  readonly tip: number
  readonly finalized: number
}

export interface Believed {
  /** -1 where nothing can be believed. */
  readonly height: number
  /** Name of the endpoint on whose word alone it is taken; null where there is more. */
  readonly aloneBy: string | null
}

/** A block that one endpoint alone has told. */
interface Lead {
  readonly ref: BlockRef
  readonly by: RelayEndpoint
}

/** A word older than this says nothing of the chain's end. */
const HEARD_MS = 10_000
/** Ingest holds an honest head within this, so that one it does not reach is none. */
const LEAD_MS = 30_000
/** An endpoint whose lead was contradicted is not believed alone for this long. */
const CONTRADICTED_MS = 60_000
/** Leads remembered until another endpoint has their height. */
const LEADS_KEPT = 256
const CHAIN_KEPT = 256

export class RelayTrust {
  readonly #endpoints: readonly RelayEndpoint[]
  readonly #clock: Clock
  readonly #weighed: WeighedChain
  #held: HeldChain = { tip: -1, finalized: -1 }
  /** Endpoints whose heads are not believed, since they were weighed last. */
  #doubted: ReadonlySet<string> = new Set()
  /** The head of each endpoint that was shown to be on the chain. */
  readonly #proved = new Map<RelayEndpoint, BlockRef>()
  /** The head that each endpoint could not show, and the blocks it was to have below. */
  readonly #refused = new Map<RelayEndpoint, string>()
  readonly #proving = new Map<RelayEndpoint, Promise<boolean>>()
  /** Blocks taken on the word of one endpoint alone. */
  readonly #leads = new BoundedMap<number, Lead>({ max: LEADS_KEPT })
  readonly #contradictedAtMs = new Map<RelayEndpoint, number>()
  /** When what each endpoint led to was last found to be replaced there too. */
  readonly #replacedAtMs = new Map<RelayEndpoint, number>()
  /** The oldest of these that nobody else has reached. */
  #lead: { readonly by: RelayEndpoint; readonly number: number; readonly sinceMs: number } | null = null
  /** The newest block that was believed, and hashes of those below it. */
  #last: BlockRef | null = null
  readonly #chain = new BoundedMap<number, string>({ max: CHAIN_KEPT })

  constructor(endpoints: readonly RelayEndpoint[], clock: Clock, weighed: WeighedChain) {
    this.#endpoints = endpoints
    this.#clock = clock
    this.#weighed = weighed
  }

  /** Takes ingest's part of the chain from now on; read whenever heads are weighed. */
  heed(held: HeldChain): void {
    this.#held = held
  }

  /** Newest block that ingest holds; -1 where it holds none, or nothing is told of it. */
  get tip(): number {
    return this.#held.tip
  }

  /**
   * Newest block that ingest knows to be final; -1 before the first. What a certificate proves above
   * what is held is known by nobody here: any node may be asked for it, and say what it likes.
   */
  get finalized(): number {
    const { finalized } = this.#held
    return this.isProved ? finalized : Math.max(finalized, this.#weighed.finalized)
  }

  /** Certificates decide what is final: no endpoint has a say in it. */
  get isProved(): boolean {
    return this.#weighed.finality?.name === 'proved'
  }

  /** The head of the endpoint of this name was not believed: it is asked last. */
  doubts(name: string): boolean {
    return this.#doubted.has(name)
  }

  /** The only endpoint there is: nothing of what it says can be weighed. */
  get isOne(): boolean {
    return this.#endpoints.length === 1
  }

  /** Whether a height is so near to what is known that the only endpoint is believed. */
  isNear(height: number, shown: number): boolean {
    return height <= Math.max(shown, this.#weighed.number, this.tip) + HEADS_APART_MAX
  }

  /** An endpoint named this block as its head: what others led to there is confirmed, or contradicted. */
  async heard(endpoint: RelayEndpoint, ref: BlockRef): Promise<void> {
    const { number, hash } = ref
    const told = [
      { lead: this.#leads.get(number), at: (of: BlockRef) => of.hash },
      { lead: this.#leads.get(number + 1), at: (of: BlockRef) => of.parentHash },
    ]
    // A block that hangs nowhere contradicts none: whoever lies of it may name any hash.
    if (!this.#isOnChain(ref)) return
    for (const { lead, at } of told) {
      if (!lead || lead.by === endpoint || at(lead.ref) === hash) continue
      // Both may be of one branch, of which the first look found that it is gone.
      if (this.#leads.get(lead.ref.number) !== lead) continue
      this.#leads.delete(lead.ref.number)
      await this.#contradict(lead.by, ref)
    }
  }

  /**
   * Another endpoint has this block where this one led elsewhere. The chain may have replaced what
   * it led to, and the other one follows later: then it holds the block too. A liar may hold it as
   * well by now, so that this excuses it once in the time for which it would not be believed.
   */
  async #contradict(by: RelayEndpoint, ref: BlockRef): Promise<void> {
    const sinceMs = this.#clock.monotonic() - (this.#replacedAtMs.get(by) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs > CONTRADICTED_MS && (await hasBlock(by, ref))) {
      this.#replacedAtMs.set(by, this.#clock.monotonic())
      // All of its branch is gone, and the other one may name the rest of the new one next.
      for (const [number, lead] of this.#leads) if (lead.by === by) this.#leads.delete(number)
      this.#last = ref
      this.#chain.set(ref.number, ref.hash)
    } else this.#contradictedAtMs.set(by, this.#clock.monotonic())
    this.#proved.delete(by)
  }

  /** Whether a head hangs on the chain that is known, or is another endpoint's too. */
  isPlaced(endpoint: RelayEndpoint, ref: BlockRef): boolean {
    return this.isOne || this.#isOnChain(ref) || this.#isAgreed(endpoint, ref)
  }

  #isOnChain({ number, parentHash }: BlockRef): boolean {
    return this.#chain.get(number - 1) === parentHash
  }

  /** The newest height that may be told. @param shown the one told so far; -1 before the first */
  async weigh(shown: number): Promise<Believed> {
    const doubted = new Set<string>()
    // Words as they are now: endpoints may be heard again while one of them shows its blocks.
    const words = this.#heard().toSorted((a, b) => b.number - a.number)
    let believed = this.#agreedOf(words)
    for (const [index, top] of words.entries()) {
      const second = words[index + 1]
      // The last of several has nobody beside it whose word would be another.
      if (second === undefined && index > 0) break
      const verdict = await this.#judge(top, second, shown)
      if (verdict === 'doubted') {
        doubted.add(top.by.name)
        continue
      }
      believed = { height: top.number, aloneBy: verdict === 'shared' ? null : top.by.name }
      if (verdict !== 'first') this.#keep(top, verdict === 'alone')
      break
    }
    this.#doubted = doubted
    return believed
  }

  /** The height that holds if no head is believed: two endpoints have reached it, or ingest and one. */
  #agreedOf([first, second]: readonly Word[]): Believed {
    if (!first) return { height: -1, aloneBy: null }
    return { height: Math.max(second?.number ?? -1, Math.min(this.tip, first.number)), aloneBy: null }
  }

  /** Heads told lately; all that were ever told, where none was. */
  #heard(): readonly Word[] {
    const told = this.#endpoints.flatMap((by): Word[] =>
      by.head === null ? [] : [{ by, number: by.head, ref: by.told }],
    )
    const sinceMs = this.#clock.monotonic() - HEARD_MS
    const heard = told.filter(({ by: { rests, headAtMs } }) => !rests && headAtMs >= sinceMs)
    return heard.length > 0 ? heard : told
  }

  async #judge(
    top: Word,
    second: Word | undefined,
    shown: number,
  ): Promise<'shared' | 'first' | 'alone' | 'doubted'> {
    const { number } = top
    const base = Math.max(second?.number ?? -1, Math.min(this.tip, number))
    if (this.isOne || number <= base) return 'shared'
    if (second && this.#isContradicted(top.by)) return 'doubted'
    const known = Math.max(base, this.#weighed.number, this.tip, second ? -1 : shown)
    // At a start somebody has to begin, while nobody else is heard.
    if (known < 0) return 'first'
    if (number > known + HEADS_APART_MAX) return 'doubted'
    if (!(await this.#isProved(top, second))) return 'doubted'
    return second && this.#isLeftAlone(top, base) ? 'doubted' : 'alone'
  }

  #isContradicted(endpoint: RelayEndpoint): boolean {
    const atMs = this.#contradictedAtMs.get(endpoint) ?? Number.NEGATIVE_INFINITY
    return this.#clock.monotonic() - atMs < CONTRADICTED_MS
  }

  /** Whether ingest, which asks all endpoints, has not followed an endpoint for long. */
  #isLeftAlone({ by, number }: Word, base: number): boolean {
    const nowMs = this.#clock.monotonic()
    const lead = this.#lead
    if (!lead || lead.by !== by || base >= lead.number) this.#lead = { by, number, sinceMs: nowMs }
    else if (this.tip >= 0) return nowMs - lead.sinceMs > LEAD_MS
    return false
  }

  /** Whether an endpoint's head is a block that it holds, on the chain that is known. */
  #isProved({ by: top, ref }: Word, second: Word | undefined): Promise<boolean> {
    if (!ref) return Promise.resolve(false)
    const known = [this.#proved.get(top), this.#last, second?.ref]
    if (known.some((block) => block && isLinked(ref, block))) return Promise.resolve(true)
    const under = this.#proving.get(top)
    if (under) return under
    // The second endpoint may be the one that lies: what was believed before is as good as its head.
    // Where nobody else is heard, what was believed before may have been the lie of one that left.
    const anchors = (second ? [second.ref, this.#last] : []).flatMap((block) =>
      block && block.number < ref.number ? [block] : [],
    )
    const asked = [ref, ...anchors].map(({ hash }) => hash).join()
    if (this.#refused.get(top) === asked) return Promise.resolve(false)
    const proving = heldOf(top, ref, anchors)
      .then((held) => {
        if (!held) this.#refused.set(top, asked)
        else for (const { number, hash } of held) this.#chain.set(number, hash)
        return held !== null
      })
      // An endpoint that does not answer is asked again.
      .catch((error: unknown) => {
        if (error instanceof RpcError) return false
        throw error
      })
      .finally(() => this.#proving.delete(top))
    this.#proving.set(top, proving)
    return proving
  }

  #isAgreed(by: RelayEndpoint, ref: BlockRef): boolean {
    return this.#endpoints.some(
      ({ told, name }) => name !== by.name && told && (isLinked(told, ref) || isLinked(ref, told)),
    )
  }

  #keep({ by, ref }: Word, isAlone: boolean): void {
    if (!ref) return
    // One that merely has the height of another may name any hash.
    if (!isAlone && !this.#isAgreed(by, ref) && !this.isOne) return
    this.#last = ref
    this.#chain.set(ref.number, ref.hash)
    this.#chain.set(ref.number - 1, ref.parentHash)
    if (!isAlone) return
    this.#proved.set(by, ref)
    this.#leads.set(ref.number, { ref, by })
  }
}

/** Whether one block is the other, or its child. */
const isLinked = (child: BlockRef, block: BlockRef): boolean =>
  block.hash === child.hash || block.hash === child.parentHash

/** @throws RpcError */
const holds = async (endpoint: RelayEndpoint, { number, hash }: BlockRef): Promise<boolean> =>
  (await endpoint.readBlock(number))?.hash === hash

/** Whether an endpoint holds a block; not, where it does not answer. */
async function hasBlock(endpoint: RelayEndpoint, block: BlockRef): Promise<boolean> {
  try {
    return await holds(endpoint, block)
  } catch (error) {
    if (error instanceof RpcError) return false
    throw error
  }
}

/**
 * Those of the known blocks that an endpoint holds too; null where there is none of them, or where
 * it does not hold the block it names as its head. @throws RpcError
 */
async function heldOf(
  endpoint: RelayEndpoint,
  head: BlockRef,
  known: readonly BlockRef[],
): Promise<readonly BlockRef[] | null> {
  const [own, ...each] = await Promise.all([head, ...known].map((block) => holds(endpoint, block)))
  const held = known.filter((_, index) => each[index])
  return own && (known.length === 0 || held.length > 0) ? held : null
}

/** An endpoint's last word on its head. */
interface Word {
  readonly by: RelayEndpoint
  readonly number: number
  /** Null where only its number is known. */
  readonly ref: BlockRef | null
}
