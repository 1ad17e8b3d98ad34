/**
 * What receipts of other chains tell of a fee beside gas and its price. No root covers any of it, so
 * a value that cannot be read is no reason to refuse its block: it stays as `unreadable`, and the fee
 * is unknown.
 */
import type { Hex } from '#primitives.ts'
import { DIGITS256, isAbsent } from './shape.ts'

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
    terms[name] = isQuantity(value) ? value : 'unreadable'
  }
  return terms
}

const quantityPattern = new RegExp(`^0x[0-9a-f]{1,${DIGITS256}}$`)
const isQuantity = (value: unknown): value is Hex => typeof value === 'string' && quantityPattern.test(value)
