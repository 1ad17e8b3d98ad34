/** The chain being filled: blocks mined one by one on anvil, with times and fees from the seed. */
import { type DevRpc, type DevRpcAnswer, field, hexQuantity } from '#local/devchain/DevRpc.ts'
import { type MinedTransaction, parseReceipt } from '#local/devchain/traffic/produceBlock.ts'
import type { Hex } from '#primitives.ts'
import type { Random } from '../random.ts'
import type { Actor } from './actor.ts'
import type { ChainTime } from './scene.ts'
import { sign, type Transaction } from './transaction.ts'

export interface ChainOptions {
  readonly chainId: number
  /** Unix seconds of the first block. */
  readonly timestamp: number
  /** Mean seconds of a pause, of which there is one in ten blocks. */
  readonly meanPause: number
  /** Blocks carry the present time instead. */
  readonly isLive: boolean
  /** The deepest reorg. */
  readonly reorgDepth: number
  readonly validators: readonly Actor[]
}

/** Attodollars per gas. */
const BASE_FEE_MIN = 600_000_000
const BASE_FEE_MAX = 20_000_000_000
/** Blocks before fees begin to move. */
const CALM_BLOCKS = 40
/** Anvil takes bodies of up to 2 MB. */
const BODY_CHARACTERS_MAX = 1_000_000

export class GeneratedChain implements ChainTime {
  timestamp: number
  latest: number
  blocks = 0
  mined = 0
  /** Transactions that were sent and not mined. */
  dropped = 0
  /** How often each reason was told. */
  readonly refused = new Map<string, number>()
  readonly #rpc: DevRpc
  readonly #random: Random
  readonly #options: ChainOptions
  #baseFee = BASE_FEE_MAX
  /** Signed transactions of the newest blocks. */
  #recent: (readonly Hex[])[] = []

  constructor(rpc: DevRpc, random: Random, options: ChainOptions) {
    this.#rpc = rpc
    this.#random = random
    this.#options = options
    this.timestamp = options.timestamp
    this.latest = options.timestamp - 1
  }

  /** Signs and sends transactions and mines one block with them. */
  async mine(transactions: readonly Transaction[]): Promise<void> {
    const raws = await this.#sign(transactions)
    const hashes = await this.#send(raws)
    const rpc = this.#rpc
    await rpc.call('anvil_setCoinbase', this.#random.pick(this.#options.validators).address)
    await rpc.call('evm_setNextBlockTimestamp', hexQuantity(this.timestamp))
    await rpc.call('anvil_setNextBlockBaseFeePerGas', hexQuantity(this.#baseFee))
    await rpc.call('evm_mine')
    const mined = field(await rpc.call('eth_getBlockByNumber', 'latest', false), 'transactions')
    const count = Array.isArray(mined) ? mined.length : 0
    this.blocks++
    this.mined += count
    this.dropped += transactions.length - count
    this.#recent = [...this.#recent, raws].slice(-this.#options.reorgDepth)
    await this.#tellReceipts(transactions, hashes)
    this.#advance()
  }

  /** Sends transactions that stay in the pool. */
  async leave(transactions: readonly Transaction[]): Promise<void> {
    await this.#send(await this.#sign(transactions))
  }

  /**
   * Replaces the newest blocks; half of each block's transactions move on to the next, those of the
   * last half are lost.
   */
  async reorg(depth: number): Promise<void> {
    const moved = this.#recent
      .slice(-depth)
      .flatMap((raws, at) =>
        raws.map((raw, index): [Hex, number] => [raw, index * 2 < raws.length ? at : at + 1]),
      )
    const kept = moved.filter(([, to]) => to < depth).sort(([, a], [, b]) => a - b)
    await this.#rpc.call('anvil_reorg', depth, kept)
    this.#recent = []
  }

  async #sign(transactions: readonly Transaction[]): Promise<Hex[]> {
    const raws: Hex[] = []
    for (const transaction of transactions) raws.push(await sign(transaction, this.#options.chainId))
    return raws
  }

  /** Hashes in the order of the transactions; undefined for those that were refused. */
  async #send(raws: readonly Hex[]): Promise<unknown[]> {
    const answers: DevRpcAnswer[] = []
    for (const part of parts(raws))
      answers.push(...(await this.#rpc.batch(part.map((raw) => ['eth_sendRawTransaction', raw]))))
    return answers.map((answer) => {
      if (!('error' in answer)) return answer.result
      this.refused.set(answer.error, (this.refused.get(answer.error) ?? 0) + 1)
      return undefined
    })
  }

  async #tellReceipts(transactions: readonly Transaction[], hashes: readonly unknown[]): Promise<void> {
    const awaited = transactions.flatMap(({ onReceipt }, index) =>
      onReceipt && hashes[index] ? [{ onReceipt, hash: hashes[index] }] : [],
    )
    const answers = await this.#rpc.batch(awaited.map(({ hash }) => ['eth_getTransactionReceipt', hash]))
    for (const [index, { onReceipt }] of awaited.entries()) {
      const receipt = receiptIn(answers[index])
      if (receipt) onReceipt(receipt)
    }
  }

  /**
   * Sets time and base fee of the next block: blocks come twice a second, with pauses now and then.
   */
  #advance(): void {
    const random = this.#random
    const { isLive, meanPause } = this.#options
    this.latest = this.timestamp
    const pause = !isLive && random.chance(0.1) ? random.below(2 * meanPause) : 0
    if (isLive) this.timestamp = Math.max(this.timestamp, Math.floor(Date.now() / 1000))
    else this.timestamp += random.below(2) + pause
    if (this.blocks > CALM_BLOCKS) this.#baseFee = Math.round(this.#baseFee * (1 + (random.next() - 0.5) / 4))
    this.#baseFee = Math.max(BASE_FEE_MIN, Math.min(BASE_FEE_MAX, this.#baseFee))
  }
}

/** Cuts a list into requests of a size that anvil takes. */
function parts(raws: readonly Hex[]): Hex[][] {
  const cut: Hex[][] = []
  let size = BODY_CHARACTERS_MAX
  for (const raw of raws) {
    if (size >= BODY_CHARACTERS_MAX) {
      cut.push([])
      size = 0
    }
    cut.at(-1)?.push(raw)
    size += raw.length + 80
  }
  return cut
}

function receiptIn(answer: DevRpcAnswer | undefined): MinedTransaction | undefined {
  return answer && 'result' in answer && answer.result ? parseReceipt(answer.result) : undefined
}
