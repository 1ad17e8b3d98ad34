/**
 * Charges in tokens of a Tempo chain, by the Payment scheme of HTTP. The protocol is the library's:
 * here stand what is asked for, and what a look at the chain says of a transaction that was sent.
 */
import { createHash } from 'node:crypto'
import { Credential, Errors, type Receipt } from 'mppx'
import { Mppx, tempo } from 'mppx/server'
import { createClient, custom, keccak256, type Transport } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import { Transaction } from 'viem/tempo'
import { failure } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import { decimalOf } from './price.ts'

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
  /** To nodes of the chain. */
  readonly transport: Transport
}

/** What is asked for one request. */
export interface Price {
  /** SHA-256 of the request. */
  readonly digest: Uint8Array
  /** In the smallest unit of each currency, in their order. */
  readonly amounts: readonly { readonly currency: Currency; readonly amount: bigint }[]
  readonly description: string
}

/** A 402, which belongs to the protocol. */
export interface Challenge {
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
  readonly contentType: string
}

/** A credential that could be spent now. */
export interface CheckedCharge {
  readonly challengeId: string
  readonly credentialDigest: Uint8Array
  readonly currency: Currency
  readonly amount: bigint
  readonly payer: `0x${string}`
  readonly txHash: `0x${string}`
  readonly validBeforeSeconds: number
}

/** What became of a transaction. */
export type Outcome =
  | { readonly kind: 'settled'; readonly receipt: string }
  /** It is mined and moved nothing, or can be mined no more. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'unknown' }

/** The credential does not pay for this request; nothing was done with it. */
export class ChargeRefusedError extends failure('ChargeRefusedError', 'charge_refused', 'stop') {
  /** RFC 9457, for the body of the next challenge. */
  readonly problem: Readonly<Record<string, unknown>> | null

  constructor(cause: unknown) {
    super('the payment was not accepted', { cause })
    this.problem = cause instanceof Errors.PaymentError ? { ...cause.toProblemDetails() } : null
  }
}

export class TempoCharges {
  readonly #options: ChargeOptions
  readonly #client: ReturnType<typeof openClient>['client']
  readonly #sent: Set<string>
  readonly #sellers: readonly ReturnType<typeof openSeller>[]

  constructor(options: ChargeOptions) {
    this.#options = options
    const { client, sent } = openClient(options)
    this.#client = client
    this.#sent = sent
    this.#sellers = options.keys.map((key) => openSeller(options, key, client))
  }

  /** Offers in each currency, as far as `accept` (Accept-Payment) takes them. Writes no row. */
  async challenge(price: Price, url: string, accept: string | undefined): Promise<Challenge> {
    const [seller] = this.#sellers
    if (!seller) throw new TypeError('a seller has a key')
    const offers = price.amounts.map((asked) => ['tempo/charge', this.#termsOf(price, asked)] as const)
    const request = new Request(new URL(url, `http://${this.#options.realm}`), {
      headers: { accept: 'application/json', ...(accept !== undefined && { 'accept-payment': accept }) },
    })
    const answered = await seller.compose(...offers)(request)
    if (answered.status !== 402) throw new TypeError('a request without a payment is challenged')
    const { challenge } = answered
    return {
      headers: { 'www-authenticate': challengesIn(challenge.headers) },
      body: await challenge.text(),
      contentType: challenge.headers.get('content-type') ?? 'application/problem+json',
    }
  }

  /** Changes nothing. @throws ChargeRefusedError */
  async check(authorization: string, price: Price): Promise<CheckedCharge> {
    const credential = credentialIn(authorization)
    const asked = this.#askedIn(credential, price)
    const validation = await this.#withSeller((seller) =>
      seller.validateCredential(credential, this.#bindingOf(price, asked)),
    ).catch(refused)
    const details: unknown = validation.details
    const serialized = isRecord(details) ? details['serializedTransaction'] : undefined
    const sender = isRecord(details) ? details['sender'] : undefined
    if (!isTempoTransaction(serialized) || !isAddress(sender))
      throw refused(new Error('no transaction to send'))
    const transaction = Transaction.deserialize(serialized)
    const { validBefore } = transaction
    // Only what runs out can be told to have failed.
    if (validBefore === undefined) throw refused(new Error('the transaction is valid for ever'))
    return {
      challengeId: credential.challenge.id,
      credentialDigest: digestOf(authorization),
      ...asked,
      payer: lower(sender),
      txHash: keccak256(await Transaction.serialize(transaction)),
      validBeforeSeconds: Number(validBefore),
    }
  }

  /** Spends it. Unknown where it was sent and no block is known to have it. */
  async send(authorization: string, price: Price, charge: CheckedCharge): Promise<Outcome | 'unsent'> {
    const credential = credentialIn(authorization)
    const { txHash, currency, amount } = charge
    this.#sent.delete(txHash)
    try {
      const receipt = await this.#withSeller((seller) =>
        seller.broadcastCredential(credential, this.#bindingOf(price, { currency, amount })),
      )
      return { kind: 'settled', receipt: serialize(receipt) }
    } catch {
      // The library throws alike before and after it was sent.
      return this.#sent.has(txHash) ? this.outcome(charge) : 'unsent'
    } finally {
      this.#sent.delete(txHash)
    }
  }

  /** What the chain says of a transaction that may have been sent. */
  async outcome({
    txHash,
    validBeforeSeconds,
  }: Pick<CheckedCharge, 'txHash' | 'validBeforeSeconds'>): Promise<Outcome> {
    const receipt = await this.#ask('eth_getTransactionReceipt', [txHash])
    if (isRecord(receipt)) {
      if (receipt['status'] !== '0x1') return { kind: 'failed' }
      const block = await this.#ask('eth_getBlockByHash', [receipt['blockHash'], false])
      const seconds = isRecord(block) ? Number(block['timestamp']) : Number.NaN
      if (!Number.isSafeInteger(seconds)) return { kind: 'unknown' }
      return { kind: 'settled', receipt: serialize(receiptOf(txHash, seconds)) }
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

  /** The currency that the credential names, with what is asked in it now. @throws ChargeRefusedError */
  #askedIn(credential: Credential.Credential, { amounts }: Price): Price['amounts'][number] {
    const { currency } = credential.challenge.request
    const asked = amounts.find(({ currency: { address } }) => address === String(currency).toLowerCase())
    if (!asked) throw refused(new Error('the currency is not taken'))
    return asked
  }

  #termsOf({ digest, description }: Price, { currency, amount }: Price['amounts'][number]) {
    const { chainId, recipient } = this.#options
    return {
      amount: decimalOf(amount, currency.decimals),
      currency: currency.address,
      decimals: currency.decimals,
      chainId,
      recipient,
      description,
      meta: { request: Buffer.from(digest).toString('base64url') },
      supportedModes: ['pull'] satisfies ['pull'],
    }
  }

  #bindingOf(price: Price, asked: Price['amounts'][number]) {
    const { meta, description: _, ...request } = this.#termsOf(price, asked)
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

/** Each challenge by itself: together they are one header's value, parts of which have commas. */
function challengesIn(headers: Headers): string[] {
  const joined = headers.get('www-authenticate') ?? ''
  return joined.split(/,\s*(?=Payment\s)/)
}

/** What a credential is known by; null for what is none. */
export function identityOf(
  authorization: string,
): { readonly challengeId: string; readonly digest: Uint8Array } | null {
  try {
    return {
      challengeId: Credential.deserialize(authorization).challenge.id,
      digest: digestOf(authorization),
    }
  } catch {
    return null
  }
}

/** @throws ChargeRefusedError */
function credentialIn(authorization: string): Credential.Credential {
  try {
    return Credential.deserialize(authorization)
  } catch (cause) {
    throw refused(new Errors.MalformedCredentialError({ reason: messageIn(cause) }))
  }
}

function refused(cause: unknown): never {
  throw new ChargeRefusedError(cause)
}

const messageIn = (cause: unknown): string => (cause instanceof Error ? cause.message : 'not a credential')

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const receiptOf = (txHash: string, seconds: number): Receipt.Receipt => ({
  method: 'tempo',
  status: 'success',
  timestamp: new Date(seconds * 1_000).toISOString(),
  reference: txHash,
})

/** As it leaves in Payment-Receipt. */
const serialize = (receipt: Receipt.Receipt): string =>
  Buffer.from(JSON.stringify(receipt)).toString('base64url')

const isAddress = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const isTempoTransaction = (value: unknown): value is `0x76${string}` =>
  typeof value === 'string' && value.startsWith('0x76')

function asHex(text: string): `0x${string}` {
  if (!text.startsWith('0x')) throw new TypeError('not hexadecimal')
  return `0x${text.slice(2)}`
}

const lower = (address: `0x${string}`): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
