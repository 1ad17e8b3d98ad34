/** The currencies that can settle: what the chain itself does not confirm is not offered. */
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createClient,
  type Transport,
} from 'viem'
import { getChainId, readContract, simulateContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { messageOf } from '#errors.ts'
import { askOf } from '#money/node.ts'
import { decimalsOf } from '#primitives.ts'
import { isUnknownMethod } from '../../chain/refusals.ts'
import { SENDS_NOW } from '../../chain/sendCounted.ts'
import { NotOfferedError } from '../PaymentMethod.ts'
import type { Checked } from '../recheck.ts'
import type { Sends } from '../Sends.ts'
import type { Currency } from './TempoChargeMethod.ts'

export interface OffersOptions {
  readonly chainId: number
  readonly recipient: `0x${string}`
  readonly currencies: readonly `0x${string}`[]
  /** Each node by itself, with a bound for its answers: one that is well is enough. */
  readonly nodes: readonly Transport[]
  readonly sends: Pick<Sends, 'areFailing' | 'doubted'>
}

type Client = ReturnType<typeof createClient>

/** A currency, or why it is not offered. */
type Looked = Currency | string

/** The time between two looks at the chain for the accepted tokens. */
const LOOK_MS = 5_000
const DOLLAR = 'USD'
const noNode = new Error('no node is asked by HTTP')

export class Offers implements Checked {
  readonly everyMs = LOOK_MS
  readonly doubted: Sends['doubted']
  readonly #options: OffersOptions
  /** Dollars of the chain, by address: what one is never changes. */
  readonly #tokens = new Map<string, Currency>()
  #current: readonly Currency[] = []
  #problems: readonly string[] = ['the chain of payments has not been asked yet']

  constructor(options: OffersOptions) {
    this.#options = options
    this.doubted = options.sends.doubted
  }

  /** Those that can settle now, in the order of the settings. */
  readonly current = (): readonly Currency[] => (this.#options.sends.areFailing ? [] : this.#current)

  /** Those that the chain has confirmed to be dollars, whether they can settle now or not. */
  readonly tokens = (): readonly Currency[] => [...this.#tokens.values()]

  get isOpen(): boolean {
    return this.#current.length > 0
  }

  /** Why others cannot, a sentence each. */
  get problems(): readonly string[] {
    const { chainId, sends } = this.#options
    const failing = `payments on chain ${chainId} are not offered for a moment: its nodes took none of the last ones`
    return sends.areFailing ? [...this.#problems, failing] : this.#problems
  }

  /** Asks every node once. */
  async check(): Promise<void> {
    const { chainId, nodes } = this.#options
    try {
      const looked = await Promise.any(nodes.map((node) => this.#lookAt(node)))
      this.#current = looked.filter((one) => typeof one !== 'string')
      this.#problems = looked.filter((one) => typeof one === 'string')
    } catch (error) {
      const [first = noNode] = error instanceof AggregateError ? error.errors : [error]
      this.#current = []
      this.#problems = [`payments on chain ${chainId} cannot settle: ${messageOf(first).split('\n')[0]}`]
    }
  }

  /** @throws where the node can settle nothing */
  async #lookAt(node: Transport): Promise<readonly Looked[]> {
    const { chainId, currencies } = this.#options
    const client = createClient({ transport: node })
    const [told] = await Promise.all([getChainId(client), assertSends(node)])
    if (told !== chainId) throw new NotOfferedError(`its node serves chain ${told}`)
    return Promise.all(currencies.map((address) => this.#currencyAt(client, address)))
  }

  async #currencyAt(client: Client, address: `0x${string}`): Promise<Looked> {
    const { chainId, recipient } = this.#options
    const not = (why: string) => `payments in ${address} are not offered: ${why}`
    const found = this.#tokens.get(address) ?? (await whereAnswered(dollarAt(client, address)))
    if (found === null) return not(`it is no token of chain ${chainId}`)
    if (typeof found === 'string') return not(`its currency is ${found.slice(0, 32)}, not ${DOLLAR}`)
    this.#tokens.set(address, found)
    // A transfer of nothing to itself: the token's policy and its pauses are asked all the same.
    const transfer = { functionName: 'transfer', args: [recipient, 0n], account: recipient } as const
    const received = simulateContract(client, { address, abi: Abis.tip20, ...transfer })
    return (await whereAnswered(received)) ? found : not(`${recipient} cannot receive it`)
  }
}

/** The token, or its currency where that is another. @throws where it is none, and where nobody answers */
async function dollarAt(client: Client, address: `0x${string}`): Promise<Currency | string | null> {
  const asked = { address, abi: Abis.tip20 } as const
  const [digits, currency] = await Promise.all([
    readContract(client, { ...asked, functionName: 'decimals' }),
    readContract(client, { ...asked, functionName: 'currency' }),
  ])
  const decimals = decimalsOf(digits)
  if (decimals === null) return null
  return currency === DOLLAR ? { address, decimals } : currency
}

/** Null where the chain itself says no. @throws where the node does not answer */
async function whereAnswered<Told>(asked: Promise<Told>): Promise<Told | null> {
  try {
    return await asked
  } catch (error) {
    const isAnswer = (cause: unknown) =>
      cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError
    if (error instanceof BaseError && error.walk(isAnswer) !== null) return null
    throw error
  }
}

/** Sends what is no transaction: whatever a node says of it, it knows the method. @throws where not */
async function assertSends(node: Transport): Promise<void> {
  await askOf(node)(SENDS_NOW, ['0x']).catch((error: unknown) => {
    if (isUnknownMethod(error)) throw new NotOfferedError(`its node does not know ${SENDS_NOW}`)
  })
}
