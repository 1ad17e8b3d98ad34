/** The payees and ways of payments, in the file of access. */
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { address } from '#primitives.ts'

export interface PaymentSettings {
  readonly chainId: number
  readonly recipient: `0x${string}`
  /** Lowercase addresses of tokens that are worth a dollar each. */
  readonly currencies: readonly `0x${string}`[]
  /** How refunds and rewards are sent; null where they stay queued. */
  readonly payouts: PayoutSettings | null
  /** The account that pays fees of payers and settles channels; null where payers pay, without sessions. */
  readonly sponsor: SponsorSettings | null
  /** Exact payments of x402 beside; null for none. */
  readonly x402: X402Settings | null
  /** Rewards of reviews of jobs; null if there are none. */
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

export interface SponsorSettings {
  /** Path of the private key; only its owner may read the file. */
  readonly keyFile: string
  /** Dollars of fees that are paid for others within a day, as decimal text. */
  readonly dollarsPerDay: string
  /** Dollars in a payment channel from which on it is settled, as decimal text. */
  readonly unsettledDollars: string
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
  /** Path of its private key; only its owner may read the file. */
  readonly keyFile: string
  /** Coins of the chain, as decimal text. */
  readonly feesPerDay: string
}

export const dollars = s.text({
  pattern: '^\\d{1,9}(\\.\\d{1,18})?$',
  description: 'dollars, such as "0.0005"',
})
const addressText = s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'an address' })
const chainId = s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' })
const httpUrl = s.text({ pattern: '^https?://', description: 'an http or https URL' })
const keyFile = s.text({ minLength: 1, description: 'the path of a file' })
const coins = s.text({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$', description: 'coins, such as "0.01"' })
/** More would not fit into one challenge. */
const CURRENCIES_MAX = 4
/** Sent out in a day unless the file says more. */
const DOLLARS_PER_DAY = '10'
/** For fees of others, and in a channel before it is settled. */
export const sponsorDefaults = { dollarsPerDay: '1', unsettledDollars: '1' }
/** Owed as rewards in a day unless the file says more. */
export const rewardDefaults: Omit<RewardSettings, 'share'> = { dollarsPerDay: '10', dollarsPerPayer: '1' }
/** Some thousands of transfers on a rollup. */
const FEES_PER_DAY = '0.01'

const x402File = s.object({
  chainId,
  rpcUrl: httpUrl,
  asset: addressText,
  recipient: s.optional(addressText),
  facilitatorUrl: s.optional(httpUrl),
  keyFile: s.optional(keyFile),
  feesPerDay: s.optional(coins),
})

const share = s.text({
  pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$',
  description: 'a share from "0" to "1"',
})

export const paymentsFile = s.object({
  chainId,
  recipient: addressText,
  currencies: s.array(addressText, { minItems: 1, maxItems: CURRENCIES_MAX }),
  payouts: s.optional(s.object({ keyFile, dollarsPerDay: s.optional(dollars) })),
  sponsor: s.optional(
    s.object({ keyFile, dollarsPerDay: s.optional(dollars), unsettledDollars: s.optional(dollars) }),
  ),
  x402: s.optional(x402File),
  rewards: s.optional(
    s.object({ share, dollarsPerDay: s.optional(dollars), dollarsPerPayer: s.optional(dollars) }),
  ),
})

/** @throws SettingError naming `setting` and the field */
export function paymentSettings(setting: string, file: s.Static<typeof paymentsFile>): PaymentSettings {
  const { recipient, currencies, payouts, sponsor, x402, rewards } = file
  return {
    chainId: file.chainId,
    recipient: address(recipient),
    currencies: [...new Set(currencies.map(address))],
    payouts: payouts ? { dollarsPerDay: DOLLARS_PER_DAY, ...payouts } : null,
    sponsor: sponsor ? { ...sponsorDefaults, ...sponsor } : null,
    x402: x402 ? x402Settings(setting, x402, recipient) : null,
    rewards: rewards ? { ...rewardDefaults, ...rewards } : null,
  }
}

function x402Settings(setting: string, file: s.Static<typeof x402File>, payee: string): X402Settings {
  const { asset, recipient = payee, facilitatorUrl: url, keyFile: path, feesPerDay = FEES_PER_DAY } = file
  const of = {
    chainId: file.chainId,
    rpcUrl: file.rpcUrl,
    asset: address(asset),
    recipient: address(recipient),
  }
  if (url !== undefined && path === undefined) return { ...of, facilitator: { url } }
  if (url === undefined && path !== undefined) return { ...of, facilitator: { keyFile: path, feesPerDay } }
  throw new SettingError(setting, 'payments.x402: names one of facilitatorUrl and keyFile')
}
