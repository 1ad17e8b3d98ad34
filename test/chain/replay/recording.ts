/**
 * A recording as a chain: blocks by height, repeated and forked on demand, as ready-made JSON.
 * Every height shows a recorded block in some round. The first round on the first fork is the
 * recording itself, byte for byte.
 */

import { sha256 } from '../random.ts'
import { type CallAnswer, readCalls } from '../recordings.ts'
import type { Shape } from './answers.ts'
import type { BlockTemplate, Part } from './blockTemplate.ts'
import { RecordedBlocks } from './recordedBlocks.ts'
import { RoundNames } from './roundNames.ts'

/** From one height on the chain has other blocks than before. */
interface Fork {
  readonly from: number
  /** 0 for the recorded chain, then 1, 2 and so on. */
  readonly id: number
}

/** The block that a height shows. */
interface Shown {
  readonly fork: number
  readonly round: number
  readonly template: BlockTemplate
}

/** A transaction's place on the present chain. */
export interface ShownPlace {
  readonly height: number
  readonly position: number
}

export class Recording {
  /** Timestamps in Unix seconds, by height, that replace the recorded ones. */
  readonly stamps = new Map<number, number>()
  /** Answers to `eth_call` by `<to>:<data>`. */
  readonly calls: Readonly<Record<string, CallAnswer>>
  readonly #blocks: RecordedBlocks
  readonly #rounds: RoundNames[] = []
  /** By ascending height. */
  #forks: readonly Fork[] = [{ from: 0, id: 0 }]
  #newestFork = 0
  /** Heights by hash, up to the indexed height. */
  readonly #heights = new Map<string, number>()
  #indexed: number

  constructor(blocks: RecordedBlocks, calls: Readonly<Record<string, CallAnswer>>) {
    this.#blocks = blocks
    this.calls = calls
    this.#indexed = blocks.first - 1
  }

  /**
   * Loads a recording by its name or absolute path; shape `tempo` makes its answers a Tempo node's.
   */
  static async load(name: string, shape: Shape): Promise<Recording> {
    return new Recording(await RecordedBlocks.read(name, shape), readCalls(name))
  }

  get chainId(): number {
    return this.#blocks.chainId
  }

  get first(): number {
    return this.#blocks.first
  }

  /** The first height that is shown again in later rounds, and the first that no fork changes. */
  get loopFrom(): number {
    return this.#blocks.loopFrom
  }

  /** The last height if the repeated part is shown so many times. */
  lastHeight(times: number): number {
    return this.first + this.#blocks.count - 1 + (times - 1) * this.#blocks.loopLength
  }

  hashAt(height: number): string {
    const { fork, round, template } = this.#at(height)
    if (height <= this.first || (fork === 0 && round === 0)) return template.hash
    return `0x${sha256(`${template.hash} ${height} ${fork}`)}`
  }

  /** Unix seconds. */
  timestampAt(height: number): number {
    const { template, round } = this.#at(height)
    return this.stamps.get(height) ?? template.timestamp + round * this.#blocks.loopSeconds
  }

  json(height: number, part: Part): Buffer {
    const { fork, round, template } = this.#at(height)
    if (fork === 0 && round === 0 && this.stamps.size === 0) return template.json[part]
    const placement = {
      height,
      names: this.#names(round),
      timestamp: this.timestampAt(height),
      hash: this.hashAt(height),
      parentHash: height > this.first ? this.hashAt(height - 1) : template.parentHash,
    }
    return template.jsonAt(part, placement, this.#blocks)
  }

  /** A part as a node has it that has not seen this height replaced. */
  jsonOfOtherFork(height: number, part: Part): Buffer {
    const forks = this.#forks
    this.#forks = [...forks, { from: height, id: this.#newestFork + 1 }]
    try {
      return this.json(height, part)
    } finally {
      this.#forks = forks
    }
  }

  /** The height of a hash, if it is on the present chain at or below `head`. */
  heightOf(hash: string, head: number): number | undefined {
    while (this.#indexed < head) {
      this.#indexed++
      this.#heights.set(this.hashAt(this.#indexed), this.#indexed)
    }
    const height = this.#heights.get(hash)
    return height !== undefined && height <= head ? height : undefined
  }

  /** The place of a transaction, if it is on the present chain at or below `head`. */
  findTransaction(hash: string, head: number): ShownPlace | undefined {
    for (let round = 0; round < this.#roundsUpTo(head); round++) {
      const place = this.#blocks.transaction(this.#names(round).recordedTransaction(hash))
      if (!place) continue
      const height = this.#heightShowing(this.first + place.block, round, head)
      if (height !== undefined) return { height, position: place.position }
    }
    return undefined
  }

  /** The recorded address behind one that a later round shows. */
  recordedAddress(address: string, head: number): string {
    for (let round = 1; round < this.#roundsUpTo(head); round++)
      for (const made of this.#blocks.made) if (this.#names(round).address(made) === address) return made
    return address
  }

  /**
   * Whether a height may have logs with one of these addresses or first topics; any when absent.
   */
  mayHaveLogs(height: number, marks: readonly string[] | undefined): boolean {
    const { template, round } = this.#at(height)
    if (template.marks.size === 0) return false
    // Later rounds show other addresses than the marks.
    return round > 0 || marks === undefined || marks.some((mark) => template.marks.has(mark))
  }

  /** Replaces the newest `depth` blocks of a chain that stands at `head`. */
  reorg(depth: number, head: number): void {
    const from = head - depth + 1
    if (depth < 1 || from <= this.loopFrom) throw new RangeError(`can't replace ${depth} blocks at ${head}`)
    this.#newestFork++
    for (let height = from; height <= this.#indexed; height++) this.#heights.delete(this.hashAt(height))
    this.#indexed = Math.min(this.#indexed, from - 1)
    this.#forks = [...this.#forks.filter((fork) => fork.from < from), { from, id: this.#newestFork }]
  }

  /** Each fork shows, from its first block on, what would otherwise come one block later. */
  #at(height: number): Shown {
    const { loopFrom, loopLength, first } = this.#blocks
    const fork = this.#forkAt(height)
    if (height < loopFrom) return { fork, round: 0, template: this.#blocks.template(height - first) }
    const ahead = height - loopFrom + fork
    const template = this.#blocks.template(loopFrom - first + (ahead % loopLength))
    return { fork, round: Math.floor(ahead / loopLength), template }
  }

  #forkAt(height: number): number {
    return this.#forks.findLast(({ from }) => from <= height)?.id ?? 0
  }

  /** The height that shows a recorded one in a round. */
  #heightShowing(recorded: number, round: number, head: number): number | undefined {
    if (recorded < this.loopFrom) return round === 0 && recorded <= head ? recorded : undefined
    const heights = this.#forks.map(({ id }) => ({
      id,
      height: recorded + round * this.#blocks.loopLength - id,
    }))
    return heights.find(
      ({ id, height }) => height >= this.first && height <= head && this.#forkAt(height) === id,
    )?.height
  }

  /** How many rounds may have begun at a head, forks included. */
  #roundsUpTo(head: number): number {
    return Math.floor(Math.max(0, head - this.loopFrom) / this.#blocks.loopLength) + 2
  }

  #names(round: number): RoundNames {
    this.#rounds[round] ??= new RoundNames(round)
    return this.#rounds[round]
  }
}
