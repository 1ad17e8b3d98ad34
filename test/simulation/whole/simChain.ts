/**
 * A chain that is final a few blocks deep, and reorganizes above that: what a block had may come again,
 * or never.
 */
import { encodeAbiParameters, encodeEventTopics, keccak256, parseAbi, toHex } from 'viem'
import { feeManager } from '#money/outflows.ts'
import type { Log } from '#money/settled.ts'
import type { Kernel } from '../kernel.ts'

export const CHAIN_ID = 4_217
export const TOKEN = `0x${'20'.repeat(20)}` as const
export const PAYEE = `0x${'9a'.repeat(20)}` as const
/** The fee of a transfer of the payee, in the token's smallest unit. */
export const FEE = 2n
export const BLOCK_MS = 2_000
/** The wall clock at the beginning. */
export const EPOCH_MS = 1_767_225_600_000
/** Share of blocks that a reorganization begins at, and of its transactions that come again. */
const reorgShares = [0.05, 0.12, 0.35] as const
const returnShares = [0.2, 0.5, 0.9] as const
/** Blocks above the final one. */
const OPEN_BLOCKS = 4

export interface SimTransaction {
  readonly txHash: string
  /** Unix seconds; no block of then or later has it. */
  readonly validBeforeSeconds: number
  readonly from: `0x${string}`
  readonly to: `0x${string}`
  readonly amount: bigint
  /** A payout's: the chain takes a fee for it. Null for a payment. */
  readonly memo: `0x${string}` | null
}

interface Included {
  readonly transaction: SimTransaction
  readonly succeeded: boolean
}

export interface SimBlock {
  readonly number: number
  readonly hash: string
  readonly seconds: number
  readonly included: readonly Included[]
}

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event TransferWithMemo(address indexed from, address indexed to, uint256 value, bytes32 indexed memo)',
])

export class SimChain {
  readonly #kernel: Kernel
  readonly #pool = new Map<string, SimTransaction>()
  readonly #everMined = new Set<string>()
  readonly #blocks: SimBlock[] = []
  readonly #reorgShare: number
  readonly #returnShare: number
  #forks = 0
  reorgs = 0
  /** False once faults end: then blocks stay, and take what they can. */
  isTroubled = true

  constructor(kernel: Kernel) {
    this.#kernel = kernel
    this.#reorgShare = kernel.pick(reorgShares)
    this.#returnShare = kernel.pick(returnShares)
    this.mine()
  }

  /** The newest last; a node that lags has fewer. */
  blocks(lag = 0): readonly SimBlock[] {
    return this.#blocks.slice(0, Math.max(1, this.#blocks.length - lag))
  }

  finalOf(blocks: readonly SimBlock[]): SimBlock {
    const final = blocks[Math.max(0, blocks.length - 1 - OPEN_BLOCKS)]
    if (!final) throw new Error('the chain is empty')
    return final
  }

  /** Whether a block ever had it and moved its money. */
  wasMined(txHash: string): boolean {
    return this.#everMined.has(txHash)
  }

  get isIdle(): boolean {
    return this.#pool.size === 0
  }

  /** All that moved money on the chain as it is. */
  moved(): readonly SimTransaction[] {
    return this.#blocks.flatMap(({ included }) =>
      included.filter(({ succeeded }) => succeeded).map(({ transaction }) => transaction),
    )
  }

  send(transaction: SimTransaction): void {
    const { txHash } = transaction
    const isIn = this.#blocks.some(({ included }) =>
      included.some((one) => one.transaction.txHash === txHash),
    )
    if (!isIn) this.#pool.set(txHash, transaction)
  }

  mine(): void {
    const seconds = Math.floor((EPOCH_MS + this.#kernel.nowMs) / 1_000)
    const number = this.#blocks.length
    const taken: SimTransaction[] = []
    for (const transaction of this.#pool.values()) {
      const isOver = seconds >= transaction.validBeforeSeconds
      if (!isOver && this.isTroubled && this.#kernel.chance(0.3)) continue
      this.#pool.delete(transaction.txHash)
      if (!isOver) taken.push(transaction)
    }
    const included = taken.map((transaction) => {
      const isRefused = this.isTroubled && transaction.memo !== null && this.#kernel.chance(0.05)
      if (!isRefused) this.#everMined.add(transaction.txHash)
      return { transaction, succeeded: !isRefused }
    })
    this.#blocks.push({ number, hash: keccak256(toHex(`${number}/${this.#forks}`)), seconds, included })
  }

  /** Takes back blocks that are not final, now and then. */
  reorg(): void {
    if (!this.isTroubled || !this.#kernel.chance(this.#reorgShare)) return
    const depth = Math.min(this.#kernel.between(1, OPEN_BLOCKS), this.#blocks.length - 1)
    if (depth < 1) return
    this.#forks++
    this.reorgs++
    const dropped = this.#blocks.splice(-depth)
    for (const { included } of dropped)
      for (const { transaction } of included)
        if (this.#kernel.chance(this.#returnShare)) this.#pool.set(transaction.txHash, transaction)
    for (const _ of dropped) this.mine()
  }
}

/** As a receipt has them. */
export function logsOf({ from, to, amount, memo }: SimTransaction, succeeded: boolean): readonly Log[] {
  const transfer = (receiver: `0x${string}`, value: bigint): Log => ({
    address: TOKEN,
    topics: topicsOf(encodeEventTopics({ abi, eventName: 'Transfer', args: { from, to: receiver } })),
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  })
  const fees = memo === null ? [] : [transfer(feeManager, FEE)]
  if (!succeeded) return fees
  if (memo === null) return [transfer(to, amount)]
  const marked = encodeEventTopics({ abi, eventName: 'TransferWithMemo', args: { from, to, memo } })
  const data = encodeAbiParameters([{ type: 'uint256' }], [amount])
  return [transfer(to, amount), { address: TOKEN, topics: topicsOf(marked), data }, ...fees]
}

const topicsOf = (topics: readonly unknown[]): readonly string[] => topics.map(String)
