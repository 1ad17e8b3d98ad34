/** An address's balance of one token. */
import * as s from '#http/schema.ts'
import { formattedAmount, formattedSchema } from './formattedAmount.ts'
import { presentTokenSummary, tokenSummarySchema } from './token.ts'
import type { TokenName } from './tokenNames.ts'

/** On what is not told by logs alone; absent elsewhere. */
export const approximateSchema = s.boolean({
  description:
    'true: the amount is only what the logs sum up to. The transfers of the account once summed up to less than nothing, or the token’s contract told another balance of a large holder when it was asked. Absent elsewhere.',
})

export const balanceSchema = s.named('Balance', {
  id: s.text({ description: 'The token.' }),
  amount: s.amount,
  formatted: formattedSchema,
  approximate: s.optional(approximateSchema),
  feeEligible: s.optional(
    s.boolean({ description: 'Whether fees can be paid in the token; absent while that is not known.' }),
  ),
  token: tokenSummarySchema,
})

export interface Balance {
  readonly token: string
  readonly balance: bigint
  readonly approximate: boolean
  readonly name: TokenName | undefined
  readonly feeEligible: boolean | undefined
}

/** Name of a contract that moves amounts and does not say what it is called. */
const unnamed: TokenName = {
  name: '',
  symbol: '',
  currency: '',
  decimals: null,
  logoUri: null,
  verified: false,
}

export function presentBalance({
  token,
  balance,
  approximate,
  name = unnamed,
  feeEligible,
}: Balance): s.Static<typeof balanceSchema> {
  return {
    id: token,
    amount: `${balance}`,
    formatted: formattedAmount(balance, name.decimals),
    ...(approximate && { approximate }),
    ...(feeEligible !== undefined && { feeEligible }),
    token: presentTokenSummary(token, name),
  }
}
