/**
 * The blocks of a recording, and what of them is shown under other names when they are repeated.
 */

import { type Manifest, readManifest, streamRecording } from '../recordings.ts'
import { answersOf, type NodeAnswers, type Shape } from './answers.ts'
import { BlockTemplate, type Renamed, topics } from './blockTemplate.ts'

/** The place of a transaction: the index of its block in the recording, and its own in the block. */
export interface RecordedPlace {
  readonly block: number
  readonly position: number
}

export class RecordedBlocks implements Renamed {
  readonly chainId: number
  readonly first: number
  /** The first height of the repeated part. */
  readonly loopFrom: number
  readonly #templates: BlockTemplate[] = []
  readonly #transactions = new Map<string, RecordedPlace>()
  readonly #made = new Set<string>()
  #firstOrder = 2n ** 128n

  constructor({ chainId, firstBlock, loopFrom }: Manifest) {
    this.chainId = chainId
    this.first = firstBlock
    this.loopFrom = loopFrom
  }

  static async read(name: string, shape: Shape): Promise<RecordedBlocks> {
    const blocks = new RecordedBlocks(readManifest(name))
    for await (const recorded of streamRecording(name)) blocks.#add(answersOf(recorded, shape))
    return blocks
  }

  get count(): number {
    return this.#templates.length
  }

  /** How many blocks the repeated part has. */
  get loopLength(): number {
    return this.count - (this.loopFrom - this.first)
  }

  /** Seconds from the first block of one round to that of the next. */
  get loopSeconds(): number {
    return this.template(this.count - 1).timestamp - this.template(this.loopFrom - this.first).timestamp + 1
  }

  /** Addresses of contracts and tokens that the repeated part makes. */
  get made(): Iterable<string> {
    return this.#made
  }

  get firstOrder(): bigint {
    return this.#firstOrder
  }

  /** @throws RangeError when the recording has no such block. */
  template(index: number): BlockTemplate {
    const template = this.#templates[index]
    if (!template) throw new RangeError(`no block ${index} among ${this.count}`)
    return template
  }

  /** By the recorded hash. */
  transaction(hash: string): RecordedPlace | undefined {
    return this.#transactions.get(hash)
  }

  hasTransaction(hash: string): boolean {
    return this.#transactions.has(hash)
  }

  hasMade(address: string): boolean {
    return this.#made.has(address)
  }

  #add(answers: NodeAnswers): void {
    const index = this.#templates.push(new BlockTemplate(answers)) - 1
    for (const [position, { hash }] of answers.block.transactions.entries())
      this.#transactions.set(hash, { block: index, position })
    if (this.first + index >= this.loopFrom) this.#observe(answers)
  }

  #observe({ receipts }: NodeAnswers): void {
    for (const { contractAddress, logs } of receipts) {
      if (contractAddress) this.#made.add(contractAddress)
      for (const {
        topics: [event, id = ''],
      } of logs) {
        if (event === topics.tokenCreated) this.#made.add(`0x${id.slice(26)}`)
        if (event === topics.orderPlaced && BigInt(id) < this.#firstOrder) this.#firstOrder = BigInt(id)
      }
    }
  }
}
