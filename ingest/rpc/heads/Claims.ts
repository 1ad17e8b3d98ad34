import type { Clock } from '#runtime/runtime.ts'
import { type Claim, isCatchingUp, mayBeAhead } from '../../finality/rules/claim.ts'
import { HEADS_APART_MAX } from '../../source.ts'
import type { RpcClient } from '../client/client.ts'
import { RpcError } from '../client/errors.ts'
import { parseBlockRef, rpcQuantity, timestampOf } from '../client/parse.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import { isProvedHeader } from './parentLinks.ts'

export interface ClaimsOptions {
  readonly admission: Admission
  readonly clock: Clock
  /** Blocks behind the head that count as final where a node does not say. */
  readonly finalityDepth: number
}

/**
 * The newest head that can be believed, and the endpoints that have no say in finality beside it.
 */
export interface Weighed {
  readonly newest: Claim
  /** Those that were refuted, and those that are catching up. */
  readonly silent: ReadonlySet<string>
}

/**
 * Asks endpoints for their heads, and says which may be believed. A head close above what another
 * endpoint names is proved when its blocks are fetched; one that is far above, such as that of
 * another chain, would send the lane where there is nothing, so it has to be shown first.
 */
export class Claims {
  readonly #options: ClaimsOptions
  /** A height that is known to exist: shown by its number, or named by two endpoints. */
  #shown = -1

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Whether a head is so near to what is known that it needs no proof of its own. */
  isNear(claim: Claim): boolean {
    return claim.head.number <= this.#shown + HEADS_APART_MAX
  }

  /** @throws RpcError when the endpoint does not tell its head. */
  async ask(endpoint: Endpoint, signal?: AbortSignal): Promise<Claim> {
    const { admission, finalityDepth, clock } = this.#options
    const { newest, final } = await admission.ask(endpoint, (client) =>
      readTags(client, admission.hasFinalizedTag(endpoint), endpoint.batches, signal),
    )
    const hasTag = admission.hasFinalizedTag(endpoint)
    const head = parseBlockRef(newest, endpoint.client)
    if (!head) throw endpoint.client.error('block_missing', 'null in place of the head')
    endpoint.head = head.number
    // Above its own head a node knows nothing final: that it says so proves nothing, not even that
    // its head is.
    const told = final && final.number <= head.number ? final : null
    // The first block of a chain is final whatever the depth; a tag that is not told for once has
    // not moved.
    const counted = hasTag ? endpoint.finalized : Math.max(0, head.number - finalityDepth)
    endpoint.finalized = Math.min(told?.number ?? counted, head.number)
    endpoint.claim = {
      head,
      timestamp: timestampOf(newest),
      finalized: endpoint.finalized,
      finalizedBy: told ?? head,
      isTagged: hasTag,
      endpoint: endpoint.name,
    }
    endpoint.claimedAtMs = clock.monotonic()
    return endpoint.claim
  }

  /**
   * The highest of these claims that is near another one, or that its endpoint shows.
   * @returns null when there is none
   */
  async weigh(
    claims: readonly Claim[],
    endpoints: readonly Endpoint[],
    signal?: AbortSignal,
  ): Promise<Weighed | null> {
    const silent = new Set<string>()
    const [...left] = claims.toSorted((a, b) => b.head.number - a.head.number)
    for (let newest = left.shift(); newest; newest = left.shift()) {
      const [next] = left
      const endpoint = endpoints.find(({ name }) => name === newest?.endpoint)
      const verdict = endpoint ? await this.#judge(endpoint, newest, next, signal) : 'open'
      if (verdict === 'refuted') silent.add(newest.endpoint)
      if (verdict !== 'believed') continue
      for (const claim of left) if (isCatchingUp(claim, newest)) silent.add(claim.endpoint)
      return { newest, silent }
    }
    return null
  }

  async #judge(
    endpoint: Endpoint,
    claim: Claim,
    next: Claim | undefined,
    signal?: AbortSignal,
  ): Promise<'believed' | 'open' | 'refuted'> {
    const known = next?.head.number ?? this.#shown
    if (claim.head.number <= known + HEADS_APART_MAX) {
      this.#shown = known
      return 'believed'
    }
    try {
      if (!(await this.#holds(endpoint, claim, signal))) {
        endpoint.refuted()
        endpoint.head = null
        return 'refuted'
      }
      if (next && !(await this.#isAhead(endpoint, claim, next, signal))) return 'open'
      this.#shown = claim.head.number
      return 'believed'
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof RpcError) return 'open'
      throw error
    }
  }

  /**
   * An endpoint that has no such block where it says its head is gave the head of another chain.
   */
  async #holds(endpoint: Endpoint, { head }: Claim, signal?: AbortSignal): Promise<boolean> {
    const held = await this.#header(endpoint, head.number, signal)
    return parseBlockRef(held, endpoint.client)?.hash === head.hash
  }

  /**
   * The other endpoint's head must be on this one's chain, and so old that the blocks between could
   * be made.
   */
  async #isAhead(endpoint: Endpoint, claim: Claim, next: Claim, signal?: AbortSignal): Promise<boolean> {
    const common = await this.#header(endpoint, next.head.number, signal)
    if (parseBlockRef(common, endpoint.client)?.hash !== next.head.hash) return false
    const nowSeconds = this.#options.clock.now() / 1000
    return mayBeAhead(claim, next, timeOfCommon(common, next.timestamp), nowSeconds)
  }

  #header(endpoint: Endpoint, number: number, signal?: AbortSignal): Promise<unknown> {
    return this.#options.admission.ask(endpoint, (client) =>
      client.call('eth_getBlockByNumber', [rpcQuantity(number), false], signal),
    )
  }
}

/**
 * Two endpoints may date one block differently; the header that hashes to the block's hash is
 * right, else the later date.
 */
function timeOfCommon(header: unknown, otherwise: number | null): number | null {
  const told = timestampOf(header)
  if (told === otherwise || isProvedHeader(header)) return told
  return told === null || otherwise === null ? null : Math.max(told, otherwise)
}

/** @throws RpcError when the node does not tell its head. */
async function readTags(client: RpcClient, finalizedTag: boolean, batches: boolean, signal?: AbortSignal) {
  const tags = finalizedTag ? ['latest', 'finalized'] : ['latest']
  const calls = tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] }))
  const [latest, final] = await client.callAll(calls, batches, signal)
  if (!latest?.ok) throw latest?.error ?? client.error('malformed', 'no answer')
  return { newest: latest.result, final: final?.ok ? parseBlockRef(final.result, client) : null }
}
