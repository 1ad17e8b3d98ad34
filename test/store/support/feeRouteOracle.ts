/**
 * Every fee pool's holdings after each block of a raw chain, transaction by transaction as the fee manager
 * itself does it: the way of a fee is chosen before the transaction runs, against the most that its gas may
 * cost, and what it cost is turned after it ran.
 */
import {
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  toEventSelector,
} from 'viem'
import type { RpcObject } from '../../api/support/oracle.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'

export const feeManager: Hex = '0xfeec000000000000000000000000000000000000'
const pathUsd: Hex = '0x20c0000000000000000000000000000000000000'
const transferTopic = toEventSelector('Transfer(address,address,uint256)')
export const feeAbi = parseAbi([
  'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
  'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
  'event RebalanceSwap(address indexed userToken, address indexed validatorToken, address indexed swapper, uint256 amountIn, uint256 amountOut)',
  'event ValidatorTokenSet(address indexed validator, address indexed token)',
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
])

export const idOf = (userToken: string, validatorToken: string): Hex =>
  keccak256(
    encodeAbiParameters(parseAbiParameters('address, address'), [userToken as Hex, validatorToken as Hex]),
  )

export interface Reserves {
  user: bigint
  validator: bigint
}

/** How a fee was turned; `none`: in no way, so that no block would hold the transaction. */
export type Route = 'same' | 'direct' | 'twoHops' | 'none'

export class FeeRouteOracle {
  readonly pools = new Map<Hex, Reserves>()
  readonly routes: Route[] = []
  readonly #chosen = new Map<string, string>()
  readonly #quotes = new Map<string, string>()
  readonly #twoHopsSince: number

  /** @param twoHopsSince Unix seconds of the first block whose fees may take two hops */
  constructor(twoHopsSince = 0) {
    this.#twoHopsSince = twoHopsSince
  }

  take({ block, receipts }: RecordedBlock): void {
    const header = block as RpcObject
    for (const [index, receipt] of (receipts as RpcObject[]).entries())
      this.#run(header, header['transactions'][index], receipt)
  }

  #run(header: RpcObject, tx: RpcObject, receipt: RpcObject): void {
    const logs: RpcObject[] = receipt['logs']
    const last = logs.at(-1)
    const paid = last?.['topics'][0] === transferTopic && `0x${last['topics'][2]?.slice(26)}` === feeManager
    const mostCost = BigInt(tx['gas']) * BigInt(receipt['effectiveGasPrice'])
    const hops = paid
      ? this.#route(last['address'], header, mostCost / 10n ** 12n + (mostCost % 10n ** 12n === 0n ? 0n : 1n))
      : []
    for (const log of logs) this.#log(log)
    let amount = paid ? BigInt(last['data']) : 0n
    for (const id of hops) {
      const pool = this.pools.get(id) ?? { user: 0n, validator: 0n }
      pool.user += amount
      amount = after(amount)
      pool.validator -= amount
      this.pools.set(id, pool)
    }
  }

  #route(userToken: string, header: RpcObject, most: bigint): readonly Hex[] {
    const validatorToken = this.#chosen.get(header['miner'].toLowerCase()) ?? pathUsd
    const told = (route: Route, ...hops: Hex[]) => {
      this.routes.push(route)
      return hops
    }
    if (userToken === validatorToken) return told('same')
    const holds = (id: Hex, out: bigint) => (this.pools.get(id)?.validator ?? 0n) >= out
    const direct = idOf(userToken, validatorToken)
    if (holds(direct, after(most))) return told('direct', direct)
    const middle = this.#quotes.get(userToken)
    if (Number(header['timestamp']) < this.#twoHopsSince || !middle || middle === validatorToken)
      return told('none')
    const [first, second] = [idOf(userToken, middle), idOf(middle, validatorToken)]
    return holds(first, after(most)) && holds(second, after(after(most)))
      ? told('twoHops', first, second)
      : told('none')
  }

  #log(log: RpcObject): void {
    const [found] = parseEventLogs({ abi: feeAbi, logs: [log as never] })
    if (!found) return
    const { eventName, args, address } = found
    if (eventName === 'TokenCreated')
      this.#quotes.set(args.token.toLowerCase(), args.quoteToken.toLowerCase())
    else if (eventName === 'QuoteTokenUpdate')
      this.#quotes.set(address.toLowerCase(), args.newQuoteToken.toLowerCase())
    else if (eventName === 'ValidatorTokenSet')
      this.#chosen.set(args.validator.toLowerCase(), args.token.toLowerCase())
    else {
      const id = idOf(args.userToken, args.validatorToken)
      const pool = this.pools.get(id) ?? { user: 0n, validator: 0n }
      this.pools.set(id, pool)
      if (eventName === 'Mint') pool.validator += args.amountValidatorToken
      else if (eventName === 'Burn') {
        pool.user -= args.amountUserToken
        pool.validator -= args.amountValidatorToken
      } else {
        pool.user -= args.amountOut
        pool.validator += args.amountIn
      }
    }
  }
}

/** A pool's payout for an amount. */
const after = (amount: bigint): bigint => (amount * 9_970n) / 10_000n
