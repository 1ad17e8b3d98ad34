/** The currencies that can settle: what the chain itself does not confirm is not offered. */
import { createClient, type Transport } from 'viem'
import { getChainId, readContract } from 'viem/actions'
import { messageOf } from '#errors.ts'
import { decimalsOf } from '#primitives.ts'
import type { Checked } from '../recheck.ts'
import type { Currency } from './TempoCharges.ts'

const decimalsAbi = [
  { type: 'function', name: 'decimals', stateMutability: 'view', inputs: [], outputs: [{ type: 'uint8' }] },
] as const

export interface OffersOptions {
  readonly chainId: number
  readonly currencies: readonly `0x${string}`[]
  readonly transport: Transport
}

export class Offers implements Checked {
  readonly #options: OffersOptions
  #current: readonly Currency[] = []
  #problems: readonly string[] = ['the chain of payments has not been asked yet']

  constructor(options: OffersOptions) {
    this.#options = options
  }

  /** Those that can settle now, in the order of the settings. */
  readonly current = (): readonly Currency[] => this.#current

  /** Why others cannot, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Asks the chain once. */
  async check(): Promise<void> {
    const { chainId, currencies, transport } = this.#options
    const client = createClient({ transport })
    try {
      const told = await getChainId(client)
      if (told !== chainId) throw new Error(`its node serves chain ${told}`)
    } catch (error) {
      this.#current = []
      this.#problems = [`payments on chain ${chainId} cannot settle: ${messageOf(error).split('\n')[0]}`]
      return
    }
    const found = await Promise.all(
      currencies.map(async (address) => {
        const asked = { address, abi: decimalsAbi, functionName: 'decimals' } as const
        return { address, decimals: decimalsOf(await readContract(client, asked).catch(() => null)) }
      }),
    )
    this.#current = found.flatMap(({ address, decimals }) => (decimals === null ? [] : { address, decimals }))
    this.#problems = found.flatMap(({ address, decimals }) =>
      decimals === null ? `payments in ${address} are not offered: it is no token of chain ${chainId}` : [],
    )
  }
}
