/**
 * A pipeline on real engines before a node that lies when told to: a proxy in front of the replayed
 * recording, and beside it, where wanted, one that tells the truth.
 */
import { expect, onTestFinished } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { silentLogger } from '#telemetry.ts'
import type { Checks } from '#transform/profile.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  type FakeNode,
  forward,
  type NodeAnswer,
  type NodeBehaviour,
  type NodeCall,
  startNode,
} from '../../ingest/support/proxyNode.ts'
import { expectInClickHouse, expectInPostgres } from '../../store/support/expectHeld.ts'
import { freshDatabase } from '../../support/engines.ts'
import { loadRecordedChain, type RecordedChain } from '../../support/recordedChain.ts'
import { encoded, type IndexedChain, openIndexedChain } from './indexedChain.ts'

const NODE_CHAIN_ID = 42431
/** The chain's head when the pipeline starts, its last block, and how far behind it blocks are final. */
export const [HEAD, LAST, FINALITY] = [60, 80, 5]
/** Long enough for a wrong answer to be asked for again many times. */
export const LIE_MS = 3_000
/** ING-05: within a minute after the lie stops. */
export const healed = { timeout: 60_000, interval: 100 }

/** The lying node's answer to a call; undefined for the truth. */
export type TellCall = (
  call: NodeCall,
  truth: (call: NodeCall) => Promise<NodeAnswer>,
) => Promise<NodeAnswer | undefined>

/** The two nodes of a suite; each test starts the recording behind them anew. */
export class LyingNode {
  /** The lie at the moment; null tells the truth. */
  tell: TellCall | null = null
  /** The behaviour for whole requests; true when it answered one itself. */
  request: NodeBehaviour['request'] | null = null
  /** Lies told so far in this test; whoever answers in `request` counts them. */
  told = 0
  #replay: Replay | null = null
  #liar: FakeNode | null = null
  #honest: FakeNode | null = null

  async open(): Promise<void> {
    this.#honest = await startNode({ call: (call) => this.truth(call) })
    this.#liar = await startNode({
      call: async (call) => {
        const answer = await this.tell?.(call, (one) => this.truth(one))
        if (answer) this.told++
        return answer ?? this.truth(call)
      },
      request: async (calls, response) => (await this.request?.(calls, response)) ?? false,
    })
  }

  async close(): Promise<void> {
    await this.#liar?.close()
    await this.#honest?.close()
  }

  get replay(): Replay {
    if (!this.#replay) throw new Error('a test starts the recording first')
    return this.#replay
  }

  truth(call: NodeCall): Promise<NodeAnswer> {
    return forward(this.replay.url, call)
  }

  beHonest(): void {
    this.tell = null
    this.request = null
  }

  /**
   * Starts the recording at HEAD and opens, not yet starts, a pipeline on it. All of it ends with
   * the test.
   */
  async openLiedTo({ besideHonest, checks = 'roots' }: LiedToOptions): Promise<LiedTo> {
    const replay = await startReplay('--shape', 'anvil', '--head', `${HEAD}`, '--finality', `${FINALITY}`)
    onTestFinished(() => replay.close())
    this.#replay = replay
    this.told = 0
    const urls = [this.#liar?.url ?? '', ...(besideHonest ? [this.#honest?.url ?? ''] : [])]
    const recorded = await loadRecordedChain('tempo-dev-2k', LAST, FINALITY)
    const source = createSource({
      chainId: NODE_CHAIN_ID,
      urls,
      finalityDepth: FINALITY,
      runtime: systemRuntime(),
      log: silentLogger,
      batchBlocksMax: 10,
    })
    // Every sender is recovered, so that whether one lie is found does not hang on chance.
    const limits = { sendersOneIn: 1 }
    const access = await freshDatabase()
    const indexed = await openIndexedChain({ access, recorded, source, checks, limits })
    onTestFinished(() => indexed.close())
    return new LiedTo(indexed, recorded, checks)
  }
}

export interface LiedToOptions {
  /** A second endpoint tells the truth. */
  readonly besideHonest: boolean
  readonly checks?: Checks
}

/** The pipeline that is lied to, and what must hold of it. */
export class LiedTo {
  readonly indexed: IndexedChain
  readonly recorded: RecordedChain
  readonly #checks: Checks

  constructor(indexed: IndexedChain, recorded: RecordedChain, checks: Checks) {
    this.indexed = indexed
    this.recorded = recorded
    this.#checks = checks
  }

  coverage(store: 'postgres' | 'clickhouse') {
    return readCoverage(this.indexed.postgres.pool, this.indexed.schema, store)
  }

  /** Every block held now, up to a height, is the chain's. */
  async expectTrue(to = LAST): Promise<void> {
    const { postgres, schema } = this.indexed
    const { rows } = await postgres.pool.query<{ num: number; hash: Buffer }>(
      `SELECT num, hash FROM ${schema}.blocks WHERE num <= $1 ORDER BY num`,
      [to],
    )
    for (const { num, hash } of rows) expect(`0x${hash.toString('hex')}`).toBe(this.recorded.refAt(num).hash)
  }

  /** Both stores come to hold the whole chain by themselves, each row once and nothing else. */
  async expectWhole(): Promise<void> {
    const [all, final] = [
      { from: 0, to: LAST },
      { from: 0, to: LAST - FINALITY },
    ]
    await expect.poll(() => this.coverage('postgres'), healed).toEqual([all])
    await expect.poll(() => this.coverage('clickhouse'), healed).toEqual([final])
    await expect.poll(() => this.indexed.chain.headStatus.state, healed).toBe('running')
    await expectInPostgres(this.indexed, [encoded(this.recorded, all, this.#checks)])
    await expectInClickHouse(this.indexed, [encoded(this.recorded, final, this.#checks)])
  }
}
