/** What an operator decides about access, and the file that holds the finer parts of it. */
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
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
  /** Exact payments of x402 beside; null for none. */
  readonly x402: X402Settings | null
}

export interface X402Settings {
  readonly chainId: number
  /** Node of the chain. */
  readonly rpcUrl: string
  /** Lowercase address of a token with EIP-3009 that is worth a dollar. */
  readonly asset: `0x${string}`
  readonly recipient: `0x${string}`
  /** A service that sends, or an account of ours. */
  readonly facilitator: { readonly url: string } | FeePayer
}

/** An account of ours that pays fees of others' payments. */
export interface FeePayer {
  /** A file with its private key. */
  readonly keyFile: string
  /** Coins of the chain, as decimal text. */
  readonly feesPerDay: string
}

const quota = s.optional(s.integer({ minimum: 1, maximum: 1_000_000_000 }))

/** Given by people to their keys unless the file says which. */
const decidedScopes = ['webhooks:read', 'webhooks:write'] as const

const price = s.optional(
  s.text({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$', description: 'dollars, such as "0.0005"' }),
)
const httpUrl = s.text({ pattern: '^https?://', description: 'an http or https URL' })
const address = s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'an address' })
/** More would not fit into one challenge. */
const CURRENCIES_MAX = 4

const fileSchema = s.object({
  prices: s.optional(s.object({ 'data:read': price, 'indexer:query': price })),
  payments: s.optional(
    s.object({
      chainId: s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' }),
      recipient: address,
      currencies: s.array(address, { minItems: 1, maxItems: CURRENCIES_MAX }),
      x402: s.optional(
        s.object({
          chainId: s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' }),
          rpcUrl: httpUrl,
          asset: address,
          recipient: s.optional(address),
          facilitatorUrl: s.optional(httpUrl),
          keyFile: s.optional(s.text({ minLength: 1, description: 'the path of a file' })),
          feesPerDay: price,
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

/** Some thousands of transfers on a rollup. */
const FEES_PER_DAY_DEFAULT = '0.01'
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
          recipient: lowered(payments.recipient),
          currencies: [...new Set(payments.currencies.map(lowered))],
          x402: payments.x402 ? x402Of(setting, payments.x402, payments.recipient) : null,
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

type X402File = NonNullable<NonNullable<ReturnType<typeof readFile>['payments']>['x402']>

function x402Of(setting: string, file: X402File, payee: string): X402Settings {
  const { chainId, rpcUrl, asset, recipient = payee, facilitatorUrl, keyFile, feesPerDay } = file
  if ((facilitatorUrl === undefined) === (keyFile === undefined))
    throw new SettingError(setting, 'payments.x402: names one of facilitatorUrl and keyFile')
  return {
    ...{ chainId, rpcUrl, asset: lowered(asset), recipient: lowered(recipient) },
    facilitator:
      keyFile === undefined
        ? { url: facilitatorUrl ?? '' }
        : { keyFile, feesPerDay: feesPerDay ?? FEES_PER_DAY_DEFAULT },
  }
}

const lowered = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`
