/**
 * Which endpoint gave which blocks, so that whatever reads them again asks another one: a lie that
 * nothing proves is told by its liar alike each time.
 */
import type { Clock, Random } from '#runtime/runtime.ts'
import { changedSource } from './alignedSource.ts'
import type { BlockRange } from './range.ts'
import type { Source } from './source.ts'

/** Answers remembered: with the blocks of a small one, the last hours. */
const ANSWERS_MAX = 4_096
/** A block whose giver is not known is read at another endpoint on another day. */
const TURN_MS = 86_400_000

export interface OtherEndpointOptions {
  /** Names of all endpoints. */
  readonly endpoints: () => readonly string[]
  readonly clock: Clock
  readonly random: Random
}

interface Given {
  readonly range: BlockRange
  readonly endpoint: string
}

export class Givers {
  /** Oldest first. */
  readonly #given: Given[] = []
  readonly #options: OtherEndpointOptions
  #turn = { endpoint: '', endsMs: Number.NEGATIVE_INFINITY }

  constructor(options: OtherEndpointOptions) {
    this.#options = options
  }

  /** The source as the lanes have it: what it answers is remembered. */
  remembering(source: Source): Source {
    return changedSource(source, {
      fetch: async (range, options) => {
        const raw = await source.fetch(range, options)
        this.#given.push({ range: raw.range, endpoint: raw.endpoint })
        if (this.#given.length > ANSWERS_MAX) this.#given.shift()
        return raw
      },
    })
  }

  /** The same, asking last the endpoint that gave the blocks. */
  elsewhere(source: Source): Source {
    return changedSource(source, {
      fetch: (range, options = {}) => {
        const { to, endpoint } = this.#giverOf(range)
        const not = new Set([...(options.not ?? []), endpoint])
        return source.fetch({ from: range.from, to }, { ...options, not })
      },
    })
  }

  /**
   * The endpoint that gave the first block, and the last block up to which it gave them all: at the
   * head every block is an answer of its own, and reading them singly again would cost a question
   * to each store for each.
   */
  #giverOf({ from, to }: BlockRange): { readonly to: number; readonly endpoint: string } {
    const given = this.#givenWith(from)
    if (given) {
      const { endpoint } = given
      let last = from
      for (
        let next: Given | undefined = given;
        next?.endpoint === endpoint && last <= to;
        next = this.#givenWith(last + 1)
      )
        last = next.range.to
      return { to: Math.min(to, last), endpoint }
    }
    const next = this.#given.map(({ range }) => range.from).filter((first) => first > from && first <= to)
    return { to: Math.min(to, ...next.map((first) => first - 1)), endpoint: this.#unknown() }
  }

  #givenWith(block: number): Given | undefined {
    return this.#given.findLast(({ range }) => range.from <= block && block <= range.to)
  }

  /** The same one for a day: what was found is found again when it is looked at once more. */
  #unknown(): string {
    const { endpoints, clock, random } = this.#options
    const nowMs = clock.monotonic()
    if (nowMs >= this.#turn.endsMs) {
      const names = endpoints()
      this.#turn = { endpoint: names[Math.floor(random() * names.length)] ?? '', endsMs: nowMs + TURN_MS }
    }
    return this.#turn.endpoint
  }
}
