/** Payouts as they are signed for the chain and sent to it; what became of them, nodes tell. */
import { keccak256, toHex } from 'viem'
import { memoOf } from '#money/debtMemo.ts'
import { type Fee, feeOf } from '#money/fees.ts'
import type { Ask } from '#money/node.ts'
import { type Log, lookForTx, type Sought, type TxFate } from '#money/settled.ts'
import { PayoutRefusedError, type PayoutSender } from '#payments/payouts/PayoutSender.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'
import type { Kernel, SimProcess } from '../kernel.ts'
import { CHAIN_ID, EPOCH_MS, FEE, PAYEE, type SimChain, type SimTransaction } from './simChain.ts'
import type { WholeBugs } from './wholeBugs.ts'

const line = { latencyMs: [5, 200], tailMs: 8_000 } as const
/** As `payments/payouts/PayoutChain.ts` signs them. */
const VALID_SECONDS = 25

export interface SenderWorld {
  readonly kernel: Kernel
  readonly chain: SimChain
  readonly bugs: WholeBugs
  /** The account has too little as long as faults last: debts wait, and may be taken back. */
  readonly isPoor: boolean
  /** All that was ever signed, by hash. */
  readonly signed: Map<string, SimTransaction>
}

export class SimSender implements PayoutSender {
  readonly chainId = CHAIN_ID
  readonly resendMs = 1_000
  readonly #world: SenderWorld
  readonly #process: SimProcess
  readonly #nodes: readonly Ask[]
  /** Hashes of transactions that this process signed. */
  readonly #own = new Set<string>()

  constructor(world: SenderWorld, process: SimProcess, nodes: readonly Ask[]) {
    this.#world = world
    this.#process = process
    this.#nodes = nodes
  }

  async sign(payout: Payout): Promise<SignedTransaction> {
    const { chain, isPoor, kernel, signed } = this.#world
    if (isPoor && chain.isTroubled) throw new PayoutRefusedError('the account has too little')
    const memo = memoOf(payout, payout.attempt + 1)
    const txHash = keccak256(toHex(`${memo}/${signed.size}`))
    const validBeforeSeconds = Math.floor((EPOCH_MS + kernel.nowMs) / 1_000) + VALID_SECONDS
    const to = `0x${payout.to.slice(2)}` as const
    signed.set(txHash, { ...{ txHash, validBeforeSeconds, from: PAYEE, to, amount: payout.total, memo } })
    const made = { txHash, raw: '0x', validBeforeSeconds }
    this.#own.add(txHash)
    return made
  }

  async send({ txHash }: SignedTransaction): Promise<void> {
    const { kernel, chain, signed } = this.#world
    const transaction = signed.get(txHash)
    if (!transaction) return
    const isLost = chain.isTroubled && kernel.chance(0.1)
    await kernel.call(this.#process, `${this.#process.name} sends`, kernel.travel(line), () => {
      if (!isLost) chain.send(transaction)
    })
  }

  async look(sought: SignedTransaction): Promise<TxFate> {
    const { bugs } = this.#world
    const isForeign = !this.#own.has(sought.txHash)
    if (isForeign && bugs.has('a payout is signed anew after a restart')) return { kind: 'absent' }
    return this.lookAt(sought)
  }

  async lookAt(sought: Sought): Promise<TxFate> {
    const { bugs } = this.#world
    const isOne = bugs.has('one node alone says that a payout is nowhere')
    const found = await lookForTx(isOne ? this.#nodes.slice(-1) : this.#nodes, sought)
    const isEarly = found.kind === 'mined' && bugs.has('a payout is final as soon as a block has it')
    return isEarly ? { ...found, isFinal: true } : found
  }

  async statedFee(): Promise<bigint> {
    return FEE
  }

  async feeTo() {
    return { now: FEE, most: FEE }
  }

  feeIn(logs: readonly Log[]): Fee {
    return feeOf(PAYEE, logs)
  }
}
