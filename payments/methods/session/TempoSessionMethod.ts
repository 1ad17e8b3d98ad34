/**
 * Payment channels of a Tempo chain: a payer deposits once and signs for each request. The protocol is
 * the library's; here stand what is asked for, and that each voucher is kept, and spent for one
 * payment alone, before its answer leaves.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type Credential, Errors } from 'mppx'
import { Session } from 'mppx/tempo'
import { amountOf, decimalText, larger } from '#money/amounts.ts'
import { isRecord } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findChannel, wasTaken } from '#rows/payments/channels.ts'
import { CHANNEL_METHOD, type CheckedPayment } from '#rows/payments/payments.ts'
import { sendCounted } from '../../chain/sendCounted.ts'
import { ChallengeSigner, signedByLibrary } from '../ChallengeSigner.ts'
import type { Currency } from '../charge/TempoChargeMethod.ts'
import {
  bySeller,
  challengeOfSigned,
  expiryOf,
  mppCredentialIn,
  mppMetaIn,
  mppPaymentIn,
  mppRefusal,
  serializeReceipt,
  textDigest,
  unsent,
} from '../mpp.ts'
import type {
  Challenge,
  DocumentedOffer,
  Identity,
  Managed,
  ManagingRequest,
  PaymentMethod,
  PaymentOutcome,
  RequestPrice,
  Unsent,
} from '../PaymentMethod.ts'
import { channelStore } from './channelStore.ts'
import { bootstrap, manage, managementIn, mayArrive } from './management.ts'
import { openSessionSeller, type SessionSeller, type SessionSellerOptions } from './sessionSeller.ts'
import { type ChannelCredential, voucherIn } from './voucherIn.ts'

const { Receipt, Voucher } = Session.Precompile

export interface SessionOptions extends SessionSellerOptions {
  /** The newest first; challenges of the others are taken still. Each has 32 bytes at least. */
  readonly keys: readonly Uint8Array[]
  /** Those that are settled in now; none where the chain has no channels. */
  readonly currencies: () => readonly Currency[]
}

/** A suggestion: a deposit is for so many requests like this one, and dollars at least. */
const [DEPOSIT_REQUESTS, DEPOSIT_DOLLARS] = [2n, '0.5']

/** A price in one currency. */
interface Asked {
  readonly currency: Currency
  readonly amount: bigint
  /** That of the deposit. */
  readonly deposit: bigint
}

export class TempoSessionMethod implements PaymentMethod {
  readonly name = CHANNEL_METHOD
  readonly isChannel = true
  readonly metaIn = mppMetaIn
  readonly receiptHeaders = (receipt: string) => ({ 'payment-receipt': receipt })
  readonly #options: SessionOptions
  readonly #app: AppDatabase
  #sellers: readonly SessionSeller[] = []
  #signer = new ChallengeSigner([])

  constructor(options: SessionOptions) {
    this.#options = options
    this.#app = options.app
    this.use(options.keys)
  }

  /** The first signs challenges from now on; those of the others are taken still. */
  use(keys: readonly Uint8Array[]): void {
    this.#sellers = keys.map((key) => openSessionSeller(this.#options, key))
    this.#signer = new ChallengeSigner(keys)
  }

  offersOf(dollars: string): readonly DocumentedOffer[] {
    return this.#options.currencies().map(({ address: currency, decimals }) => ({
      ...{ intent: 'session', method: 'tempo', currency },
      amount: `${amountOf(dollars, 1, decimals)}`,
    }))
  }

  /** A channel whose payer has proved to be it is told, so that its client knows what to sign next. */
  async challenge(price: RequestPrice, _url: string, refused?: string): Promise<Challenge | null> {
    const channelId = refused === undefined ? null : await this.#provedIn(refused)
    const isSponsored = await this.#options.sponsor.isOpen()
    const signed = await Promise.all(
      this.#amountsOf(price).map((asked) => {
        const terms = { ...this.#termsOf(price, asked, isSponsored), ...(channelId && { channelId }) }
        return this.#signer.sign(terms, (first) => this.#newest.challenge.tempo.session(first))
      }),
    )
    return signed.length === 0 ? null : challengeOfSigned(signed)
  }

  presentedIn(headers: IncomingHttpHeaders): string | null {
    const presented = mppPaymentIn(headers)
    return presented?.method === this.name ? presented.credential : null
  }

  managedBy(request: ManagingRequest): (() => Promise<Managed>) | null {
    const text = managementIn(request)
    if (text === null || this.#options.currencies().length === 0) return null
    const renew = (credential: Credential.Credential) => this.#renew(credential, text)
    if (mppPaymentIn(request.headers)?.method === this.name)
      return () => manage(text, { sellers: this.#sellers, nodes: this.#options.nodes, renew })
    return () => this.#bootstrap(request.url, text)
  }

  async identify(url: string): Promise<Challenge | null> {
    if (this.#options.currencies().length === 0) return null
    const asked = await this.#bootstrap(url, undefined)
    return asked.kind === 'refused' ? asked.challenge : null
  }

  /** A voucher is the same whatever challenge it answers. */
  identityOf(text: string): Identity | null {
    try {
      const { channelId, cumulative, signature } = this.#voucherOf(mppCredentialIn(text))
      return {
        identity: `${channelId}:${cumulative}`,
        digest: textDigest(`${channelId}:${cumulative}:${signature}`),
      }
    } catch {
      return null
    }
  }

  async check(text: string, price: RequestPrice): Promise<CheckedPayment> {
    const { chainId, recipient } = this.#options
    const credential = mppCredentialIn(text)
    const { channelId, cumulative, payer } = this.#voucherOf(credential)
    const known = this.identityOf(text)
    if (!known || cumulative === null) throw mppRefusal(new Errors.InvalidPayloadError())
    const asked = this.#askedIn(credential, price)
    await bySeller(this.#sellers, (seller) =>
      seller.validateCredential(credential, this.#bindingOf(price, asked, credential)),
    ).catch(refused)
    const spent = (await findChannel(this.#app, channelId))?.spent ?? 0n
    if (cumulative - spent < asked.amount)
      throw mppRefusal(
        new Errors.InsufficientBalanceError({ reason: 'the voucher does not cover this request' }),
      )
    return {
      identity: known.identity,
      credentialDigest: known.digest,
      ...{ chainId, recipient, currency: asked.currency.address, amount: asked.amount, payer },
      ...{ txHash: null, reference: null },
      validBeforeSeconds: expiryOf(credential),
    }
  }

  /** Keeps the voucher, then spends from it what the payment asks. */
  async send(text: string, price: RequestPrice, payment: CheckedPayment): Promise<PaymentOutcome | Unsent> {
    const { nodes } = this.#options
    const sent = await sendCounted({ nodes }, () => this.#spend(text, price, payment))
    if (sent.kind === 'sent') return { kind: 'settled', receipt: serializeReceipt(sent.result), txHash: null }
    // An opening may be on its way to the chain. Its payer asks again, or for its deposit.
    return mayArrive(sent) ? { kind: 'unknown' } : unsent(sent.cause)
  }

  async outcome({ identity }: CheckedPayment): Promise<PaymentOutcome> {
    const [channelId = ''] = identity.split(':')
    const channel = await findChannel(this.#app, channelId)
    if (!channel || !(await wasTaken(this.#app, identity))) return { kind: 'failed' }
    const { id, accepted: acceptedCumulative, spent, units } = channel
    const receipt = Receipt.createSessionReceipt({
      ...{ challengeId: identity, channelId: id, acceptedCumulative, spent, units },
    })
    return { kind: 'settled', receipt: serializeReceipt(receipt), txHash: null }
  }

  async #spend(text: string, price: RequestPrice, { identity, amount }: CheckedPayment) {
    const credential = mppCredentialIn(text)
    const asked = this.#askedIn(credential, price)
    const accepted = await bySeller(this.#sellers, (seller) =>
      seller.broadcastCredential(credential, this.#bindingOf(price, asked, credential)),
    )
    const { channelId } = this.#voucherOf(credential)
    const { spent, units } = await Session.Server.charge(channelStore(this.#app, identity), channelId, amount)
    return { ...accepted, ...{ spent: `${spent}`, units } }
  }

  #bootstrap(url: string, authorization: string | undefined): Promise<Managed> {
    const [currency] = this.#options.currencies()
    if (!currency) throw new TypeError('nothing is offered')
    // A proof is of no amount; the library asks for one all the same.
    const asked = { currency, amount: 1n, deposit: 1n }
    const terms = this.#termsOf(proved, asked, false)
    return bootstrap(this.#newest, terms, { url: this.#absolute(url), authorization })
  }

  /** The challenge of a credential once more: it has run out, or its channel has moved on. */
  async #renew({ challenge }: Credential.Credential, text: string): Promise<Challenge | null> {
    const named = String(challenge.request['currency']).toLowerCase()
    const currency = this.#options.currencies().find(({ address }) => address === named)
    if (!currency) return null
    const amount = BigInt(String(challenge.request['amount']))
    const { meta = {}, description = '' } = challenge
    const isSponsored = await this.#options.sponsor.isOpen()
    const asked = { currency, amount, deposit: amount }
    const terms = this.#termsOf({ ...proved, description }, asked, isSponsored)
    const channelId = await this.#provedIn(text)
    const renewed = { ...terms, meta, ...(channelId && { channelId }) }
    return challengeOfSigned([signedByLibrary(await this.#newest.challenge.tempo.session(renewed))])
  }

  #absolute(url: string): URL {
    return new URL(url, `http://${this.#options.realm}`)
  }

  get #newest(): SessionSeller {
    const [seller] = this.#sellers
    if (!seller) throw new TypeError('a seller has a key')
    return seller
  }

  /** @throws PaymentRefusedError */
  #voucherOf(credential: Credential.Credential): ChannelCredential {
    const found = voucherIn(credential)
    if (!found) throw mppRefusal(new Errors.InvalidPayloadError())
    return found
  }

  /** The channel of a refused credential, where its payer signed it. */
  async #provedIn(text: string): Promise<`0x${string}` | null> {
    try {
      const { channelId, cumulative, signature } = this.#voucherOf(mppCredentialIn(text))
      const channel = await findChannel(this.#app, channelId)
      if (!channel || cumulative === null || signature === null) return null
      const voucher = { channelId, cumulativeAmount: cumulative, signature }
      const isSigned = Voucher.verifyVoucher(channel.escrow, channel.chainId, voucher, channel.signer)
      return isSigned ? channelId : null
    } catch {
      return null
    }
  }

  #amountsOf({ dollars, units }: RequestPrice): readonly Asked[] {
    return this.#options.currencies().map((currency) => {
      const amount = amountOf(dollars, units, currency.decimals)
      const least = amountOf(DEPOSIT_DOLLARS, 1, currency.decimals)
      return { currency, amount, deposit: larger(least, amount * DEPOSIT_REQUESTS) }
    })
  }

  /** @throws PaymentRefusedError */
  #askedIn(credential: Credential.Credential, price: RequestPrice): Asked {
    const named = String(credential.challenge.request['currency']).toLowerCase()
    const asked = this.#amountsOf(price).find(({ currency: { address } }) => address === named)
    if (!asked) throw mppRefusal(new Error('the currency is not taken'))
    return asked
  }

  #termsOf(
    { digest, description, meta }: RequestPrice,
    { currency, amount, deposit }: Asked,
    isSponsored: boolean,
  ) {
    const { chainId, recipient, sponsor } = this.#options
    return {
      amount: decimalText(amount, currency.decimals),
      currency: currency.address,
      decimals: currency.decimals,
      chainId,
      recipient,
      operator: sponsor.account.address,
      ...(!isSponsored && { feePayer: false }),
      unitType: 'request',
      suggestedDeposit: decimalText(deposit, currency.decimals),
      description,
      meta: { ...meta, request: Buffer.from(digest).toString('base64url') },
    }
  }

  /** As the challenge of the credential was. */
  #bindingOf(price: RequestPrice, asked: Asked, { challenge }: Credential.Credential) {
    const details = challenge.request['methodDetails']
    const isSponsored = isRecord(details) && details['feePayer'] === true
    const { meta, description: _, ...request } = this.#termsOf(price, asked, isSponsored)
    return { request, meta, realm: this.#options.realm }
  }
}

/** The terms of proofs and closings: no request, no price. */
const proved: RequestPrice = { digest: new Uint8Array(), dollars: '0', units: 0, description: '', meta: {} }

const refused = (cause: unknown): never => {
  throw mppRefusal(cause)
}
