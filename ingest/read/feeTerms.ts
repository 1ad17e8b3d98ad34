/**
 * Other chains' words on a fee in receipts, beside gas and its price. No root covers any of it, so a value
 * that cannot be read is no reason to refuse its block: it stays as `unreadable`, and the fee is unknown.
 */
import type { Hex } from '#primitives.ts'
import { DIGITS256, isAbsent } from './shape.ts'
import { spelledQuantity } from './spelling.ts'

export const feeTermNames = [
  /** OP Stack since Isthmus, where either is not zero. */
  'operatorFeeScalar',
  'operatorFeeConstant',
  /** OP Stack since Jovian. */
  'daFootprintGasScalar',
  /** Mantle: units of its coin for one of Ethereum's. */
  'tokenRatio',
  /** Arbitrum: the part of `gasUsed` that the data on the chain below is charged as. */
  'gasUsedForL1',
  /** Morph: number of the token the fee was paid in; zero for the coin. */
  'feeTokenID',
] as const

type FeeTermName = (typeof feeTermNames)[number]

/** Those that the receipt has; null is as absent. */
export type FeeTerms = { readonly [Name in FeeTermName]?: Hex | 'unreadable' }

/** The fields as a node gave them, not checked. */
export type ToldFeeTerms = { readonly [Name in FeeTermName]?: unknown }

/** Null where a receipt has none of them, as on most chains. */
export function feeTermsOf(receipt: ToldFeeTerms): FeeTerms | null {
  let terms: { [Name in FeeTermName]?: Hex | 'unreadable' } | null = null
  for (const name of feeTermNames) {
    const value = receipt[name]
    if (isAbsent(value)) continue
    terms ??= {}
    terms[name] = termOf(value) ?? 'unreadable'
  }
  return terms
}

function termOf(value: unknown): Hex | null {
  const quantity = spelledQuantity(value)
  return quantity !== null && quantity.length <= 2 + DIGITS256 ? quantity : null
}
