/**
 * The service's own account on the chain of its payments. It pays the fees of its payers, for at most
 * so much a day, and settles channels for the payee.
 */
import { custom, type LocalAccount, type Transport } from 'viem'
import { Transaction } from 'viem/tempo'
import { failure } from '#errors.ts'
import { ATTO_PER_MILLIONTH } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { leftToday, reserveFee } from '#rows/payments/sponsored.ts'
import { SENDS } from './sendCounted.ts'

export interface SponsorOptions {
  readonly app: AppDatabase
  readonly chainId: number
  readonly account: LocalAccount
  /** Dollars of fees that are taken over in a day, as a whole number of millionths. */
  readonly limit: bigint
  /** Whether the account has money now; it is taken to have where this is not given. */
  readonly isFunded?: () => boolean
}

/**
 * The greatest cost of one transaction, in attodollars: five cents, which is more than any of these takes.
 */
const FEE_MAX = 5n * 10n ** 16n

export class Sponsor {
  readonly account: LocalAccount
  /** The payment library's limit when it signs for others. */
  readonly policy = { maxTotalFee: FEE_MAX }
  readonly #options: SponsorOptions

  constructor(options: SponsorOptions) {
    this.#options = options
    this.account = options.account
  }

  /** Whether another fee would be taken over now: there is money for it, within the limit of the day. */
  async isOpen(): Promise<boolean> {
    const { app, chainId, limit, isFunded = () => true } = this.#options
    return isFunded() && (await leftToday(app, chainId, limit)) >= FEE_MAX / ATTO_PER_MILLIONTH
  }

  /** Sends nothing whose fee goes beyond the limit of the day. */
  limiting(inner: Transport): Transport {
    const { request: through } = inner({ retryCount: 0 })
    const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = through
    const request = async ({ method, params }: { method: string; params?: unknown }) => {
      const [raw] = Array.isArray(params) ? params : []
      if (SENDS.has(method) && isTempoTransaction(raw)) await this.#reserve(raw)
      return ask({ method, ...(params !== undefined && { params }) })
    }
    return custom({ request }, { retryCount: 0 })
  }

  /** @throws SponsorLimitError */
  async #reserve(raw: `0x76${string}`): Promise<void> {
    const { app, chainId, limit } = this.#options
    const { feePayerSignature, gas = 0n, maxFeePerGas = 0n } = Transaction.deserialize(raw)
    if (!feePayerSignature) return
    const fee = (gas * maxFeePerGas) / ATTO_PER_MILLIONTH + 1n
    if (!(await reserveFee(app, { chainId, fee, limit }))) throw new SponsorLimitError()
  }
}

class SponsorLimitError extends failure('SponsorLimitError', 'sponsor_limit_reached', 'stop') {
  constructor() {
    super('no more fees are paid for others today')
  }
}

const isTempoTransaction = (raw: unknown): raw is `0x76${string}` =>
  typeof raw === 'string' && raw.startsWith('0x76')
