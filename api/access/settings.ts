/** What an operator decides about access, and the file that holds the finer parts of it. */
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import { address } from '#primitives.ts'
import { selfServeScopes } from './scopes.ts'

/** Units a minute. */
export interface QuotaSizes {
  /** Share of a key, for each scope. */
  readonly key: number
  /** Share of all keys of an organization together. */
  readonly organization: number
  /** Share of a network address, for callers without a key. */
  readonly address: number
  /** Share of a person, for management of organizations and keys. */
  readonly person: number
}

export interface AccessSettings {
  readonly mode: 'open' | 'guarded'
  /** The operator wrote ACCESS=open: everybody may come in, from anywhere. */
  readonly isOpenToAll: boolean
  /** Why it is so, for /status. */
  readonly reason: string
  /** Where people reach the service; null where nobody said. */
  readonly publicUrl: URL | null
  /**
   * Origins whose pages may read answers; null where nobody said. Our own may always, and all where
   * a service that is not for its own machine alone has none.
   */
  readonly corsOrigins: readonly string[] | null
  readonly quotas: QuotaSizes
  /** `invited`: a first sign-in needs an invitation. */
  readonly signUp: 'invited' | 'open'
  /** Scopes that keys made over the API may have. */
  readonly issuableScopes: readonly string[]
  /** Dollars a unit of each scope that is sold, as decimal text. */
  readonly prices: Readonly<Record<string, string>>
  /** Where payments go; null where nobody said. */
  readonly payments: PaymentSettings | null
}

export interface PaymentSettings {
  readonly chainId: number
  readonly recipient: `0x${string}`
  /** Lowercase addresses of tokens that are worth a dollar each. */
  readonly currencies: readonly `0x${string}`[]
  /** How refunds and rewards are sent; null where they stay queued. */
  readonly payouts: PayoutSettings | null
  /** What reviews of jobs are rewarded with; null where they are not. */
  readonly rewards: RewardSettings | null
}

export interface RewardSettings {
  /** Share of what a job earned, as decimal text from 0 to 1. */
  readonly share: string
  /** Dollars owed in each currency within a day, to all and to one payer, as decimal text. */
  readonly dollarsPerDay: string
  readonly dollarsPerPayer: string
}

export interface PayoutSettings {
  /** Path of the private key; only its owner may read the file. */
  readonly keyFile: string
  /** Dollars sent out in each currency within a day, as decimal text. */
  readonly dollarsPerDay: string
}

const quota = s.optional(s.integer({ minimum: 1, maximum: 1_000_000_000 }))

/** Given by people to their keys unless the file says which. */
const decidedScopes = ['webhooks:read', 'webhooks:write'] as const

const dollars = s.text({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$', description: 'dollars, such as "0.0005"' })
const price = s.optional(dollars)
const addressText = s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'an address' })
/** Sent out in a day unless the file says more. */
const DOLLARS_PER_DAY = '10'
/** Owed as rewards in a day unless the file says more. */
export const rewardDefaults: Omit<RewardSettings, 'share'> = { dollarsPerDay: '10', dollarsPerPayer: '1' }
/** More would not fit into one challenge. */
const CURRENCIES_MAX = 4

const fileSchema = s.object({
  prices: s.optional(s.object({ 'data:read': price, 'indexer:query': price })),
  payments: s.optional(
    s.object({
      chainId: s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' }),
      recipient: addressText,
      currencies: s.array(addressText, { minItems: 1, maxItems: CURRENCIES_MAX }),
      payouts: s.optional(
        s.object({ keyFile: s.text({ minLength: 1 }), dollarsPerDay: s.optional(dollars) }),
      ),
      rewards: s.optional(
        s.object({
          share: s.text({
            pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$',
            description: 'a share from "0" to "1"',
          }),
          dollarsPerDay: s.optional(dollars),
          dollarsPerPayer: s.optional(dollars),
        }),
      ),
    }),
  ),
  quotas: s.optional(s.object({ key: quota, organization: quota, address: quota, person: quota })),
  signUp: s.optional(s.oneOf(['invited', 'open'])),
  issuableScopes: s.optional(s.array(s.oneOf(decidedScopes), { maxItems: 2 })),
})

const readFile = settingFile(fileSchema)

const quotaDefaults: QuotaSizes = { key: 100, organization: 1_000, address: 20, person: 60 }

/** No dearer than a thousandth of a dollar: what others ask for such a read. */
const pricesDefault = { 'data:read': '0.0005', 'indexer:query': '0.001' }

type FileSettings = Pick<AccessSettings, 'quotas' | 'signUp' | 'issuableScopes' | 'prices' | 'payments'>

export const fileDefaults: FileSettings = {
  quotas: quotaDefaults,
  signUp: 'invited',
  issuableScopes: selfServeScopes,
  prices: pricesDefault,
  payments: null,
}

/** @throws SettingError naming `setting` and the field */
export function readAccessFile(setting: string, path: string): FileSettings {
  const file = readFile(setting, path)
  const { quotas, signUp = 'invited', issuableScopes = decidedScopes, prices, payments } = file
  return {
    prices: { ...pricesDefault, ...prices },
    payments: payments
      ? {
          chainId: payments.chainId,
          recipient: address(payments.recipient),
          currencies: [...new Set(payments.currencies.map(address))],
          payouts: payments.payouts ? { dollarsPerDay: DOLLARS_PER_DAY, ...payments.payouts } : null,
          rewards: payments.rewards ? { ...rewardDefaults, ...payments.rewards } : null,
        }
      : null,
    quotas: { ...quotaDefaults, ...quotas },
    signUp,
    issuableScopes: [
      ...selfServeScopes.filter((scope) => !decidedScopes.some((decided) => decided === scope)),
      ...issuableScopes,
    ],
  }
}
