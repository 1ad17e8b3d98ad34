/** The chain that payouts go to: transactions signed for it, sent to it and looked for on it. */
import { decodeFunctionResult, encodeFunctionData, keccak256, type PrivateKeyAccount } from 'viem'
import { Abis, Transaction } from 'viem/tempo'
import { messageOf } from '#errors.ts'
import { ATTO_PER_MILLIONTH, smaller } from '#money/amounts.ts'
import { memoOf } from '#money/debtMemo.ts'
import { type Fee, feeOf } from '#money/fees.ts'
import type { Ask } from '#money/node.ts'
import { type Log, lookForTx, type Sought, type TxFate } from '#money/settled.ts'
import { priceWithin, risen, statedFeeAt, transferFeeAt } from '#money/statedFee.ts'
import { isRecord, lowercased, shorten } from '#primitives.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type FeeTo, PayoutRefusedError, type PayoutSender } from './PayoutSender.ts'

export interface PayoutChainOptions {
  readonly chainId: number
  /** The one that money is sent from. */
  readonly account: PrivateKeyAccount
  /** Each node by itself, since one that lags is not to be taken for the chain. */
  readonly nodes: readonly Ask[]
  /** Tokens that fees may be paid in; the first that there is enough of is. */
  readonly feeTokens: readonly `0x${string}`[]
  readonly clock: Clock
}

/** Below the 30 seconds that a transaction without a nonce may be valid for. */
const VALID_SECONDS = 25
/** Nonces of this lane do not count: payouts wait for no other. */
const EXPIRING_LANE = 2n ** 256n - 1n
/** A node that has it already refuses it at no cost. */
const RESEND_MS = 1_000
/** A balance that was never there before costs more than nodes estimate. */
const GAS = 1_500_000n

export class PayoutChain implements PayoutSender {
  readonly resendMs = RESEND_MS
  readonly #options: PayoutChainOptions

  constructor(options: PayoutChainOptions) {
    this.#options = options
  }

  get chainId(): number {
    return this.#options.chainId
  }

  /** The next transaction of a payout; nothing is sent. @throws PayoutRefusedError */
  async sign(payout: Payout, feeMax: bigint | null): Promise<SignedTransaction> {
    const { chainId, account } = this.#options
    const currency = lowercased(payout.currency)
    const args = [lowercased(payout.to), payout.total, memoOf(payout, payout.attempt + 1)] as const
    const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transferWithMemo', args })
    await this.#tryOut(currency, data)
    const maxFeePerGas = await this.#priceMax(payout, feeMax)
    const feeToken = await this.#feeTokenFor(
      currency,
      payout.total,
      (GAS * maxFeePerGas) / ATTO_PER_MILLIONTH,
    )
    const validBefore = (await this.#nowSeconds()) + VALID_SECONDS
    const raw = await account.signTransaction(
      {
        ...{ type: 'tempo', chainId, calls: [{ to: currency, data }], feeToken },
        ...{ nonceKey: EXPIRING_LANE, nonce: 0, validBefore },
        ...{ gas: GAS, maxFeePerGas, maxPriorityFeePerGas: 0n },
      },
      { serializer: Transaction.serialize },
    )
    return { raw, txHash: keccak256(raw), validBeforeSeconds: validBefore }
  }

  /** Hands the bytes to every node. What comes of it is looked for: an answer is not waited for. */
  async send({ raw }: SignedTransaction): Promise<void> {
    await Promise.allSettled(this.#options.nodes.map((ask) => ask('eth_sendRawTransaction', [raw])))
  }

  look(sought: Sought): Promise<TxFate> {
    return this.lookAt(sought)
  }

  lookAt(sought: Sought): Promise<TxFate> {
    return lookForTx(this.#options.nodes, sought)
  }

  /** All tokens that are paid in are dollars of six decimals. */
  async statedFee(): Promise<bigint> {
    return statedFeeAt(await this.#gasPrice())
  }

  async feeTo(debt: Pick<Payout, 'currency' | 'to'>): Promise<FeeTo> {
    const isToHolder = await this.#isToHolder(debt)
    const price = await this.#gasPrice()
    return { now: transferFeeAt(price, isToHolder), most: transferFeeAt(risen(price), isToHolder) }
  }

  /** By the transfer to the chain's fee manager. */
  feeIn(logs: readonly Log[]): Fee {
    return feeOf(this.#options.account.address, logs)
  }

  /** By the chain's clock, which goes ahead of ours or stands still between blocks. */
  async #nowSeconds(): Promise<number> {
    const last = await this.#ask('eth_getBlockByNumber', ['latest', false])
    const seconds = isRecord(last) ? Number(last['timestamp']) : Number.NaN
    if (!Number.isSafeInteger(seconds)) throw new PayoutRefusedError('the node tells no newest block')
    return Math.max(seconds, Math.floor(this.#options.clock.now() / 1_000))
  }

  /** @throws PayoutRefusedError where the token would not move it */
  async #tryOut(to: `0x${string}`, data: `0x${string}`): Promise<void> {
    const from = this.#options.account.address
    try {
      await this.#ask('eth_call', [{ from, to, data }, 'latest'])
    } catch (cause) {
      throw new PayoutRefusedError(`the token would not move it: ${textOf(cause)}`, { cause })
    }
  }

  /** @throws PayoutRefusedError where nothing is left for fees */
  async #feeTokenFor(currency: `0x${string}`, amount: bigint, feeMax: bigint): Promise<`0x${string}`> {
    for (const token of this.#options.feeTokens) {
      const needed = token === currency ? amount + feeMax : feeMax
      if ((await this.#balanceOf(token, this.#options.account.address)) >= needed) return token
    }
    throw new PayoutRefusedError(`the account has less than ${feeMax} units of a token left for fees`)
  }

  /** The highest price that is signed for, in attodollars for a unit of gas. */
  async #priceMax(payout: Payout, feeMax: bigint | null): Promise<bigint> {
    const price = risen(await this.#gasPrice())
    if (feeMax === null) return price
    return smaller(price, priceWithin(feeMax, await this.#isToHolder(payout)))
  }

  async #isToHolder({ currency, to }: Pick<Payout, 'currency' | 'to'>): Promise<boolean> {
    return (await this.#balanceOf(lowercased(currency), lowercased(to))) > 0n
  }

  async #balanceOf(token: `0x${string}`, holder: `0x${string}`): Promise<bigint> {
    const asked = { abi: Abis.tip20, functionName: 'balanceOf' } as const
    const data = encodeFunctionData({ ...asked, args: [holder] })
    const told = await this.#ask('eth_call', [{ to: token, data }, 'latest'])
    return decodeFunctionResult({ ...asked, data: lowercased(String(told)) })
  }

  async #gasPrice(): Promise<bigint> {
    return BigInt(String(await this.#ask('eth_gasPrice', [])))
  }

  /** The first node that answers; what only concerns this try may come from any. */
  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    let last: unknown = new PayoutRefusedError('there is no node')
    for (const ask of this.#options.nodes) {
      try {
        return await ask(method, params)
      } catch (error) {
        last = error
      }
    }
    throw last
  }
}

/** One line, without the request that viem adds. */
const textOf = (error: unknown): string => shorten(messageOf(error).split('\n')[0] ?? '', 200)
