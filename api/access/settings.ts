/** An operator's decisions about access, and the file that holds the finer parts of them. */
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import type { ChainPrices, UnitPrices } from '#payments/Prices.ts'
import { dollars, type PaymentSettings, paymentSettings, paymentsFile } from './paymentSettings.ts'
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
  /** The URL by which people reach the service; null if nobody set one. */
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
  readonly prices: UnitPrices
  readonly chainPrices: ChainPrices
  /** The settings of payments; null if nobody set them. */
  readonly payments: PaymentSettings | null
}

const quota = s.optional(s.integer({ minimum: 1, maximum: 1_000_000_000 }))

/** Given by people to their keys unless the file says which. */
const decidedScopes = ['webhooks:read', 'webhooks:write'] as const

/** One for every way to pay, or one for sessions beside that of charges. */
const price = s.optional(s.union([dollars, s.object({ charge: dollars, session: dollars })]))

const reads = { 'data:read': price, 'indexer:query': price }

const fileSchema = s.object({
  prices: s.optional(s.object({ ...reads, 'webhooks:write': price })),
  chainPrices: s.optional(s.record(s.object(reads))),
  payments: s.optional(paymentsFile),
  quotas: s.optional(s.object({ key: quota, organization: quota, address: quota, person: quota })),
  signUp: s.optional(s.oneOf(['invited', 'open'])),
  issuableScopes: s.optional(s.array(s.oneOf(decidedScopes), { maxItems: 2 })),
})

const readFile = settingFile(fileSchema)

const quotaDefaults: QuotaSizes = { key: 100, organization: 1_000, address: 20, person: 60 }

/**
 * Reads are no dearer than a thousandth of a dollar, which is what others ask, and out of a deposit, which
 * no transaction is sent for, a fiftieth of that. A subscription to events runs for 30 days.
 */
const pricesDefault: UnitPrices = {
  'data:read': { charge: '0.0005', session: '0.00001' },
  'indexer:query': { charge: '0.001', session: '0.001' },
  'webhooks:write': { charge: '0.1', session: '0.1' },
}

type FileSettings = Pick<
  AccessSettings,
  'quotas' | 'signUp' | 'issuableScopes' | 'prices' | 'chainPrices' | 'payments'
>

export const fileDefaults: FileSettings = {
  quotas: quotaDefaults,
  signUp: 'invited',
  issuableScopes: selfServeScopes,
  prices: pricesDefault,
  chainPrices: new Map(),
  payments: null,
}

/** @throws SettingError naming `setting` and the field */
export function readAccessFile(setting: string, path: string): FileSettings {
  const file = readFile(setting, path)
  const {
    quotas,
    signUp = 'invited',
    issuableScopes = decidedScopes,
    prices,
    chainPrices = {},
    payments,
  } = file
  return {
    prices: { ...pricesDefault, ...unitPrices(prices) },
    chainPrices: new Map(
      Object.entries(chainPrices).map(([id, own]) => [chainIdIn(setting, id), unitPrices(own)]),
    ),
    payments: payments ? paymentSettings(setting, payments) : null,
    quotas: { ...quotaDefaults, ...quotas },
    signUp,
    issuableScopes: [
      ...selfServeScopes.filter((scope) => !decidedScopes.some((decided) => decided === scope)),
      ...issuableScopes,
    ],
  }
}

/** @throws SettingError */
function chainIdIn(setting: string, id: string): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw new SettingError(setting, `chainPrices: expected ids of chains, and not ${JSON.stringify(id)}`)
}

/** A price that stands alone is for every way to pay. */
const unitPrices = (prices: Readonly<Record<string, string | UnitPrices[string]>> = {}): UnitPrices =>
  Object.fromEntries(
    Object.entries(prices).map(([scope, each]) => [
      scope,
      typeof each === 'string' ? { charge: each, session: each } : each,
    ]),
  )
