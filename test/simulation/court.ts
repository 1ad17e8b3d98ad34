/**
 * The invariants, judged from outside: by the world's own blocks and an oracle that decodes each of them
 * alone.
 */

import { messageOf } from '#errors.ts'
import { covers, difference } from '#ingest/range.ts'
import { FencedOutError } from '#runtime/lease.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { PIECE_BYTES_ESTIMATE, type SimIndexer } from './indexer.ts'
import {
  type BlockContent,
  contentOf,
  type LedgerState,
  type StoredBlock,
  sameContent,
} from './ledgerState.ts'
import { type EngineState, engineContent } from './simClickHouse.ts'
import type { Swarm } from './swarm.ts'
import type { World, WorldBlock } from './world.ts'

/** The head and two chunks of history fetch ahead. */
const READERS = 3
/** More than the largest simulated block takes when encoded. */
const BLOCK_BYTES_MAX = 15_000

/**
 * Blocks that one endpoint makes up and holds are told for a moment, where they are so few that an
 * honest endpoint could be as far behind.
 */
const MADE_UP_MAX = 128

export class Court {
  readonly violations: string[] = []
  readonly #world: World
  readonly #ledger: LedgerState
  readonly #engine: EngineState
  readonly #limits: Swarm
  #judgedCommits = -1
  readonly #true = new WeakSet<StoredBlock>()
  #finalized = -1
  #toldHead = -1
  readonly #final = new Map<number, string>()

  constructor(options: { world: World; ledger: LedgerState; engine: EngineState; limits: Swarm }) {
    this.#world = options.world
    this.#ledger = options.ledger
    this.#engine = options.engine
    this.#limits = options.limits
  }

  violated(what: string): void {
    this.violations.push(what)
  }

  /** A client's news at the RPC door: heights, null if a node knows none. */
  told(head: number, finalized: number | null): void {
    const { tallest, finalized: final } = this.#world
    if (head > tallest + MADE_UP_MAX)
      this.violated(`W2: clients were told of block ${head}, where none is above ${tallest}`)
    if (finalized !== null && finalized > final)
      this.violated(`W2: clients were told that ${finalized} is final, where ${final} is`)
    this.#toldHead = head
  }

  /** After every event: cheap while no store has changed. */
  check(indexers: readonly SimIndexer[]): void {
    for (const { budget, cache } of indexers) {
      const { inFlightBytesMax, windowMax, batchBlocksMax } = this.#limits
      // A piece is charged an estimate until it is known, and one that comes in parts for the next
      // part besides those it has. What it was larger by cannot be waited for any more.
      const pieceBytesMax = batchBlocksMax * BLOCK_BYTES_MAX
      const surprise = batchBlocksMax > 1 ? pieceBytesMax : Math.max(0, pieceBytesMax - PIECE_BYTES_ESTIMATE)
      const surprises = READERS * windowMax * surprise
      if (budget.usedBytes > Math.max(inFlightBytesMax, PIECE_BYTES_ESTIMATE) + surprises)
        this.violated(`I8: ${budget.usedBytes} bytes in flight`)
      if (cache.byteLength > this.#limits.cacheBytesMax) this.violated(`I8: ${cache.byteLength} bytes cached`)
    }
    if (this.#ledger.commits === this.#judgedCommits) return
    this.#judgedCommits = this.#ledger.commits
    this.#judge(this.#wrongInPostgres())
    this.#judge(this.#wrongInFinality())
  }

  /** Everything, both stores. */
  checkAll(): void {
    if (this.violations.length > 0) return
    this.#judge(this.#wrongInPostgres())
    this.#judge(this.#wrongInFinality())
    this.#judge(this.#wrongInClickHouse())
  }

  /** Both stores hold the chain as it is now, and clients are told of it. */
  complete(): boolean {
    const { lane, postgresCoverage, clickhouseCoverage, blocks, chunks } = this.#ledger
    const { head, finalized } = this.#world
    const final = Math.max(finalized, 0)
    if (!lane || lane.tipHash !== head.hash || lane.finalized < finalized) return false
    if (!covers(postgresCoverage, { from: 0, to: head.ref.number }) || chunks.size > 0) return false
    if (this.#limits.clients && this.#toldHead !== head.ref.number) return false
    if (finalized >= 0 && !covers(clickhouseCoverage, { from: 0, to: final })) return false
    return this.#world.chain.every(({ ref, hash }) => blocks.get(ref.number)?.ref.hash === hash)
  }

  incomplete(stoppedBy: readonly unknown[]): void {
    const { lane, postgresCoverage, clickhouseCoverage, chunks } = this.#ledger
    const shown = JSON.stringify({
      lane: lane && { ...lane, fence: String(lane.fence) },
      postgresCoverage,
      clickhouseCoverage,
      chunks: chunks.size,
      toldHead: this.#toldHead,
      stopped: stoppedBy.map((error) => (error === null ? null : messageOf(error))),
    })
    this.violated(
      `liveness: the chain is at ${this.#world.head.ref.number}, final ${this.#world.finalized}; ${shown}`,
    )
  }

  /** A lane gave up for good. */
  stopped(error: unknown): void {
    const code = Object(error).code
    if (error instanceof FencedOutError) return
    // All endpoints told another chain id at once, which is for a person.
    if (code === 'wrong_chain' && (this.#limits.nodes === 1 || this.#limits.lieRate > 0)) return
    // An engine that loses what it acknowledged, attempt after attempt, is for a person to see to.
    if (this.#limits.engineLossRate > 0 && /never reads back as sent/.test(messageOf(error))) return
    this.violated(`a lane stopped: ${messageOf(error)}`)
  }

  #judge(wrong: string | null): void {
    if (wrong !== null) this.violated(wrong)
  }

  #wrongInPostgres(): string | null {
    const { lane, blocks, chunks, postgresCoverage } = this.#ledger
    for (const [number, stored] of blocks) {
      const { ref } = stored
      const known = this.#world.known.get(ref.hash)
      if (!known || known.ref.number !== number) return `I2: block ${number} ${ref.hash} never was`
      if (!this.#isTrue(stored, known)) return `I2: block ${number} holds other rows than the chain`
      const above = blocks.get(number + 1)
      if (above && above.ref.parentHash !== ref.hash)
        return `I1: block ${number + 1} is no child of ${number}`
      if (!covers(postgresCoverage, { from: number, to: number }))
        return `I4: block ${number} is held and not covered`
      if (lane && number > lane.tip) return `I4: block ${number} is above the tip ${lane.tip}`
    }
    for (const { from, to } of postgresCoverage)
      for (let number = from; number <= to; number++)
        if (!blocks.has(number)) return `I4: block ${number} is covered and not held`
    for (const chunk of chunks.values())
      if (chunk.blocks.length !== chunk.tip - chunk.range.from + 1)
        return `I4: a chunk at ${chunk.tip} holds ${chunk.blocks.length} blocks from ${chunk.range.from}`
    if (lane?.tipHash && blocks.get(lane.tip)?.ref.hash !== lane.tipHash)
      return `I4: the tip ${lane.tip} is not held`
    return null
  }

  /** A block's stored content never changes: once is enough. */
  #isTrue(stored: StoredBlock, known: WorldBlock): boolean {
    if (this.#true.has(stored)) return true
    if (!sameContent(stored.content, oracleOf(known))) return false
    this.#true.add(stored)
    return true
  }

  #wrongInFinality(): string | null {
    const { lane, blocks, clickhouseCoverage } = this.#ledger
    if (!lane) return null
    // A lane that was misled above the chain comes back from there, having held nothing.
    const wasOnChain = this.#finalized <= this.#world.head.ref.number
    if (lane.finalized < this.#finalized && wasOnChain) return `I5: finality went back to ${lane.finalized}`
    this.#finalized = lane.finalized
    for (const [number, { ref }] of blocks) {
      if (number > lane.finalized) continue
      const before = this.#final.get(number)
      if (before && before !== ref.hash) return `I5: the final block ${number} was replaced`
      this.#final.set(number, ref.hash)
      const known = this.#world.known.get(ref.hash)
      const now = this.#world.chain[number]
      if (known && number <= this.#world.finalized && now?.hash !== ref.hash)
        return `I5: block ${number} is final here and on no chain`
    }
    for (const number of this.#final.keys())
      if (!blocks.has(number)) return `I5: the final block ${number} is gone`
    const beyond = difference(clickhouseCoverage, [{ from: 0, to: lane.finalized }])
    if (beyond.length > 0) return `I4: ClickHouse covers ${beyond[0]?.from}, which is not final`
    return null
  }

  #wrongInClickHouse(): string | null {
    const { clickhouseCoverage } = this.#ledger
    const held = new Set(
      [...this.#engine.tables.values()].flatMap((parts) => parts.map(({ block }) => block)),
    )
    for (const block of held)
      if (!covers(clickhouseCoverage, { from: block, to: block }) && !this.#begun(block))
        return `I4: ClickHouse holds block ${block}, which nobody began to write`
    for (const { from, to } of clickhouseCoverage)
      for (let number = from; number <= to; number++) {
        const block = this.#world.chain[number]
        const found = new Map<string, { rows: number; digest: number }>()
        for (const [name, parts] of engineContent(this.#engine, number)) {
          if (parts.length > 1) return `I2: ClickHouse holds block ${number} ${parts.length} times in ${name}`
          const [part] = parts
          if (part) found.set(name, { rows: part.rows, digest: part.digest })
        }
        if (!block || !sameContent(found as never, oracleOf(block)))
          return `I2: ClickHouse holds other rows of block ${number} than the chain`
      }
    return null
  }

  #begun(block: number): boolean {
    for (const { entry, state } of this.#ledger.journal.values())
      if (state === 'open' && entry.range.from <= block && block <= entry.range.to) return true
    return false
  }
}

/** Keeps its memory from block to block. */
const encoder = new BatchEncoder()
const oracle = new WeakMap<WorldBlock, BlockContent>()
const profile = { chainId: 31_337, kind: 'evm', headerRule: 'ethereum', checks: 'roots' } as const

/** A true block in every table, decoded alone from the world's own JSON. */
function oracleOf(block: WorldBlock): BlockContent {
  const known = oracle.get(block)
  if (known) return known
  const { number } = block.ref
  const bytes = answerBytes([{ number, block: block.block, receipts: block.receipts }])
  const content = contentOf(decodeRange(profile, bytes, { from: number, to: number }, encoder).batch, 0)
  oracle.set(block, content)
  return content
}
