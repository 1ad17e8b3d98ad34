/**
 * The program's own wiring of a chain, on real engines, before nodes that one test makes lie. The
 * network's key is given as an operator would configure it.
 */
import { expect, onTestFinished } from 'vitest'
import type { ConfiguredKey } from '#ingest/finality/keys/pinnedKeys.ts'
import type { FinalityChoice } from '#ingest/finality/rules/chosenRule.ts'
import type { Hash } from '#primitives.ts'
import { type Runtime, systemRuntime } from '#runtime/runtime.ts'
import { readLane, readRef } from '#store/ledger/lane.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'
import { type Branch, hashAt, networkA } from '../../support/finalityChain.ts'
import { FinalityNode } from '../../support/finalityNode.ts'
import { type OpenedChain, openCertifiedChain } from './openCertifiedChain.ts'

/** The key that signs the network's first epochs. */
export const keyA: ConfiguredKey = { identity: networkA.key, fromEpoch: 0 }

export interface NetworkStart {
  /** Each node's branch at the beginning; two that agree unless said otherwise. */
  readonly branch: Branch
  readonly nodes?: number
}

export interface ProgramStart {
  readonly rule?: FinalityChoice
  readonly key?: ConfiguredKey
  readonly startBlock?: number
}

/** Waits for the program to act; generous, since it ends as soon as it did. */
const patient = { timeout: 60_000, interval: 50 }

export class HostileNetwork {
  readonly nodes: readonly FinalityNode[]
  readonly access: FreshDatabase
  readonly postgres: Postgres
  readonly genesis: Hash
  #program: OpenedChain | null = null
  /** How far the program's clock is ahead. */
  #aheadMs = 0

  private constructor(nodes: readonly FinalityNode[], access: FreshDatabase, genesis: Hash) {
    this.nodes = nodes
    this.genesis = genesis
    this.access = access
    this.postgres = openPostgres({ url: access.databaseUrl, applicationName: 'judge', log: silentLogger })
  }

  /** All of it ends with the test. */
  static async open({ branch, nodes: count = 2 }: NetworkStart): Promise<HostileNetwork> {
    const access = await freshDatabase()
    const start = () => new FinalityNode({ chainId: access.chainId, branch, finalized: 0 }).start()
    const nodes = await Promise.all(Array.from({ length: count }, start))
    const network = new HostileNetwork(nodes, access, hashAt(branch, 0))
    onTestFinished(async () => {
      await network.stop()
      await network.postgres.close()
      await Promise.all(nodes.map((node) => node.close()))
    })
    return network
  }

  get program(): OpenedChain {
    if (!this.#program) throw new Error('the program has not been started')
    return this.#program
  }

  /** Starts the program, or starts it again on what it holds. */
  async start({ rule = 'both', key = keyA, startBlock = 0 }: ProgramStart = {}): Promise<void> {
    await this.stop()
    this.#program = await openCertifiedChain({
      ...{ access: this.access, rule, key, startBlock, runtime: this.#runtime() },
      urls: this.nodes.map(({ url }) => url),
      genesisHash: this.genesis,
    })
    await this.#program.chain.start()
  }

  /** The program's clock says that so much more time has passed. */
  later(ms: number): void {
    this.#aheadMs += ms
  }

  #runtime(): Runtime {
    const system = systemRuntime()
    const { clock } = system
    return {
      ...system,
      clock: {
        now: () => clock.now() + this.#aheadMs,
        monotonic: () => clock.monotonic() + this.#aheadMs,
        sleep: (ms, signal) => clock.sleep(ms, signal),
      },
    }
  }

  async stop(): Promise<void> {
    await this.#program?.close()
    this.#program = null
  }

  /** Every node does this. */
  all(change: (node: FinalityNode) => void): void {
    this.nodes.forEach(change)
  }

  /** Every node shows this branch, and calls this height final by its tag. */
  show(branch: Branch, finalized = branch.length - 1): void {
    this.all((node) => Object.assign(node, { branch, finalized }))
  }

  /** Every node certifies this block of a branch, and says so of the newest. */
  certify(branch: Branch, number: number, other: Parameters<FinalityNode['certify']>[2] = {}): void {
    this.all((node) => node.certify(branch, number, other))
  }

  /**
   * Resolves when the program has asked every node for its newest certificate twice: what the first
   * answers said has been judged. Then it has seen each node's head once more.
   */
  async looked(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.asked('consensus_getFinalization', 2)))
    await this.headsSeen()
  }

  /** Resolves when every node was asked for blocks again, and what it said has been judged. */
  async headsSeen(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.asked('eth_getBlockByNumber', 3)))
  }

  /** The final height by what is stored; -1 if there is none. */
  async finalized(): Promise<number> {
    const lane = await readLane(this.postgres.pool, schemaOf(this.access.chainId))
    return lane?.finalized ?? -1
  }

  async hashOf(number: number): Promise<Hash | null> {
    const ref = await readRef(this.postgres.pool, schemaOf(this.access.chainId), number)
    return ref?.hash ?? null
  }

  /** Waits until a block of this branch is held and final by a stored proof. */
  async proved(branch: Branch, number: number): Promise<void> {
    await expect.poll(() => this.finalized(), patient).toBe(number)
    expect(await this.hashOf(number)).toBe(hashAt(branch, number))
    expect(await this.proofAtOrAbove(number)).toBeGreaterThanOrEqual(number)
    await expect.poll(() => this.program.chain.finality, patient).toMatchObject({ rule: 'proved' })
  }

  /** Waits until the newest certificate that was checked is of this height, whatever is final. */
  async moved(height: number): Promise<void> {
    const newest = () => this.program.chain.finality.certificateHeight
    await expect.poll(newest, patient).toBe(height)
  }

  async agreed(number: number): Promise<void> {
    await expect.poll(() => this.finalized(), patient).toBe(number)
    expect(this.program.chain.finality).toMatchObject({ rule: 'agreed', certificateHeight: null })
  }

  /** Waits until the program holds this block, final or not. */
  async holds(branch: Branch, number: number): Promise<void> {
    await expect.poll(() => this.hashOf(number), patient).toBe(hashAt(branch, number))
  }

  /** Expects no new finality, whatever was said meanwhile. */
  async standsAt(number: number): Promise<void> {
    await this.looked()
    expect(await this.finalized()).toBe(number)
  }

  /** Waits until what stands in the way is told, and gives the words. */
  async held(words: RegExp): Promise<void> {
    await expect.poll(() => this.program.held(), patient).toMatch(words)
  }

  /** Heights of all proofs that are stored, ascending. */
  async proofs(): Promise<readonly number[]> {
    const { rows } = await this.postgres.pool.query<{ height: string }>(
      `SELECT height FROM ${schemaOf(this.access.chainId)}.finality_proofs ORDER BY height, digest`,
    )
    return rows.map(({ height }) => Number(height))
  }

  async proofAtOrAbove(number: number): Promise<number> {
    return (await this.proofs()).find((height) => height >= number) ?? -1
  }
}
