/** Purchases by a wallet, as a browser keeps them, so that nothing is paid twice: text of JSON. */
import { isObject } from '../model/queryAnswer.ts'
import type { Credential } from './credentials.ts'
import { jobIdIn } from './job.ts'
import type { TransferOffer } from './offers.ts'

/** The payment that the wallet was asked to send. */
export interface PushedPayment {
  readonly kind: 'transfer'
  readonly offer: TransferOffer
  readonly account: string
  /** Number of a block before it, in hex. */
  readonly fromBlock: string
  /** Null until the wallet has told it: the transaction may be there all the same. */
  readonly hash: string | null
}

/** The payment that the wallet has signed. */
export interface SignedPayment {
  readonly kind: 'authorization'
  readonly credential: Credential
}

export type HeldPayment = PushedPayment | SignedPayment

export interface Purchase {
  readonly planHash: string
  /** Names the job: the same payer, key and plan are one. */
  readonly key: string
  /** Total of the quote that it was bought by, which is the most that it may cost. */
  readonly maxSpend: string
  /** Null once the job is there. */
  readonly payment: HeldPayment | null
  readonly jobId: string | null
}

const PURCHASES_MAX = 20

/** The kept purchases; anything else there is left out. */
export function readPurchases(kept: string | null): readonly Purchase[] {
  try {
    const items: unknown = JSON.parse(kept ?? '[]')
    return Array.isArray(items) ? items.filter(isPurchase) : []
  } catch {
    return []
  }
}

/** In the place of the plan's last one; of those that are over, the oldest go. */
export function withPurchase(purchases: readonly Purchase[], purchase: Purchase): readonly Purchase[] {
  const others = withoutPurchase(purchases, purchase.planHash)
  const over = others.filter(({ payment }) => payment === null).slice(0, PURCHASES_MAX - 1)
  return [purchase, ...others.filter((one) => one.payment !== null || over.includes(one))]
}

export const withoutPurchase = (purchases: readonly Purchase[], planHash: string): readonly Purchase[] =>
  purchases.filter((one) => one.planHash !== planHash)

/** This page alone writes them: a look at each kind tells them from what another version wrote. */
function isPurchase(item: unknown): item is Purchase {
  if (!isObject(item)) return false
  const { planHash, key, maxSpend, payment, jobId } = item
  if ([planHash, key, maxSpend].some((text) => typeof text !== 'string')) return false
  return payment === null ? jobIdIn(String(jobId)) !== null : isObject(payment) && isPayment(payment)
}

function isPayment({ kind, offer, account, hash, credential }: Readonly<Record<string, unknown>>): boolean {
  if (kind === 'authorization') return Array.isArray(credential)
  const isTold = hash === null || typeof hash === 'string'
  return (
    kind === 'transfer' &&
    isObject(offer) &&
    isObject(offer['challenge']) &&
    typeof account === 'string' &&
    isTold
  )
}
