/**
 * A token as answers about something else show it: beside an amount, and as the token a fee was
 * paid in.
 */
import * as s from '#http/schema.ts'
import type { TokenName } from './tokenNames.ts'

const currency = s.text({ description: 'What the token stands for, such as USD.', examples: ['USD'] })
/** How every answer says that nobody knows. */
export const decimalsSchema = s.nullable(
  s.integer({
    ...{ minimum: 0, maximum: 255 },
    description: 'Digits of an amount behind the point; null where the contract does not say.',
  }),
)
const verified = s.boolean({ description: "Whether the token is on the operator's list." })

/** A token's name, and what its amounts mean. */
export const tokenSummarySchema = s.named('TokenSummary', {
  id: s.address,
  address: s.address,
  name: s.text(),
  symbol: s.text(),
  currency,
  decimals: decimalsSchema,
  verified,
  logoUri: s.optional(s.text()),
})

export type TokenSummary = s.Static<typeof tokenSummarySchema>

/** A token, and what is known of it. */
export const tokenReferenceSchema = s.named('TokenReference', {
  address: s.address,
  name: s.optional(s.text()),
  symbol: s.optional(s.text()),
  currency: s.optional(currency),
  decimals: s.optional(decimalsSchema),
  verified: s.optional(verified),
  logoUri: s.optional(s.text()),
})

/** An amount of a token; what is known of the token is beside it. */
export const tokenAmountSchema = s.named('TokenAmount', {
  ...tokenReferenceSchema.properties,
  amount: s.amount,
})

/**
 * An amount of a token, or of the chain's own coin: `address` is null there, in every answer, event
 * and table that tells of both.
 */
export const anyAmountSchema = s.named('AnyAmount', {
  ...tokenAmountSchema.properties,
  address: s.nullable(s.address),
})

/** Decimals of the coin on every chain of this kind; its name is not known here. */
const coin: KnownToken = { decimals: 18 }

export const presentCoinAmount = (amount: string, isNamed: boolean): s.Static<typeof anyAmountSchema> => ({
  address: null,
  amount,
  ...(isNamed && fieldsOf(coin)),
})

export function presentTokenSummary(address: string, token: TokenName): TokenSummary {
  return { id: address, address, ...fieldsOf(token) }
}

export const presentTokenReference = (
  address: string,
  token: KnownToken | undefined,
): s.Static<typeof tokenReferenceSchema> => ({ address, ...(token && fieldsOf(token)) })

/** The known facts of a token; a name that imitates another one is left out. */
export type KnownToken = Pick<TokenName, 'decimals'> & Partial<TokenName>

/** A token that was asked about, of which nothing is known. */
export const unknownToken: KnownToken = { decimals: null }

export function presentTokenAmount(
  address: string,
  amount: string,
  token: KnownToken | undefined,
): s.Static<typeof tokenAmountSchema> {
  return { address, amount, ...(token && fieldsOf(token)) }
}

function fieldsOf<Fields extends KnownToken>({ logoUri, ...fields }: Fields) {
  return { ...fields, ...(typeof logoUri === 'string' && { logoUri }) }
}
