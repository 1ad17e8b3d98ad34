/** A chain's word on a token with EIP-3009, and on the authorizations that it was given. */
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createClient,
  domainSeparator,
  type Hash,
  type Hex,
  parseAbi,
  parseEventLogs,
  type Transport,
} from 'viem'
import {
  getBlock,
  getChainId,
  getLogs,
  getTransactionReceipt,
  readContract,
  simulateContract,
} from 'viem/actions'
import { isPast } from '#money/settled.ts'
import { decimalsOf } from '#primitives.ts'
import { NotOfferedError } from '../PaymentMethod.ts'

const abi = parseAbi([
  'function decimals() view returns (uint8)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function balanceOf(address holder) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
/** An authorization ends by one of these, once. */
const endings = abi.filter(isEnding)

function isEnding<Item extends (typeof abi)[number]>(
  item: Item,
): item is Extract<Item, { name: 'AuthorizationUsed' | 'AuthorizationCanceled' }> {
  return item.name === 'AuthorizationUsed' || item.name === 'AuthorizationCanceled'
}

export interface TokenChainOptions {
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly asset: Address
  readonly transport: Transport
}

/** The token that payers sign for. */
export interface PaymentToken {
  readonly decimals: number
  /** EIP-712 domain. */
  readonly name: string
  readonly version: string
}

export interface SentAuthorization {
  readonly payer: string
  readonly nonce: string
  readonly recipient: string
  readonly amount: bigint
  readonly validBeforeSeconds: number
  /** Null where nobody has told it. */
  readonly txHash: string | null
}

export type AuthorizationFate =
  | { readonly kind: 'settled'; readonly txHash: string }
  /** It was used for something else, or can be used no more. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'unknown' }

/** An authorization is taken for minutes: before that it was not used. */
const USED_WITHIN_SECONDS = 900

export class TokenChain {
  readonly #options: TokenChainOptions
  readonly #client: ReturnType<typeof createClient>

  constructor(options: TokenChainOptions) {
    this.#options = options
    this.#client = createClient({ transport: options.transport })
  }

  /** @throws NotOfferedError if its authorizations cannot settle */
  async token(): Promise<PaymentToken> {
    const { chainId, asset } = this.#options
    const told = await getChainId(this.#client)
    if (told !== chainId) throw new NotOfferedError(`its node serves chain ${told}`)
    const of = { address: asset, abi } as const
    const [digits, name, version, separator] = await Promise.all([
      readContract(this.#client, { ...of, functionName: 'decimals' }),
      readContract(this.#client, { ...of, functionName: 'name' }),
      readContract(this.#client, { ...of, functionName: 'version' }),
      readContract(this.#client, { ...of, functionName: 'DOMAIN_SEPARATOR' }),
    ]).catch((cause: unknown) => {
      throw new NotOfferedError(`${asset} is no token with EIP-3009`, { cause })
    })
    const decimals = decimalsOf(digits)
    if (decimals === null) throw new NotOfferedError(`${asset} has decimals that no uint8 holds`)
    const domain = { name, version, chainId: BigInt(chainId), verifyingContract: asset }
    if (domainSeparator({ domain }) !== separator)
      throw new NotOfferedError(`${asset} signs by another domain than its name and version`)
    return { decimals, name, version }
  }

  /** In the token's smallest unit. */
  balanceOf(holder: Address): Promise<bigint> {
    return readContract(this.#client, {
      ...{ address: this.#options.asset, abi, functionName: 'balanceOf' },
      args: [holder],
    })
  }

  /** Whether the token lets the account have it. @throws where nobody answers */
  async receives(recipient: Address): Promise<boolean> {
    const asked = { functionName: 'transfer', args: [recipient, 0n], account: recipient } as const
    try {
      await simulateContract(this.#client, { address: this.#options.asset, abi, ...asked })
      return true
    } catch (error) {
      const isAnswer = (cause: unknown) => cause instanceof ContractFunctionRevertedError
      if (error instanceof BaseError && error.walk(isAnswer) !== null) return false
      throw error
    }
  }

  /** Unix seconds of the newest block. */
  async nowSeconds(): Promise<number> {
    const { timestamp } = await getBlock(this.#client, { blockTag: 'latest' })
    return Number(timestamp)
  }

  /**
   * The outcome of an authorization. Each call may reach another replica, some of them late: it
   * failed only if a final block shows that its nonce went elsewhere, or that its time is over.
   * Unknown if no node answers, too.
   */
  async outcomeOf(sent: SentAuthorization): Promise<AuthorizationFate> {
    try {
      if (sent.txHash !== null && (await this.#moved(asHex(sent.txHash), sent)) === 'ours')
        return { kind: 'settled', txHash: sent.txHash }
      // First: a look that comes after sees what this block holds.
      const final = await getBlock(this.#client, { blockTag: 'finalized' })
      if (await this.#isUsed(sent, 'latest')) return await this.#usedBy(sent, final.number)
      const isOver = isPast({ seconds: Number(final.timestamp) }, sent.validBeforeSeconds)
      return { kind: isOver ? 'failed' : 'unknown' }
    } catch {
      return { kind: 'unknown' }
    }
  }

  #isUsed({ payer, nonce }: SentAuthorization, blockTag: 'latest'): Promise<boolean> {
    return readContract(this.#client, {
      ...{ address: this.#options.asset, abi, functionName: 'authorizationState', blockTag },
      args: [asHex(payer), asHex(nonce)],
    })
  }

  /** A used nonce says only that it was used: another transfer may have, or the payer cancelled it. */
  async #usedBy(sent: SentAuthorization, final: bigint): Promise<AuthorizationFate> {
    const [fromBlock, toBlock] = await Promise.all([
      this.#firstBlockFrom(sent.validBeforeSeconds - USED_WITHIN_SECONDS),
      this.#firstBlockFrom(sent.validBeforeSeconds),
    ])
    const told = await Promise.all(
      endings.map((event) =>
        getLogs(this.#client, {
          ...{ address: this.#options.asset, event, fromBlock, toBlock },
          args: { authorizer: asHex(sent.payer), nonce: asHex(sent.nonce) },
        }),
      ),
    )
    const [ended] = told.flat()
    // A replica that lags has no log yet of what another says is used.
    if (!ended) return { kind: 'unknown' }
    const { transactionHash: txHash, blockNumber } = ended
    const moved = await this.#moved(txHash, sent)
    if (moved === 'ours') return { kind: 'settled', txHash }
    return { kind: moved === 'other' && blockNumber <= final ? 'failed' : 'unknown' }
  }

  /** Whether the transaction used this nonce and moved this amount; `absent` if the node has no receipt. */
  async #moved(
    txHash: Hash,
    { payer, nonce, recipient, amount }: SentAuthorization,
  ): Promise<'ours' | 'other' | 'absent'> {
    const receipt = await getTransactionReceipt(this.#client, { hash: txHash }).catch(() => null)
    if (receipt === null) return 'absent'
    const ours = receipt.logs.filter(({ address }) => address.toLowerCase() === this.#options.asset)
    const events = parseEventLogs({ abi, logs: ours })
    const isUsed = events.some(
      ({ eventName, args }) =>
        eventName === 'AuthorizationUsed' && same(args.authorizer, payer) && same(args.nonce, nonce),
    )
    const isMoved = events.some(
      ({ eventName, args }) =>
        eventName === 'Transfer' &&
        same(args.from, payer) &&
        same(args.to, recipient) &&
        args.value === amount,
    )
    return receipt.status === 'success' && isUsed && isMoved ? 'ours' : 'other'
  }

  /** The first block whose time is that or later; the newest where there is none. */
  async #firstBlockFrom(seconds: number): Promise<bigint> {
    let above = (await getBlock(this.#client, { blockTag: 'latest' })).number
    let below = 0n
    while (below < above) {
      const middle = (below + above) / 2n
      const { timestamp } = await getBlock(this.#client, { blockNumber: middle })
      if (Number(timestamp) >= seconds) above = middle
      else below = middle + 1n
    }
    return below
  }
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

export const asHex = (text: string): Hex => `0x${text.slice(2)}`
