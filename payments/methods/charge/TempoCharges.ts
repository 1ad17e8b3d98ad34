/**
 * Charges in tokens of a Tempo chain, by the Payment scheme of HTTP. The protocol is the library's:
 * here stand what is asked for, and what a look at the chain says of a transaction that was sent.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Credential, Errors, type Receipt } from 'mppx'
import { Mppx, tempo } from 'mppx/server'
import { createClient, custom, keccak256, type Transport } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import { Transaction } from 'viem/tempo'
import { isRecord } from '#primitives.ts'
import type { CheckedPayment } from '#rows/payments/payments.ts'
import { amountOf, decimalOf } from '../../price.ts'
import {
  challengesIn,
  digestOf,
  mppCredentialIn,
  mppIdentityOf,
  mppMetaIn,
  mppPaymentIn,
  refusal,
  serializeReceipt,
} from '../mpp.ts'
import type { Challenge, DocumentedOffer, Outcome, PaymentMethod, Price } from '../PaymentMethod.ts'

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
  /** To nodes of the chain. */
  readonly transport: Transport
}

/** A price in one currency. */
interface Asked {
  readonly currency: Currency
  readonly amount: bigint
}

const SALT_BYTES = 9

export class TempoCharges implements PaymentMethod {
  readonly name = 'tempo/charge'
  readonly identityOf = mppIdentityOf
  readonly metaIn = mppMetaIn
  readonly #options: ChargeOptions
  readonly #client: ReturnType<typeof openClient>['client']
  readonly #sent: Set<string>
  #sellers: readonly ReturnType<typeof openSeller>[] = []

  constructor(options: ChargeOptions) {
    this.#options = options
    const { client, sent } = openClient(options)
    this.#client = client
    this.#sent = sent
    this.use(options.keys)
  }

  /** The first signs challenges from now on; those of the others are taken still. */
  use(keys: readonly Uint8Array[]): void {
    this.#sellers = keys.map((key) => openSeller(this.#options, key, this.#client))
  }

  offersOf(dollars: string): readonly DocumentedOffer[] {
    return this.#options.currencies().map(({ address: currency, decimals }) => ({
      ...{ intent: 'charge', method: 'tempo', currency },
      amount: `${amountOf(dollars, 1, decimals)}`,
    }))
  }

  async challenge(price: Price, url: string): Promise<Challenge | null> {
    const [seller] = this.#sellers
    if (!seller) throw new TypeError('a seller has a key')
    // Without salt two payers who ask for the same at once would have one challenge, good for one of them.
    const salt = randomBytes(SALT_BYTES).toString('base64url')
    const offers = this.#amountsOf(price).map(
      (asked) => ['tempo/charge', this.#termsOf(price, asked, salt)] as const,
    )
    if (offers.length === 0) return null
    const headers = { accept: 'application/json' }
    const request = new Request(new URL(url, `http://${this.#options.realm}`), { headers })
    const answered = await seller.compose(...offers)(request)
    if (answered.status !== 402) throw new TypeError('a request without a payment is challenged')
    const { challenge } = answered
    return {
      headers: { 'www-authenticate': challengesIn(challenge.headers) },
      body: await challenge.text(),
      contentType: challenge.headers.get('content-type') ?? 'application/problem+json',
    }
  }

  /** Takes what is no credential too, and says what is wrong with it. */
  presentedIn(headers: IncomingHttpHeaders): string | null {
    const presented = mppPaymentIn(headers)
    const { method = this.name, credential = null } = presented ?? {}
    return (method ?? this.name) === this.name ? credential : null
  }

  async check(text: string, price: Price): Promise<CheckedPayment> {
    const { chainId, recipient } = this.#options
    const credential = mppCredentialIn(text)
    const asked = this.#askedIn(credential, price)
    const validation = await this.#withSeller((seller) =>
      seller.validateCredential(credential, this.#bindingOf(price, asked, text)),
    ).catch(refused)
    const details: unknown = validation.details
    const serialized = isRecord(details) ? details['serializedTransaction'] : undefined
    const sender = isRecord(details) ? details['sender'] : undefined
    if (!isTempoTransaction(serialized) || !isAddress(sender))
      throw refusal(new Error('no transaction to send'))
    const transaction = Transaction.deserialize(serialized)
    const { validBefore } = transaction
    // Only what runs out can be told to have failed.
    if (validBefore === undefined) throw refusal(new Error('the transaction is valid for ever'))
    return {
      identity: credential.challenge.id,
      credentialDigest: digestOf(text),
      ...{ chainId, recipient, currency: asked.currency.address, amount: asked.amount },
      payer: sender.toLowerCase(),
      txHash: keccak256(await Transaction.serialize(transaction)),
      validBeforeSeconds: Number(validBefore),
      reference: null,
    }
  }

  /** Unknown where it was sent and no block is known to have it. */
  async send(text: string, price: Price, payment: CheckedPayment): Promise<Outcome | 'unsent'> {
    const { txHash } = payment
    if (txHash === null) throw new TypeError('a charge has a transaction')
    this.#sent.delete(txHash)
    try {
      const credential = mppCredentialIn(text)
      const asked = this.#askedIn(credential, price)
      const receipt = await this.#withSeller((seller) =>
        seller.broadcastCredential(credential, this.#bindingOf(price, asked, text)),
      )
      return { kind: 'settled', receipt: serializeReceipt(receipt), txHash }
    } catch {
      // The library throws alike before and after it was sent.
      return this.#sent.has(txHash) ? this.outcome(payment) : 'unsent'
    } finally {
      this.#sent.delete(txHash)
    }
  }

  readonly receiptHeaders = (receipt: string) => ({ 'payment-receipt': receipt })

  async outcome({ txHash, validBeforeSeconds }: CheckedPayment): Promise<Outcome> {
    if (txHash === null) throw new TypeError('a charge has a transaction')
    const receipt = await this.#ask('eth_getTransactionReceipt', [txHash])
    if (isRecord(receipt)) {
      if (receipt['status'] !== '0x1') return { kind: 'failed' }
      const block = await this.#ask('eth_getBlockByHash', [receipt['blockHash'], false])
      const seconds = isRecord(block) ? Number(block['timestamp']) : Number.NaN
      if (!Number.isSafeInteger(seconds)) return { kind: 'unknown' }
      return { kind: 'settled', receipt: serializeReceipt(receiptOf(txHash, seconds)), txHash }
    }
    if (receipt !== null) return { kind: 'unknown' }
    // A node that lags has not seen the block that may hold it.
    const last = await this.#ask('eth_getBlockByNumber', ['finalized', false])
    const passed = isRecord(last) ? Number(last['timestamp']) : Number.NaN
    if (!(passed > validBeforeSeconds)) return { kind: 'unknown' }
    return (await this.#ask('eth_getTransactionReceipt', [txHash])) === null
      ? { kind: 'failed' }
      : { kind: 'unknown' }
  }

  /** Undefined where no node answers. */
  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const request: (asked: { method: string; params: readonly unknown[] }) => Promise<unknown> =
      this.#client.transport.request
    return request({ method, params }).catch(() => undefined)
  }

  #amountsOf({ dollars, units }: Price): readonly Asked[] {
    return this.#options.currencies().map((currency) => ({
      currency,
      amount: amountOf(dollars, units, currency.decimals),
    }))
  }

  /** The currency that the credential names, with what is asked in it now. @throws PaymentRefusedError */
  #askedIn(credential: Credential.Credential, price: Price): Asked {
    const { currency } = credential.challenge.request
    const named = String(currency).toLowerCase()
    const asked = this.#amountsOf(price).find(({ currency: { address } }) => address === named)
    if (!asked) throw refusal(new Error('the currency is not taken'))
    return asked
  }

  #termsOf({ digest, description, meta }: Price, { currency, amount }: Asked, salt: string | undefined) {
    const { chainId, recipient } = this.#options
    return {
      amount: decimalOf(amount, currency.decimals),
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
      supportedModes: ['pull'] satisfies ['pull'],
    }
  }

  #bindingOf(price: Price, asked: Asked, text: string) {
    const { meta, description: _, ...request } = this.#termsOf(price, asked, mppMetaIn(text)['salt'])
    return { request, meta, realm: this.#options.realm }
  }

  /** The one that made the challenge; the newest where none did. */
  async #withSeller<Result>(
    work: (seller: ReturnType<typeof openSeller>) => Promise<Result>,
  ): Promise<Result> {
    let first: unknown
    for (const seller of this.#sellers) {
      try {
        return await work(seller)
      } catch (error) {
        first ??= error
        if (!(error instanceof Errors.InvalidChallengeError)) throw error
      }
    }
    throw first
  }
}

const SENDS = new Set(['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])

/** A client that remembers the hashes of transactions it has begun to send. */
function openClient({ chainId, transport }: ChargeOptions) {
  const sent = new Set<string>()
  const chain = { ...tempoChain, id: chainId }
  const inner = createClient({ chain, transport })
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    const [raw] = Array.isArray(params) ? params : []
    if (SENDS.has(method) && typeof raw === 'string') sent.add(keccak256(asHex(raw)))
    const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = inner.transport.request
    return ask({ method, ...(params !== undefined && { params }) })
  }
  return { client: createClient({ chain, transport: custom({ request }) }), sent }
}

function openSeller(
  { realm, chainId, recipient, currency }: ChargeOptions,
  key: Uint8Array,
  client: ReturnType<typeof openClient>['client'],
) {
  return Mppx.create({
    realm,
    secretKey: Buffer.from(key).toString('hex'),
    methods: [tempo.charge({ currency, recipient, chainId, getClient: () => client })],
  })
}

function refused(cause: unknown): never {
  throw refusal(cause)
}

const receiptOf = (txHash: string, seconds: number): Receipt.Receipt => ({
  method: 'tempo',
  status: 'success',
  timestamp: new Date(seconds * 1_000).toISOString(),
  reference: txHash,
})

const isAddress = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const isTempoTransaction = (value: unknown): value is `0x76${string}` =>
  typeof value === 'string' && value.startsWith('0x76')

function asHex(text: string): `0x${string}` {
  if (!text.startsWith('0x')) throw new TypeError('not hexadecimal')
  return `0x${text.slice(2)}`
}
