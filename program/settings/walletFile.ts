/** The operator's file of the wallet: its key, where it pays, and how much. */
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import { amountOf } from '#money/amounts.ts'
import type { WalletLimits } from '#rows/jobs/wallet.ts'

export interface WalletSettings {
  /** File of the private key. */
  readonly keyFile: string
  readonly limits: WalletLimits
  /** Below this an alarm is raised; in the smallest unit of quotes. */
  readonly lowUnits: bigint
  /** Chains that are not indexed here, beside those that are. */
  readonly chains: readonly { readonly chainId: number; readonly rpcUrls: readonly string[] }[]
}

const dollars = s.optional(
  s.text({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', description: 'dollars, such as "2.50"' }),
)
const rpcUrl = s.text({ pattern: '^https?://', maxLength: 2_048, description: 'an http(s) URL' })

const fileSchema = s.object({
  keyFile: s.text({ minLength: 1, description: 'a path' }),
  limits: s.optional(
    s.object({ job: dollars, day: dollars, service: dollars, payee: dollars, payer: dollars }),
  ),
  lowBelow: dollars,
  chains: s.optional(
    s.array(
      s.object({
        chainId: s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' }),
        rpcUrls: s.array(rpcUrl, { minItems: 1, maxItems: 8 }),
      }),
      { maxItems: 16 },
    ),
  ),
})

const readFile = settingFile(fileSchema)

/** Dollars: little enough that a mistake is cheap, for a job and for a day. */
const limitDefaults = { job: '5', day: '50', service: '25', payee: '25' } as const
const LOW_BELOW_DEFAULT = '5'

/** One payer's part of the day, so that his own seller uses up the day of nobody else. */
const PAYERS_PER_DAY = 4n

/** Decimals of the currency of quotes. */
const DECIMALS = 6
const unitsOf = (text: string): bigint => amountOf(text, 1, DECIMALS)

type GivenLimits = Partial<Record<keyof typeof limitDefaults | 'payer', string>>

export function limitsOf(given: GivenLimits = {}): WalletLimits {
  const { job, day, service, payee, payer } = { ...limitDefaults, ...given }
  const [jobUnits, dayUnits] = [unitsOf(job), unitsOf(day)]
  const share = dayUnits / PAYERS_PER_DAY
  return {
    ...{ jobUnits, dayUnits },
    serviceUnits: unitsOf(service),
    payeeUnits: unitsOf(payee),
    payerUnits: payer !== undefined ? unitsOf(payer) : share > jobUnits ? share : jobUnits,
  }
}

/** @throws SettingError naming `setting` and the field */
export function readWalletFile(setting: string, path: string): WalletSettings {
  const { keyFile, limits, lowBelow = LOW_BELOW_DEFAULT, chains = [] } = readFile(setting, path)
  return { keyFile, limits: limitsOf(limits), lowUnits: unitsOf(lowBelow), chains }
}
