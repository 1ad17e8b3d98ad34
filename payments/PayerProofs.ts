/**
 * The account that asks, where nothing is to be paid: it signs a charge of zero, which moves no money.
 * A proof is bound to one request and holds once.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Errors } from 'mppx'
import { Mppx, tempo } from 'mppx/server'
import { createClient, type Transport } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import type { Challenged } from '#http/request/access.ts'
import { isRecord, lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { useProof } from '#rows/payments/accountProofs.ts'
import { challengeOf } from './challengeOf.ts'
import { secretKeyOf, signedByLibrary } from './methods/ChallengeSigner.ts'
import {
  bySeller,
  challengeOfSigned,
  mppCredentialIn,
  mppMetaIn,
  mppPaymentIn,
  mppRefusal,
} from './methods/mpp.ts'
import { PaymentRefusedError } from './methods/PaymentMethod.ts'
import type { RefusedPayments } from './RefusedPayments.ts'
import { type PaidRequest, requestDigest } from './requestDigest.ts'

export interface PayerProofsOptions {
  readonly app: AppDatabase
  readonly realm: string
  /** The newest first; challenges of the others are taken still. Each has 32 bytes at least. */
  readonly keys: readonly Uint8Array[]
  readonly chainId: number
  readonly recipient: `0x${string}`
  readonly currency: `0x${string}`
  readonly transport: Transport
  /** Counts what is not accepted. */
  readonly refused: RefusedPayments
}

/** Challenges of one moment would be one, by which one of those who asked could prove itself. */
const SALT_BYTES = 12

/** The account that asks, or what it is asked to sign. */
export type Proved = { readonly kind: 'proved'; readonly payer: `0x${string}` } | Challenged

type Seller = ReturnType<typeof openSeller>

export class PayerProofs {
  readonly #options: PayerProofsOptions
  #sellers: readonly Seller[] = []

  constructor(options: PayerProofsOptions) {
    this.#options = options
    this.use(options.keys)
  }

  /** The first signs challenges from now on; those of the others are taken still. */
  use(keys: readonly Uint8Array[]): void {
    this.#sellers = keys.map((key) => openSeller(this.#options, key))
  }

  /**
   * Which account asks.
   * @param caller id of whoever sends the request, by which refusals are counted
   * @throws ApiError request_invalid for two credentials, and rate_limit_exceeded
   */
  async prove(headers: IncomingHttpHeaders, request: PaidRequest, caller: string): Promise<Proved> {
    const presented = mppPaymentIn(headers)
    if (!presented) return this.#challenge(request)
    return this.#options.refused.look(caller, () => this.#look(presented.credential, request))
  }

  async #look(credential: string, request: PaidRequest): Promise<Proved> {
    try {
      return { kind: 'proved', payer: await this.#payerOf(credential, request) }
    } catch (error) {
      if (!(error instanceof PaymentRefusedError)) throw error
      return this.#challenge(request, error.problem)
    }
  }

  async #challenge(request: PaidRequest, problem?: PaymentRefusedError['problem']): Promise<Challenged> {
    const [seller] = this.#sellers
    if (!seller) throw new TypeError('a seller has a key')
    const salt = randomBytes(SALT_BYTES).toString('base64url')
    const signed = await seller.challenge.tempo.charge(this.#termsOf(request, salt))
    const challenged = challengeOf([challengeOfSigned([signedByLibrary(signed)])], problem)
    if (!challenged) throw new TypeError('there is a challenge')
    return challenged
  }

  /** @throws PaymentRefusedError */
  async #payerOf(text: string, request: PaidRequest): Promise<`0x${string}`> {
    const { app, realm } = this.#options
    const credential = mppCredentialIn(text)
    const { meta, description: _, ...terms } = this.#termsOf(request, mppMetaIn(text)['salt'] ?? '')
    const validation = await bySeller(this.#sellers, (seller) =>
      seller.validateCredential(credential, { request: terms, meta, realm }),
    ).catch((cause: unknown) => {
      throw mppRefusal(cause)
    })
    const sender = isRecord(validation.details) ? validation.details['sender'] : undefined
    if (typeof sender !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(sender))
      throw mppRefusal(new Error('nobody is proved'))
    if (!(await useProof(app, credential.challenge.id)))
      throw mppRefusal(new Errors.VerificationFailedError({ reason: 'the proof was used before' }))
    return lowercased(sender)
  }

  #termsOf(request: PaidRequest, salt: string) {
    const { realm, chainId, recipient, currency } = this.#options
    return {
      ...{ amount: '0', currency, decimals: 6, chainId, recipient },
      description: 'proves an account, and moves no money',
      meta: { salt, proves: requestDigest(realm, request).toString('base64url') },
    }
  }
}

function openSeller({ realm, chainId, recipient, currency, transport }: PayerProofsOptions, key: Uint8Array) {
  const client = createClient({ chain: { ...tempoChain, id: chainId }, transport })
  return Mppx.create({
    realm,
    secretKey: secretKeyOf(key),
    methods: [tempo.charge({ currency, recipient, chainId, getClient: () => client })],
  })
}
