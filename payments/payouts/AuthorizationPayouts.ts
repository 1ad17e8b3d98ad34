/**
 * Payouts in a token with EIP-3009: an authorization is signed here, a facilitator brings it to the chain.
 * Its nonce is the payout's, so the token itself refuses to pay one attempt twice.
 */
import type { PendingSettlementStore } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { authorizationTypes } from '@x402/evm'
import { hashTypedData, type PrivateKeyAccount } from 'viem'
import { rescaled } from '#money/amounts.ts'
import { memoOf } from '#money/debtMemo.ts'
import { FEE_DECIMALS, type Fee, noFee } from '#money/fees.ts'
import type { Ask } from '#money/node.ts'
import { lookForTx, type Sought, type TxFate } from '#money/settled.ts'
import { FEE_MAX } from '#money/statedFee.ts'
import { lowercased } from '#primitives.ts'
import type { Payout, SignedTransaction } from '#rows/payments/payouts.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Facilitator } from '../methods/x402/Facilitator.ts'
import { asHex, type PaymentToken, type TokenChain } from '../methods/x402/TokenChain.ts'
import { type FeeTo, PayoutRefusedError, type PayoutSender } from './PayoutSender.ts'

export interface AuthorizationPayoutsOptions {
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly asset: `0x${string}`
  /** The one that money is sent from. */
  readonly account: PrivateKeyAccount
  readonly chain: TokenChain
  /** Null while nothing can settle. */
  readonly token: () => PaymentToken | null
  readonly facilitator: Facilitator
  /** Transactions that the facilitator told. */
  readonly pending: PendingSettlementStore
  readonly nodes: readonly Ask[]
  readonly clock: Clock
}

/** Some blocks of a slow chain. */
const VALID_SECONDS = 300
/** A facilitator that sends twice pays twice for one transfer. */
const RESEND_MS = 30_000

export class AuthorizationPayouts implements PayoutSender {
  readonly resendMs = RESEND_MS
  readonly #options: AuthorizationPayoutsOptions

  constructor(options: AuthorizationPayoutsOptions) {
    this.#options = options
  }

  get chainId(): number {
    return this.#options.chainId
  }

  async sign(payout: Payout): Promise<SignedTransaction> {
    const { account, chain, facilitator, clock } = this.#options
    const token = this.#tokenOf(payout)
    const left = await chain.balanceOf(account.address)
    if (left < payout.total)
      throw new PayoutRefusedError(
        `${lowercased(account.address)} has ${left} units of ${payout.currency} left`,
      )
    const nowSeconds = Math.max(Math.floor(clock.now() / 1_000), await chain.nowSeconds())
    const validBeforeSeconds = nowSeconds + VALID_SECONDS
    const next = { ...payout, attempt: payout.attempt + 1 }
    const typed = this.#typedData(next, token, validBeforeSeconds)
    const raw = await account.signTypedData(typed)
    const signed = { raw, txHash: hashTypedData(typed), validBeforeSeconds }
    const problem = await facilitator.verify(...this.#paymentOf(signed, next, token))
    if (problem !== null) throw new PayoutRefusedError(`its facilitator would not settle it: ${problem}`)
    return signed
  }

  async send(signed: SignedTransaction, payout: Payout): Promise<void> {
    const { facilitator, pending } = this.#options
    const payment = this.#paymentOf(signed, payout, this.#tokenOf(payout))
    // It may have been sent: the chain is asked.
    const sent = await facilitator.settle(...payment).catch(() => 'unknown' as const)
    if (typeof sent !== 'string' && sent.txHash !== null) await pending.set(signed.raw, sent.txHash)
  }

  async look({ raw, validBeforeSeconds }: SignedTransaction, payout: Payout): Promise<TxFate> {
    const { account, chain, nodes, pending } = this.#options
    const { attempt, to, total: amount } = payout
    const found = await chain.outcomeOf({
      ...{
        payer: account.address,
        nonce: memoOf(payout, attempt),
        recipient: to,
        amount,
        validBeforeSeconds,
      },
      txHash: (await pending.get(raw)) ?? null,
    })
    if (found.kind === 'failed') return { kind: 'absent' }
    if (found.kind === 'unknown') return found
    const mined = await lookForTx(nodes, { txHash: found.txHash, validBeforeSeconds })
    return mined.kind === 'absent' ? { kind: 'unknown' } : mined
  }

  lookAt(sought: Sought): Promise<TxFate> {
    return lookForTx(this.#options.nodes, sought)
  }

  /** Gas there is paid in the chain's coin, by the facilitator. */
  async statedFee(): Promise<bigint> {
    return 0n
  }

  /** No price in dollars states it: the most that a transfer may cost anywhere. @throws PayoutRefusedError */
  async feeTo(debt: Pick<Payout, 'currency'>): Promise<FeeTo> {
    const most = rescaled(FEE_MAX, FEE_DECIMALS, this.#tokenOf(debt).decimals)
    return { now: most, most }
  }

  /** Facilitators pay the chain. */
  feeIn(): Fee {
    return noFee
  }

  /** @throws PayoutRefusedError */
  #tokenOf({ currency }: Pick<Payout, 'currency'>): PaymentToken {
    const { asset, chainId, token } = this.#options
    const found = token()
    if (currency !== asset)
      throw new PayoutRefusedError(`${currency} is not what chain ${chainId} is paid in`)
    if (!found) throw new PayoutRefusedError(`nothing settles on chain ${chainId} now`)
    return found
  }

  #typedData(payout: Payout, { name, version }: PaymentToken, validBeforeSeconds: number) {
    const { chainId, asset } = this.#options
    return {
      domain: { name, version, chainId, verifyingContract: asset },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization' as const,
      message: this.#authorizationOf(payout, validBeforeSeconds),
    }
  }

  #authorizationOf(payout: Payout, validBeforeSeconds: number) {
    const { attempt, to, total: value } = payout
    return {
      ...{ from: lowercased(this.#options.account.address), to: asHex(to), value },
      ...{ validAfter: 0n, validBefore: BigInt(validBeforeSeconds), nonce: memoOf(payout, attempt) },
    }
  }

  /** As a payer of the service would present it. */
  #paymentOf(
    { raw: signature, validBeforeSeconds }: SignedTransaction,
    payout: Payout,
    { name, version }: PaymentToken,
  ): [payload: PaymentPayload, requirements: PaymentRequirements] {
    const { chainId, asset } = this.#options
    const { value, validAfter, validBefore, ...signed } = this.#authorizationOf(payout, validBeforeSeconds)
    const accepted: PaymentRequirements = {
      ...{ scheme: 'exact', network: `eip155:${chainId}`, asset, payTo: signed.to, amount: `${value}` },
      ...{ maxTimeoutSeconds: VALID_SECONDS, extra: { name, version } },
    }
    const authorization = {
      ...signed,
      ...{ value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` },
    }
    return [{ x402Version: 2, accepted, payload: { signature, authorization } }, accepted]
  }
}
