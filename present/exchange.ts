/** Prices, and the two tokens of a pair, as all answers of the exchange show them. */
import * as s from '#http/schema.ts'
import { presentTokenReference, tokenReferenceSchema } from './token.ts'
import type { TokenName } from './tokenNames.ts'

/** Names of tokens that were asked for with `include=tokens`. */
export type Names = ReadonlyMap<string, TokenName>

export const noNames: Names = new Map()

/** Hundred-thousandths: the unit of ticks, and what five decimals can say. */
const SCALE = 100_000n
const DECIMALS = 5

/** Quote per base of a tick, exactly. */
export const presentPrice = (tick: number): string => decimalOf(SCALE + BigInt(tick))

/** A quotient with five decimals, rounded half up; of nothing given none is got. */
export const presentRate = (numerator: bigint, denominator: bigint): string =>
  decimalOf(denominator === 0n ? 0n : (2n * SCALE * numerator + denominator) / (2n * denominator))

/** The taker's rate of an order: the price of a bid, its inverse for an ask. */
export const presentOrderRate = (tick: number, isBid: boolean): string =>
  isBid ? presentPrice(tick) : presentRate(SCALE, SCALE + BigInt(tick))

function decimalOf(hundredThousandths: bigint): string {
  const digits = `${hundredThousandths}`.padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}

export const priceSchema = s.text({
  pattern: '^[0-9]+\\.[0-9]{5}$',
  description: 'Quote per base.',
  examples: ['1.00010'],
})
export const rateSchema = s.text({
  pattern: '^[0-9]+\\.[0-9]{5}$',
  description: 'What the taker gets for what he gives.',
  examples: ['0.99990'],
})

export const pairTokensSchema = s.object({
  key: s.hash,
  base: tokenReferenceSchema,
  quote: tokenReferenceSchema,
})

export interface PairTokens {
  readonly key: string
  readonly base: string
  readonly quote: string
}

export const presentPairTokens = ({ key, base, quote }: PairTokens, names: Names) => ({
  key,
  base: presentTokenReference(base, names.get(base)),
  quote: presentTokenReference(quote, names.get(quote)),
})
