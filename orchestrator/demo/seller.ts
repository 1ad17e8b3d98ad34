/** A seller that comes with the program: how the catalog lists it, and what it does for its money. */

/**
 * The price of a call, in dollars, and its way of payment: by a charge, and by a session or x402 beside it.
 */
export interface DemoPrice {
  readonly kind: 'charge' | 'session' | 'x402'
  readonly amount: string
}

type Json = Readonly<Record<string, unknown>>

export interface SellerAnswer {
  readonly status: number
  readonly body: unknown
}

/** An endpoint as the catalog lists it, with its price and its work. */
export interface SellerEndpoint {
  readonly method: 'GET' | 'POST'
  /** Template with `:name`. */
  readonly path: string
  /** Further fields of the catalog. */
  readonly listing: Json
  /** Null for what costs nothing. A price by input is a function. */
  readonly price: DemoPrice | ((input: Json) => DemoPrice) | null
  /** The problem of an input, told before a price is; null for none. */
  readonly problemOf?: (input: Json) => string | null
  readonly answer: (input: Json, parameters: Readonly<Record<string, string>>) => SellerAnswer
}

export interface Seller {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly categories: readonly string[]
  readonly endpoints: readonly SellerEndpoint[]
}

export const ok = (body: unknown): SellerAnswer => ({ status: 200, body })
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')
