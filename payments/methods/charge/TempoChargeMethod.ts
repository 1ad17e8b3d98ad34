/**
 * Charges in tokens of a Tempo chain, by the Payment scheme of HTTP. The protocol is the library's:
 * here stand what is asked for, and what a look at the chain says of a transaction that was sent.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Credential, Receipt } from 'mppx'
import { Mppx, type Store, tempo } from 'mppx/server'
import { createClient, custom, keccak256, type Transport } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import { Transaction } from 'viem/tempo'
import { amountOf, decimalText } from '#money/amounts.ts'
import type { Ask } from '#money/node.ts'
import { isOver, lookForTx } from '#money/settled.ts'
import { isHash, isRecord, lowercased } from '#primitives.ts'
import type { CheckedPayment } from '#rows/payments/payments.ts'
import type { Sponsor } from '../../chain/Sponsor.ts'
import { noticingSends, sendCounted } from '../../chain/sendCounted.ts'
import { ChallengeSigner, secretKeyOf } from '../ChallengeSigner.ts'
import {
  bySeller,
  challengeOfSigned,
  expiryOf,
  mppCredentialIn,
  mppIdentityOf,
  mppMetaIn,
  mppMetaOf,
  mppPaymentIn,
  mppRefusal,
  serializeReceipt,
  textDigest,
  unsent,
} from '../mpp.ts'
import type {
  Challenge,
  DocumentedOffer,
  PaymentMethod,
  PaymentOutcome,
  RequestPrice,
  Unsent,
} from '../PaymentMethod.ts'
import type { Sends } from '../Sends.ts'
import { isSenderProved } from './provedSender.ts'

export interface Currency {
  /** Lowercase address of the token, which is worth a dollar. */
  readonly address: `0x${string}`
  readonly decimals: number
}

export interface ChargeOptions {
  /** Host whose service is sold. */
  readonly realm: string
  /** The newest first; challenges of the others are taken still. Each has 32 bytes at least. */
  readonly keys: readonly Uint8Array[]
  readonly chainId: number
  readonly recipient: `0x${string}`
  /** The token that the library takes where an offer names none; each offer names its own. */
  readonly currency: `0x${string}`
  /** Those that are settled in now. */
  readonly currencies: () => readonly Currency[]
  /** To nodes of the chain, each of which counts its refusals. */
  readonly transport: Transport
  /** Each node by itself: what became of a payment is asked of all of them. */
  readonly nodes: readonly Ask[]
  /** Pays the fees of payers; null where they pay their own. */
  readonly sponsoring: Sponsoring | null
  /** Is told how sends go. */
  readonly sends?: Pick<Sends, 'went' | 'failed'>
}

/** How the fees of payers are paid. */
export interface Sponsoring {
  readonly sponsor: Sponsor
  /** The store through which the library shares its budget with other processes. */
  readonly store: Store.AtomicStore
  /** Keeps what is sent for a payment, before it is: only then is its hash known. */
  readonly keepHash: (identity: string, txHash: `0x${string}`) => Promise<void>
}

/** A price in one currency. */
interface Asked {
  readonly currency: Currency
  readonly amount: bigint
}

/** Values drawn or decided for one challenge. */
interface Drawn {
  readonly salt: string | undefined
  readonly isSponsored: boolean
}

const SALT_BYTES = 9

export class TempoChargeMethod implements PaymentMethod {
  readonly name = 'tempo/charge'
  readonly identityOf = mppIdentityOf
  readonly metaIn = mppMetaIn
  readonly #options: ChargeOptions
  readonly #client: ReturnType<typeof openClient>
  #sellers: readonly ReturnType<typeof openSeller>[] = []
  #signer = new ChallengeSigner([])

  constructor(options: ChargeOptions) {
    this.#options = options
    this.#client = openClient(options)
    this.use(options.keys)
  }

  /** The first signs challenges from now on; those of the others are taken still. */
  use(keys: readonly Uint8Array[]): void {
    this.#sellers = keys.map((key) => openSeller(this.#options, key, this.#client))
    this.#signer = new ChallengeSigner(keys)
  }

  offersOf(dollars: string): readonly DocumentedOffer[] {
    return this.#options.currencies().map(({ address: currency, decimals }) => ({
      ...{ intent: 'charge', method: 'tempo', currency },
      amount: `${amountOf(dollars, 1, decimals)}`,
    }))
  }

  async challenge(price: RequestPrice): Promise<Challenge | null> {
    const [seller] = this.#sellers
    if (!seller) throw new TypeError('a seller has a key')
    const { sponsoring } = this.#options
    const isSponsored = (await sponsoring?.sponsor.isOpen()) ?? false
    // Without salt two payers who ask for the same at once would have one challenge, good for one of them.
    const salt = randomBytes(SALT_BYTES).toString('base64url')
    const signed = await Promise.all(
      this.#amountsOf(price).map((asked) => {
        const terms = this.#termsOf(price, asked, { salt, isSponsored })
        return this.#signer.sign(terms, (first) => seller.challenge.tempo.charge(first))
      }),
    )
    return signed.length === 0 ? null : challengeOfSigned(signed)
  }

  /** Takes what is no credential too, and says what is wrong with it. */
  presentedIn(headers: IncomingHttpHeaders): string | null {
    const presented = mppPaymentIn(headers)
    const { method = this.name, credential = null } = presented ?? {}
    return (method ?? this.name) === this.name ? credential : null
  }

  async check(text: string, price: RequestPrice): Promise<CheckedPayment> {
    const { chainId, recipient } = this.#options
    const credential = mppCredentialIn(text)
    const asked = this.#askedIn(credential, price)
    const { details } = await bySeller(this.#sellers, (seller) =>
      seller.validateCredential(credential, this.#bindingOf(price, asked, credential)),
    ).catch(refused)
    const sender = isRecord(details) ? details['sender'] : undefined
    if (!isAddress(sender)) throw mppRefusal(new Error('nobody pays'))
    return {
      identity: credential.challenge.id,
      credentialDigest: textDigest(text),
      ...{ chainId, recipient, currency: asked.currency.address, amount: asked.amount },
      payer: sender.toLowerCase(),
      ...(await transactionIn(credential)),
      reference: null,
    }
  }

  /** A payment that the payer has sent itself is settled before it is answered. */
  readonly isPushed = (text: string): boolean => hashIn(mppCredentialIn(text)) !== null

  /** A block says whose a transaction is that the payer has sent itself. */
  readonly provesPayer = (text: string, payer: string): boolean => {
    const { payload } = mppCredentialIn(text)
    const serialized = isRecord(payload) ? payload['signature'] : undefined
    return !isTempoTransaction(serialized) || isSenderProved(serialized, payer)
  }

  /** Unknown where it was sent and no block is known to have it. */
  async send(text: string, price: RequestPrice, payment: CheckedPayment): Promise<PaymentOutcome | Unsent> {
    const { nodes, sends, sponsoring } = this.#options
    const keepHash = async (txHash: `0x${string}`) => sponsoring?.keepHash(payment.identity, txHash)
    const sent = await sendCounted({ nodes, keepHash }, () => {
      const credential = mppCredentialIn(text)
      const binding = this.#bindingOf(price, this.#askedIn(credential, price), credential)
      return bySeller(this.#sellers, (seller) => seller.broadcastCredential(credential, binding))
    })
    if (sent.kind === 'sent') {
      sends?.went()
      const { result, txHash } = sent
      return { kind: 'settled', receipt: serializeReceipt(result), txHash: txHash ?? payment.txHash }
    }
    if (sent.isOurs) sends?.failed()
    return sent.kind === 'unsent' ? unsent(sent.cause) : this.outcome({ ...payment, txHash: sent.txHash })
  }

  readonly receiptHeaders = (receipt: string) => ({ 'payment-receipt': receipt })

  /** Settled as soon as a block has it, as what is sent here is; failed only by the word of all nodes. */
  async outcome({ txHash, validBeforeSeconds }: CheckedPayment): Promise<PaymentOutcome> {
    const { nodes } = this.#options
    // A payment of which nothing was sent can be sent until its time is over.
    if (txHash === null) return (await isOver(nodes, validBeforeSeconds)) ? failed : unknown
    const found = await lookForTx(nodes, { txHash, validBeforeSeconds })
    if (found.kind === 'absent') return failed
    if (found.kind === 'unknown') return unknown
    if (!found.succeeded) return found.isFinal ? failed : unknown
    const block = await this.#ask('eth_getBlockByHash', [found.blockHash, false])
    const seconds = isRecord(block) ? Number(block['timestamp']) : Number.NaN
    if (!Number.isSafeInteger(seconds)) return unknown
    return { kind: 'settled', receipt: serializeReceipt(receiptOf(txHash, seconds)), txHash }
  }

  /** Undefined where no node answers. */
  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const request: (asked: { method: string; params: readonly unknown[] }) => Promise<unknown> =
      this.#client.transport.request
    return request({ method, params }).catch(() => undefined)
  }

  #amountsOf({ dollars, units }: RequestPrice): readonly Asked[] {
    return this.#options.currencies().map((currency) => ({
      currency,
      amount: amountOf(dollars, units, currency.decimals),
    }))
  }

  /** The currency that the credential names, with what is asked in it now. @throws PaymentRefusedError */
  #askedIn(credential: Credential.Credential, price: RequestPrice): Asked {
    const { currency } = credential.challenge.request
    const named = String(currency).toLowerCase()
    const asked = this.#amountsOf(price).find(({ currency: { address } }) => address === named)
    if (!asked) throw mppRefusal(new Error('the currency is not taken'))
    return asked
  }

  #termsOf(
    { digest, description, meta }: RequestPrice,
    { currency, amount }: Asked,
    { salt, isSponsored }: Drawn,
  ) {
    const { chainId, recipient } = this.#options
    return {
      amount: decimalText(amount, currency.decimals),
      currency: currency.address,
      decimals: currency.decimals,
      chainId,
      recipient,
      description,
      meta: {
        ...(salt !== undefined && { salt }),
        ...meta,
        request: Buffer.from(digest).toString('base64url'),
      },
      supportedModes: ['pull', 'push'] satisfies ['pull', 'push'],
      ...(!isSponsored && { feePayer: false }),
    }
  }

  /** As the challenge of the credential was: since then the sponsor may have reached its limit. */
  #bindingOf(price: RequestPrice, asked: Asked, credential: Credential.Credential) {
    const details = credential.challenge.request['methodDetails']
    const isSponsored = isRecord(details) && details['feePayer'] === true
    const { salt } = mppMetaOf(credential)
    const { meta, description: _, ...request } = this.#termsOf(price, asked, { salt, isSponsored })
    return { request, meta, realm: this.#options.realm }
  }
}

/** Asks once more where a node did not answer, as viem does by itself. */
function openClient({ chainId, transport, sponsoring }: ChargeOptions) {
  const noticing = noticingSends(transport)
  const { request } = (sponsoring?.sponsor.limiting(noticing) ?? noticing)({ retryCount: 0 })
  return createClient({ chain: { ...tempoChain, id: chainId }, transport: custom({ request }) })
}

function openSeller(
  { realm, chainId, recipient, currency, sponsoring }: ChargeOptions,
  key: Uint8Array,
  client: ReturnType<typeof openClient>,
) {
  const fees = sponsoring && {
    feePayer: sponsoring.sponsor.account,
    feePayerPolicy: sponsoring.sponsor.policy,
    sponsorBudget: { store: sponsoring.store },
  }
  return Mppx.create({
    realm,
    secretKey: secretKeyOf(key),
    methods: [tempo.charge({ currency, recipient, chainId, getClient: () => client, ...fees })],
  })
}

const failed: PaymentOutcome = { kind: 'failed' }
const unknown: PaymentOutcome = { kind: 'unknown' }

/**
 * The transaction of a credential: its hash, null where a sponsor's signature will change it, and how
 * long it can be mined. @throws PaymentRefusedError
 */
async function transactionIn(
  credential: Credential.Credential,
): Promise<Pick<CheckedPayment, 'txHash' | 'validBeforeSeconds'>> {
  const pushed = hashIn(credential)
  if (pushed !== null) return { txHash: pushed, validBeforeSeconds: expiryOf(credential) }
  const { payload, challenge } = credential
  const serialized = isRecord(payload) ? payload['signature'] : undefined
  if (!isTempoTransaction(serialized)) throw mppRefusal(new Error('no transaction to send'))
  const transaction = Transaction.deserialize(serialized)
  const { validBefore } = transaction
  // Only what runs out can be told to have failed.
  if (validBefore === undefined) throw mppRefusal(new Error('the transaction is valid for ever'))
  const details = challenge.request['methodDetails']
  const isSponsored = isRecord(details) && details['feePayer'] === true
  return {
    txHash: isSponsored ? null : keccak256(await Transaction.serialize(transaction)),
    validBeforeSeconds: Number(validBefore),
  }
}

/** The hash of a transaction that the payer has sent itself; null for others. */
function hashIn({ payload }: Pick<Credential.Credential, 'payload'>): `0x${string}` | null {
  if (!isRecord(payload) || payload['type'] !== 'hash') return null
  const { hash } = payload
  return isHash(hash) ? lowercased(hash) : null
}

function refused(cause: unknown): never {
  throw mppRefusal(cause)
}

const receiptOf = (txHash: string, seconds: number): Receipt.Receipt => ({
  method: 'tempo',
  status: 'success',
  timestamp: new Date(seconds * 1_000).toISOString(),
  reference: txHash,
})

const isAddress = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

/** 0x78: what a sponsor is to sign too. */
const isTempoTransaction = (value: unknown): value is `0x76${string}` | `0x78${string}` =>
  typeof value === 'string' && /^0x7[68]/.test(value)
