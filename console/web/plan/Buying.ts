/**
 * A plan is bought by a wallet of the browser. What the wallet is asked for is kept before it is asked:
 * after a reload or a lost answer the same payment is presented again, and no other is made.
 */
import {
  authorizationOf,
  type Credential,
  hashCredential,
  signedCredential,
  transferCall,
  transferLogs,
  typedDataOf,
} from '../../job/credentials.ts'
import {
  type AuthorizationOffer,
  DECIMALS,
  expiryOf,
  isSameOffer,
  isWithin,
  type PayableOffer,
  type TransferOffer,
} from '../../job/offers.ts'
import type { HeldPayment, Purchase, PushedPayment } from '../../job/purchases.ts'
import { isObject, RequestFailure } from '../../model/queryAnswer.ts'
import { origin } from '../api.ts'
import { browserClock } from '../browserClock.ts'
import { freshKey } from '../job/freshKey.ts'
import { accountOf, isRejection, type Provider, switchChain } from '../parts/wallet.ts'
import { dropPurchase, heldPurchase, holdPurchase } from './heldPurchases.ts'
import { type OrderAnswer, orderJob } from './orderJob.ts'

export interface Quoted {
  readonly planHash: string
  /** The text that was quoted. */
  readonly plan: string
  /** Names the job, unless a purchase of the plan has one. */
  readonly key: string
  /** Decimal text, in dollars. */
  readonly total: string
}

/** `decimals()`, the first four bytes of its hash. */
const DECIMALS_CALL = '0x313ce567'
const LOOK_MS = 1_000
/** An answer that may be another one later is asked for again so often. */
const TRIES_MAX = 20

export class Buying {
  readonly #quoted: Quoted
  readonly #tell: (text: string) => void
  readonly #signal: AbortSignal

  /** @param tell is told what goes on */
  constructor(quoted: Quoted, tell: (text: string) => void, signal: AbortSignal) {
    this.#quoted = quoted
    this.#tell = tell
    this.#signal = signal
  }

  /** The plan's purchase in this browser; null for none. */
  get held(): Purchase | null {
    return heldPurchase(this.#quoted.planHash)
  }

  /** The offers for the plan. @throws RequestFailure, or the signal's reason */
  offers(): Promise<OrderAnswer> {
    return orderJob(this.#order(), null, this.#signal)
  }

  isWithinQuote(offer: PayableOffer): boolean {
    return isWithin(offer, this.#quoted.total)
  }

  /** Pays as it was shown, once, and has the job. @returns its id */
  async pay(provider: Provider, shown: PayableOffer): Promise<string> {
    if (this.held) return this.goOn(provider)
    const account = await accountOf(provider)
    await switchChain(provider, shown.chainId, shown.kind === 'transfer' ? rpcUrlOf(shown) : null)
    await assertDecimals(provider, shown)
    // The one that was shown may be nearly over.
    const answer = await this.offers()
    if (answer.kind === 'ordered') return this.#bought(answer.jobId)
    const offer = answer.offers.find((one) => isSameOffer(one, shown))
    if (!offer) throw new Error('The price is another one now: press Quote again. Nothing was paid.')
    if (!this.isWithinQuote(offer)) throw new Error('The price is above the quote. Nothing was paid.')
    if (this.held) return this.goOn(provider)
    if (offer.kind === 'authorization') await this.#sign(provider, account, offer)
    else await this.#push(provider, account, offer)
    return this.goOn(provider)
  }

  /** Has the job of the payment that is kept. @returns its id */
  async goOn(provider: Provider): Promise<string> {
    const { held } = this
    if (!held) throw new Error('Nothing was paid.')
    if (held.jobId !== null) return held.jobId
    const { payment } = held
    if (payment === null) throw new Error('Nothing was paid.')
    const credential =
      payment.kind === 'authorization' ? payment.credential : await this.#mined(provider, payment)
    return this.#present(payment, credential)
  }

  /** Lets the plan be bought anew. */
  forget(): void {
    dropPurchase(this.#quoted.planHash)
  }

  async #sign(provider: Provider, from: string, offer: AuthorizationOffer): Promise<void> {
    const nowSeconds = Math.floor(browserClock.now() / 1_000)
    const nonce = `0x${freshKey()}${freshKey()}`
    const authorization = authorizationOf(offer, { from, nonce, nowSeconds })
    this.#tell('Sign the payment in your wallet.')
    const params = [from, JSON.stringify(typedDataOf(offer, authorization))]
    const signature = await provider.request({ method: 'eth_signTypedData_v4', params })
    const credential = signedCredential(offer, authorization, String(signature))
    // Another tab may have been faster: this signature stays here.
    if (this.held) return
    this.#hold({ kind: 'authorization', credential })
  }

  async #push(provider: Provider, account: string, offer: TransferOffer): Promise<void> {
    const fromBlock = String(await provider.request({ method: 'eth_blockNumber' }))
    const payment: PushedPayment = { kind: 'transfer', offer, account, fromBlock, hash: null }
    this.#hold(payment)
    const until = new Date(expiryOf(offer)).toISOString().slice(11, 19)
    this.#tell(`Confirm the transfer in your wallet before ${until} UTC; a later one buys nothing.`)
    const call = { from: account, ...transferCall(offer), value: '0x0' }
    try {
      const hash = await provider.request({ method: 'eth_sendTransaction', params: [call] })
      if (!this.#isHeld(offer)) throw new Error(`The transfer ${hash} was sent after it was given up.`)
      this.#hold({ ...payment, hash: String(hash) })
    } catch (error) {
      // The wallet may have sent the transfer, whatever else it says.
      if (isRejection(error) && this.#isHeld(offer)) this.forget()
      throw error
    }
  }

  /** Not if the plan was quoted again meanwhile, and its purchase was begun anew. */
  #isHeld({ challenge: { id } }: TransferOffer): boolean {
    const payment = this.held?.payment
    return payment?.kind === 'transfer' && payment.offer.challenge['id'] === id
  }

  /** Waits until a block has the transfer. @throws where none has it, or it failed */
  async #mined(provider: Provider, payment: PushedPayment): Promise<Credential> {
    const { offer, account } = payment
    await switchChain(provider, offer.chainId, rpcUrlOf(offer))
    for (;;) {
      const { hash } = payment
      const receipt =
        hash && (await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] }))
      if (isObject(receipt) && receipt['status'] === '0x0') {
        this.forget()
        throw new Error(`The transfer ${hash} failed on the chain: nothing was paid for the plan.`)
      }
      const found = isObject(receipt) ? hash : await transferIn(provider, payment)
      if (found) {
        if (found !== hash) this.#hold({ ...payment, hash: found })
        return hashCredential(offer, account, found)
      }
      if (hash === null || browserClock.now() > expiryOf(offer))
        throw new Error(`No block has the transfer ${hash ?? 'that your wallet was asked for'} yet.`)
      this.#tell(`The transfer ${hash} is on its way.`)
      await browserClock.sleep(LOOK_MS, this.#signal)
    }
  }

  async #present(payment: HeldPayment, credential: Credential): Promise<string> {
    this.#tell('The job is being ordered.')
    for (let tries = 1; ; tries++) {
      const isLast = tries === TRIES_MAX
      const answer = await orderJob(this.#order(), credential, this.#signal).catch((error: unknown) => {
        if (!(error instanceof RequestFailure) || !error.passes || isLast) throw error
        return null
      })
      if (answer?.kind === 'ordered') return this.#bought(answer.jobId)
      // Nothing is taken of a signature that is refused; a transfer is on the chain.
      if (answer && payment.kind === 'authorization') {
        this.forget()
        throw new Error(`The payment was not taken: ${answer.reason}. Nothing was paid.`)
      }
      if (answer && isLast) throw new Error(`The transfer was not taken: ${answer.reason}`)
      await browserClock.sleep(LOOK_MS, this.#signal)
    }
  }

  #bought(jobId: string): string {
    this.#write({ payment: null, jobId })
    return jobId
  }

  #hold(payment: HeldPayment): void {
    this.#write({ payment, jobId: null })
  }

  #write(made: Pick<Purchase, 'payment' | 'jobId'>): void {
    const { key, maxSpend } = this.#order()
    holdPurchase({ planHash: this.#quoted.planHash, key, maxSpend, ...made })
  }

  /** A purchase that was begun goes on as it began, whatever the plan costs now. */
  #order() {
    const { plan, key, total } = this.#quoted
    const { held } = this
    return { plan, key: held?.key ?? key, maxSpend: held?.maxSpend ?? total }
  }
}

/** A door of this program to a chain that is indexed here, as each chain of transfers is. */
const rpcUrlOf = ({ chainId }: TransferOffer): string => new URL(`rpc/${chainId}`, origin).href

/** The price was shown as that of a token with these decimals. */
async function assertDecimals(provider: Provider, { token: to }: PayableOffer): Promise<void> {
  const told = await provider.request({ method: 'eth_call', params: [{ to, data: DECIMALS_CALL }, 'latest'] })
  if (Number(told) !== DECIMALS)
    throw new Error(`The token ${to} has no ${DECIMALS} decimals on the wallet’s chain. Nothing was paid.`)
}

/**
 * A wallet that speeds a transaction up sends another one in its place. Some nodes of wallets find no
 * logs, which matters where nothing else tells of the transfer.
 */
async function transferIn(provider: Provider, payment: PushedPayment): Promise<string | null> {
  const { offer, account, fromBlock } = payment
  const filter = { ...transferLogs(offer, account), fromBlock, toBlock: 'latest' }
  const logs = await provider.request({ method: 'eth_getLogs', params: [filter] }).catch((error: unknown) => {
    if (payment.hash === null) throw error
    return []
  })
  const [first]: unknown[] = Array.isArray(logs) ? logs : []
  return isObject(first) && typeof first['transactionHash'] === 'string' ? first['transactionHash'] : null
}
