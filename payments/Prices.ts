import type { PaymentMethod } from './methods/PaymentMethod.ts'

/** Dollars a unit as decimal text, by scope: of a charge, and out of the deposit of a session. */
export type UnitPrices = Readonly<Record<string, { readonly charge: string; readonly session: string }>>

export interface Priced {
  /** In the order in which they are offered. */
  readonly methods: readonly PaymentMethod[]
  readonly prices: UnitPrices
  /** Scopes whose requests each have a price of their own. */
  readonly priced?: ReadonlySet<string>
  /** Scopes that are sold one by one: channels are for what is cheap and asked for often. */
  readonly single?: ReadonlySet<string>
}

/** What is sold by which method, and for how much. */
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

  methodsFor(scope: string): readonly PaymentMethod[] {
    return this.#priced.methods.filter((method) => this.isPriced(scope) || this.#isSold(scope, method))
  }

  /** Dollars a unit; 0 for what is not sold by units. */
  of(scope: string, { isChannel }: PaymentMethod): string {
    const { prices } = this.#priced
    const price = Object.hasOwn(prices, scope) ? prices[scope] : undefined
    return price?.[isChannel ? 'session' : 'charge'] ?? '0'
  }

  /** Units, at a price that is known. */
  #isSold(scope: string, method: PaymentMethod): boolean {
    const isLeftOut = method.isChannel && this.#priced.single?.has(scope)
    return !isLeftOut && Number(this.of(scope, method)) > 0
  }
}
