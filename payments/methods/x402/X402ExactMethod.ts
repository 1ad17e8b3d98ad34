/**
 * x402 version 2, scheme `exact`: a payer signs a transfer of one token (EIP-3009) that a facilitator
 * sends. The protocol is the library's; the nonce of an authorization is what its payment spends, and
 * the chain alone says whether it settled.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { PendingSettlementStore } from '@x402/core/facilitator'
import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { x402ResourceServer } from '@x402/core/server'
import type { PaymentRequirements } from '@x402/core/types'
import { ApiError } from '#http/errors.ts'
import { amountOf } from '#money/amounts.ts'
import type { CheckedPayment } from '#rows/payments/payments.ts'
import type { Clock } from '#runtime/runtime.ts'
import {
  type Challenge,
  type DocumentedOffer,
  type Identity,
  type PaymentMethod,
  type PaymentOutcome,
  PaymentRefusedError,
  type RequestPrice,
  type Unsent,
} from '../PaymentMethod.ts'
import type { Sends } from '../Sends.ts'
import {
  type Authorization,
  authorizationIn,
  authorizationRefusal,
  PAYMENT_IDENTIFIER,
} from './authorization.ts'
import type { Facilitator } from './Facilitator.ts'
import type { AuthorizationFate, PaymentToken, TokenChain } from './TokenChain.ts'

export interface X402Options {
  /** The origin of the service. */
  readonly origin: string
  readonly chainId: number
  /** Lowercase address of a token that is worth a dollar. */
  readonly asset: `0x${string}`
  readonly recipient: `0x${string}`
  /** Null while nothing can settle. */
  readonly token: () => PaymentToken | null
  /** The token as offered before: payments in it may settle still. */
  readonly known: () => PaymentToken | null
  readonly chain: Pick<TokenChain, 'outcomeOf'>
  readonly facilitator: Facilitator
  /** Transactions of authorizations whose outcome is not known, by signature. */
  readonly pending: Pick<PendingSettlementStore, 'set'>
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Is told how sends go. */
  readonly sends?: Pick<Sends, 'went' | 'failed' | 'doubt'>
}

/** An authorization is good for so long. */
const VALID_SECONDS = 300
/** Clocks of payers may be ahead by so much. */
const SKEW_SECONDS = 60
/** A node may be behind the one that a facilitator asks. */
const LOOKS_MAX = 8
const LOOK_MS = 500
/** A longer query is left out of what a challenge shows of its request. */
const URL_CHARACTERS_MAX = 512

/** The same for every offer, so that a payer can repeat a payment by a name of its own. */
const extensions = {
  [PAYMENT_IDENTIFIER]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[A-Za-z0-9_-]+$' },
      },
      required: ['required'],
    },
  },
}

export class X402ExactMethod implements PaymentMethod {
  readonly name = 'x402/exact'
  readonly #options: X402Options
  readonly #network: `eip155:${number}`
  readonly #server = new x402ResourceServer()

  constructor(options: X402Options) {
    this.#options = options
    this.#network = `eip155:${options.chainId}`
  }

  offersOf(dollars: string): readonly DocumentedOffer[] {
    const token = this.#options.token()
    if (!token) return []
    const { asset: currency } = this.#options
    return [{ intent: 'exact', method: 'x402', currency, amount: `${amountOf(dollars, 1, token.decimals)}` }]
  }

  async challenge(price: RequestPrice, url: string): Promise<Challenge | null> {
    const token = this.#options.token()
    if (!token) return null
    const required = await this.#server.createPaymentRequiredResponse(
      [this.#requirementsOf(price, token)],
      { url: this.#shown(url), description: price.description },
      undefined,
      extensions,
    )
    const header = encodePaymentRequiredHeader(required)
    return {
      headers: { 'payment-required': header },
      body: JSON.stringify(required),
      contentType: 'application/json; charset=utf-8',
    }
  }

  presentedIn(headers: IncomingHttpHeaders): string | null {
    const header = headers['payment-signature']
    if (header === undefined) return null
    if (Array.isArray(header) || header.includes(','))
      throw new ApiError('request_invalid', 'A request carries one payment.')
    return header
  }

  identityOf(credential: string): Identity | null {
    try {
      const authorization = authorizationIn(credential)
      return { identity: this.#identity(authorization), digest: authorization.digest }
    } catch (error) {
      if (error instanceof PaymentRefusedError) return null
      throw error
    }
  }

  async check(credential: string, price: RequestPrice): Promise<CheckedPayment> {
    const { chainId, asset, recipient, clock, facilitator, token } = this.#options
    const authorization = authorizationIn(credential)
    const requirements = this.#askedOf(authorization, price, token())
    const { validBeforeSeconds, payload, payer, digest, reference } = authorization
    // Only what runs out soon can be told to have failed.
    if (validBeforeSeconds > clock.now() / 1_000 + VALID_SECONDS + SKEW_SECONDS)
      throw authorizationRefusal(`is valid for longer than ${VALID_SECONDS} seconds`)
    const problem = await facilitator.verify(payload, requirements).catch((cause: unknown) => {
      throw new ApiError('upstream_error', undefined, { cause })
    })
    if (problem !== null) throw authorizationRefusal(`would not settle: ${problem}`)
    return {
      identity: this.#identity(authorization),
      credentialDigest: digest,
      ...{ chainId, currency: asset, amount: BigInt(requirements.amount), recipient, payer },
      ...{ txHash: null, validBeforeSeconds, reference },
    }
  }

  async send(
    credential: string,
    price: RequestPrice,
    payment: CheckedPayment,
  ): Promise<PaymentOutcome | Unsent> {
    const { facilitator, pending, sends, known } = this.#options
    const authorization = authorizationIn(credential)
    const { payload } = authorization
    const settled = await facilitator
      .settle(payload, this.#askedOf(authorization, price, known()))
      // It may have been sent: the chain is asked.
      .catch(() => {
        sends?.failed()
        return { txHash: null }
      })
    if (settled === 'unsent') {
      sends?.doubt()
      return {
        kind: 'unsent',
        problem: authorizationRefusal('could not be sent: the chain would not take it').problem,
      }
    }
    const { txHash } = settled
    const outcome = await this.#told({ ...payment, txHash })
    if (outcome.kind === 'settled') sends?.went()
    const { signature } = payload.payload
    if (outcome.kind === 'unknown' && txHash !== null && typeof signature === 'string')
      await pending.set(signature, txHash)
    return outcome
  }

  async outcome(payment: CheckedPayment): Promise<PaymentOutcome> {
    const nonce = payment.identity.split(':').at(-1) ?? ''
    return this.#outcomeOf(await this.#options.chain.outcomeOf({ ...payment, nonce }), payment)
  }

  readonly receiptHeaders = (receipt: string) => ({ 'payment-response': receipt })

  /** Looks more than once where a transaction was told. */
  async #told(payment: CheckedPayment): Promise<PaymentOutcome> {
    for (let looks = 1; ; looks++) {
      const outcome = await this.outcome(payment)
      if (outcome.kind !== 'unknown' || payment.txHash === null || looks === LOOKS_MAX) return outcome
      await this.#options.clock.sleep(LOOK_MS)
    }
  }

  #outcomeOf(found: AuthorizationFate, { payer, amount }: CheckedPayment): PaymentOutcome {
    if (found.kind !== 'settled') return found
    const { txHash: transaction } = found
    const told = { success: true, transaction, network: this.#network, payer, amount: `${amount}` }
    return { kind: 'settled', receipt: encodePaymentResponseHeader(told), txHash: transaction }
  }

  #identity({ payer, nonce }: Authorization): string {
    return `${this.#network}:${this.#options.asset}:${payer}:${nonce}`
  }

  /** The requirements that the authorization answers, if they are offered. @throws PaymentRefusedError */
  #askedOf({ payload }: Authorization, price: RequestPrice, token: PaymentToken | null): PaymentRequirements {
    const requirements = token && this.#requirementsOf(price, token)
    const found = requirements && this.#server.findMatchingRequirements([requirements], payload)
    if (!found) throw authorizationRefusal('is for another price, payee, token or chain')
    return found
  }

  #requirementsOf(
    { dollars, units }: RequestPrice,
    { decimals, name, version }: PaymentToken,
  ): PaymentRequirements {
    const { asset, recipient: payTo } = this.#options
    return {
      ...{ scheme: 'exact', network: this.#network, asset, payTo },
      amount: `${amountOf(dollars, units, decimals)}`,
      maxTimeoutSeconds: VALID_SECONDS,
      extra: { name, version },
    }
  }

  /** A URL can hold a key. */
  #shown(url: string): string {
    const shown = new URL(url, this.#options.origin)
    shown.searchParams.delete('key')
    if (shown.href.length > URL_CHARACTERS_MAX) shown.search = ''
    return shown.href.slice(0, URL_CHARACTERS_MAX)
  }
}
