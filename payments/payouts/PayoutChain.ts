/** The chain that payouts go to: transactions signed for it, sent to it and looked for on it. */
import {
  decodeFunctionResult,
  encodeFunctionData,
  isAddressEqual,
  keccak256,
  type PrivateKeyAccount,
  parseEventLogs,
  toHex,
} from 'viem'
import { Abis, Addresses, Transaction } from 'viem/tempo'
import { failure, messageOf } from '#errors.ts'
import { isRecord, shorten } from '#primitives.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Ask, type Found, type Log, lookFor, type Sought } from '../chain/lookFor.ts'

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

/** What the chain took for a transaction. */
export interface Fee {
  readonly fee: bigint
  readonly feeCurrency: string
}

/** Below the 30 seconds that a transaction without a nonce may be valid for. */
const VALID_SECONDS = 25
/** Nonces of this lane do not count: payouts wait for no other. */
const EXPIRING_LANE = 2n ** 256n - 1n
/** A balance that was never there before costs more than nodes estimate. */
const GAS = 1_500_000n
/** Gas is priced in attodollars; tokens have six decimals. */
const ATTO_PER_UNIT = 10n ** 12n

/** The payout cannot be sent now; its message says why. */
export class PayoutRefusedError extends failure('PayoutRefusedError', 'payout_refused', 'retry') {}

export class PayoutChain {
  readonly #options: PayoutChainOptions

  constructor(options: PayoutChainOptions) {
    this.#options = options
  }

  get chainId(): number {
    return this.#options.chainId
  }

  /** The next transaction of a payout; nothing is sent. @throws PayoutRefusedError */
  async sign({ id, attempt, ...payout }: Payout): Promise<SignedTransaction> {
    const { chainId, account } = this.#options
    const currency = hexOf(payout.currency)
    // Two payouts of one amount to one account within a second would be the same transaction.
    const memo = keccak256(toHex(`${id}/${attempt + 1}`))
    const args = [hexOf(payout.to), payout.amount, memo] as const
    const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transferWithMemo', args })
    await this.#tryOut(currency, data)
    const maxFeePerGas = 2n * BigInt(String(await this.#ask('eth_gasPrice', [])))
    const feeToken = await this.#feeTokenFor(currency, payout.amount, (GAS * maxFeePerGas) / ATTO_PER_UNIT)
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

  look(sought: Sought): Promise<Found> {
    return lookFor(this.#options.nodes, sought)
  }

  /** By the transfer to the chain's fee manager. */
  feeIn(logs: readonly Log[]): Fee {
    const { account } = this.#options
    const [paid] = transfersIn(logs).filter(
      ({ from, to }) => isAddressEqual(from, account.address) && isAddressEqual(to, Addresses.feeManager),
    )
    return paid ? { fee: paid.amount, feeCurrency: paid.token } : { fee: 0n, feeCurrency: '0x' }
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
      if ((await this.#balanceOf(token)) >= needed) return token
    }
    throw new PayoutRefusedError(`the account has less than ${feeMax} units of a token left for fees`)
  }

  async #balanceOf(token: `0x${string}`): Promise<bigint> {
    const asked = { abi: Abis.tip20, functionName: 'balanceOf' } as const
    const data = encodeFunctionData({ ...asked, args: [this.#options.account.address] })
    const told = await this.#ask('eth_call', [{ to: token, data }, 'latest'])
    return decodeFunctionResult({ ...asked, data: hexOf(String(told)) })
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

export interface Transfer {
  readonly token: `0x${string}`
  readonly from: `0x${string}`
  readonly to: `0x${string}`
  readonly amount: bigint
}

/** Those of standard tokens, in their order. */
function transfersIn(logs: readonly Log[]): readonly Transfer[] {
  const parsed = parseEventLogs({
    abi: Abis.tip20,
    eventName: 'Transfer',
    logs: logs.map(({ address, topics: [topic, ...rest], data }) => ({
      ...{ address: hexOf(address), data: hexOf(data) },
      topics: topic === undefined ? [] : [hexOf(topic), ...rest.map(hexOf)],
      ...{ blockHash: null, blockNumber: null, logIndex: null, removed: false },
      ...{ transactionHash: null, transactionIndex: null },
    })),
  })
  return parsed.map(({ address, args }) => ({ token: address, ...args }))
}

/** One line, without the request that viem adds. */
const textOf = (error: unknown): string => shorten(messageOf(error).split('\n')[0] ?? '', 200)

const hexOf = (text: string): `0x${string}` => `0x${text.slice(2)}`
