/**
 * Limits of money from several files, which must not contradict each other: no job is sold that the
 * wallet may not buy, nor one whose price may not be given back within a day.
 */
import { SettingError } from '#errors.ts'
import { amountOf, decimalText, shareOf } from '#money/amounts.ts'
import type { WalletLimits } from '#rows/jobs/wallet.ts'

export interface MoneyLimits {
  /** JOB_COST_MAX in dollars; null where it is not set. */
  readonly jobCostMax: string | null
  /** COST_MULTIPLIER: a price is what its calls cost, times this. */
  readonly multiplier: string
  /** Limits of the wallet that buys jobs; null where no job is sold. */
  readonly wallet: WalletLimits | null
  /** Dollars sent out a day; null where nothing is, or a dev chain decides. */
  readonly payouts: string | null
}

/** The wallet counts millionths of a dollar. */
const DECIMALS = 6

/** The most that one job may cost, in dollars. @throws SettingError where limits contradict each other */
export function jobCostMaxOf({ jobCostMax, multiplier, wallet, payouts }: MoneyLimits): string {
  if (wallet === null) return jobCostMax ?? '0'
  const { jobUnits, dayUnits, payerUnits } = wallet
  const text = (units: bigint) => decimalText(units, DECIMALS)
  if (jobUnits > dayUnits)
    throw new SettingError(
      'WALLET_FILE',
      `limits.job: ${text(jobUnits)} dollars are more than limits.day, ${text(dayUnits)}`,
    )
  if (jobUnits > payerUnits)
    throw new SettingError(
      'WALLET_FILE',
      `limits.job: ${text(jobUnits)} dollars are more than limits.payer, ${text(payerUnits)}`,
    )
  const bought = shareOf(jobUnits, multiplier)
  const sent = payouts === null ? null : amountOf(payouts, 1, DECIMALS)
  if (jobCostMax === null) return text(sent !== null && sent < bought ? sent : bought)
  const sold = amountOf(jobCostMax, 1, DECIMALS)
  if (sold > bought)
    throw new SettingError(
      'JOB_COST_MAX',
      `${text(sold)} dollars are more than a job may cost whose calls the wallet buys for ${text(jobUnits)} dollars (limits.job of WALLET_FILE)`,
    )
  if (sent !== null && sold > sent)
    throw new SettingError(
      'ACCESS_FILE',
      `payments.payouts.dollarsPerDay: ${payouts} dollars are less than one job may cost, ${text(sold)}: its refund could not be sent within a day`,
    )
  return text(sold)
}
