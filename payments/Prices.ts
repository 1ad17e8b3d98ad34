import type { PaymentMethod } from './methods/PaymentMethod.ts'

/** Dollars a unit as decimal text, by scope: of a charge, and out of the deposit of a session. */
export type UnitPrices = Readonly<Record<string, { readonly charge: string; readonly session: string }>>

/** Prices of requests about a chain that has its own, by its id. */
export type ChainPrices = ReadonlyMap<number, UnitPrices>

export interface Priced {
  /** In the order in which they are offered. */
  readonly methods: readonly PaymentMethod[]
  readonly prices: UnitPrices
  /** A chain or scope that is not named costs what it does elsewhere. Default: none. */
  readonly chainPrices?: ChainPrices
  /** Scopes whose requests each have a price of their own. */
  readonly priced?: ReadonlySet<string>
  /** Scopes that are sold one by one: channels are for what is cheap and asked for often. */
  readonly single?: ReadonlySet<string>
}

/** The prices of each thing sold, by method. */
export class Prices {
  readonly #priced: Priced

  constructor(priced: Priced) {
    this.#priced = priced
  }

  /** Whether requests of the scope have a price a unit. */
  sells(scope: string): boolean {
    return this.#priced.methods.some((method) => this.#isSold(scope, method))
  }

  /** Whether each request of the scope has a price of its own. */
  isPriced(scope: string): boolean {
    return this.#priced.priced?.has(scope) === true
  }

  /** @param chainId the chain that is asked about */
  methodsFor(scope: string, chainId?: number): readonly PaymentMethod[] {
    return this.#priced.methods.filter(
      (method) => this.isPriced(scope) || this.#isSold(scope, method, chainId),
    )
  }

  /** Dollars a unit; 0 for what is not sold by units. @param chainId the chain that is asked about */
  of(scope: string, { isChannel }: PaymentMethod, chainId?: number): string {
    const { prices, chainPrices } = this.#priced
    const own = chainId === undefined ? undefined : chainPrices?.get(chainId)
    const named = [own, prices].find((each) => each && Object.hasOwn(each, scope))
    return named?.[scope]?.[isChannel ? 'session' : 'charge'] ?? '0'
  }

  /** Units, at a price that is known. */
  #isSold(scope: string, method: PaymentMethod, chainId?: number): boolean {
    const isLeftOut = method.isChannel && this.#priced.single?.has(scope)
    return !isLeftOut && Number(this.of(scope, method, chainId)) > 0
  }
}
