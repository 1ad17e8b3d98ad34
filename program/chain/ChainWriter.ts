/**
 * The writing half of a chain, from the moment the lease is ours until it is lost: four lanes on
 * one ledger, and their audit.
 */

import { failure } from '#errors.ts'
import { proveFinality } from '#ingest/lanes/proveFinality.ts'
import { type BlockRange, covers } from '#ingest/range.ts'
import { visitListed } from '#runtime/failpoints.ts'
import type { Lease } from '#runtime/lease.ts'
import type { ClickHouseLane } from '#store/clickhouse/lane.ts'
import type { Audit } from '#store/compare/Audit.ts'
import type { FollowerDriver } from '#store/follow/FollowerDriver.ts'
import { openFollowers } from '#store/follow/followers.ts'
import { openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { PostgresHeadSink } from '#store/ledger/PostgresHeadSink.ts'
import { PostgresHistorySink } from '#store/ledger/PostgresHistorySink.ts'
import { auditOf } from './audit.ts'
import { clickhouseLaneOf, commitListener } from './clickhouseLane.ts'
import { runHeadLane } from './headLane.ts'
import { fillRange, keepHistory } from './historyLane.ts'
import { keepBoundsExact } from './keepBoundsExact.ts'
import type { Writing } from './writing.ts'

/** How often a range being filled is looked at when nothing rings. */
const LOOK_AGAIN_MS = 1_000

export class ChainWriter {
  readonly lease: Lease
  readonly clickhouseLane: ClickHouseLane
  readonly followers: FollowerDriver
  /** Null where the operator wants none. */
  readonly audit: Audit | null
  readonly #writing: Writing
  readonly #head: PostgresHeadSink
  readonly #history: PostgresHistorySink

  /**
   * Opens the ledger under the lease: from here on this process is the writer. When it cannot, the
   * lease is given back.
   */
  static async open(writing: Writing, lease: Lease): Promise<ChainWriter> {
    const { options, state, cache } = writing
    const { identity, postgres } = options
    try {
      await openChain(postgres, identity, await headFrom(writing), lease.fence)
      const held = await readChainIdentity(postgres, identity.chainId)
      if (held) state.beginAt(held.startBlock)
      await state.refresh()
    } catch (error) {
      await lease.release().catch(() => {})
      throw error
    }
    // Another writer's work meanwhile is not in it.
    cache.drop({ from: 0, to: Number.MAX_SAFE_INTEGER })
    return new ChainWriter(writing, lease)
  }

  private constructor(writing: Writing, lease: Lease) {
    const { postgres, runtime } = writing.options
    this.#writing = writing
    this.lease = lease
    this.clickhouseLane = clickhouseLaneOf(writing, lease)
    this.followers = openFollowers({ ...writing.options, state: writing.state, fence: lease.fence })
    this.audit = auditOf(writing, lease.fence)
    const options = {
      postgres,
      schema: writing.state.schema,
      fence: lease.fence,
      listener: commitListener(writing, this.clickhouseLane),
      failpoint: runtime.failpoint,
    }
    this.#head = new PostgresHeadSink(options)
    this.#history = new PostgresHistorySink(options)
  }

  /** Moves every lane until aborted, or until the lease is lost. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, this.lease.lost])
    await Promise.all([
      runHeadLane(this.#writing, this.#head, signal),
      keepHistory(this.#writing, this.#history, signal),
      this.clickhouseLane.run(signal),
      this.followers.run(signal),
      this.audit?.run(signal),
      keepBoundsExact(this.#writing, this.clickhouseLane, this.lease.fence, signal),
    ])
  }

  /**
   * Brings both stores to cover `range` and returns. @throws ChainStoppedError when a lane came to
   * rest before
   */
  async fill(range: BlockRange, stop: AbortSignal): Promise<void> {
    const { state, options } = this.#writing
    const { clock } = options.runtime
    const done = new AbortController()
    const signal = AbortSignal.any([stop, this.lease.lost, done.signal])
    const lanes = Promise.all([
      this.clickhouseLane.run(signal),
      state.follow(clock, signal),
      runHeadLane(this.#writing, this.#head, signal),
    ])
    try {
      await fillRange(this.#writing, this.#history, range, signal)
      while (!this.#holds(range)) {
        state.demand.ask()
        await state.bell.wait(clock, LOOK_AGAIN_MS, signal)
        signal.throwIfAborted()
      }
    } finally {
      done.abort()
      await lanes
    }
  }

  /**
   * True when both stores hold the range; throws what stopped a lane, so that nobody waits for it.
   */
  #holds(range: BlockRange): boolean {
    const { state, activity } = this.#writing
    for (const lane of [activity.head, this.clickhouseLane.status])
      if (lane.state === 'stopped' || lane.state === 'finality_violated')
        throw new ChainStoppedError(lane.problem ?? '')
    return covers(state.coverage('postgres'), range) && covers(state.coverage('clickhouse'), range)
  }
}

/**
 * The first block of a new chain's head lane; what is decided by finality is decided by a block that was
 * seen.
 */
async function headFrom({ options, source, decode }: Writing): Promise<number> {
  const { identity, postgres, runtime } = options
  const target = await source.head()
  const isKnown = (await readChainIdentity(postgres, identity.chainId)) !== null
  const failpoint = visitListed(runtime.failpoint)
  if (!isKnown && target.finalized >= identity.startBlock)
    await proveFinality({ source, decode, failpoint, lane: 'head' }, target)
  return Math.max(identity.startBlock, target.finalized + 1)
}

/** A lane of the chain came to rest before its work was done; the message says why. */
export class ChainStoppedError extends failure('ChainStoppedError', 'chain_stopped', 'stop') {}
