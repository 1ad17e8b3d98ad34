/**
 * The facilitator in this process: the library's own, with an account of ours that pays the fees. Its
 * transactions are sent in turn, whatever process sends them, and cost no more a day than allowed.
 */
import { type PendingSettlementStore, x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createPublicClient, encodeFunctionData, type Hex, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  estimateFeesPerGas,
  getBalance,
  prepareTransactionRequest,
  sendRawTransaction,
  type VerifyTypedDataParameters,
} from 'viem/actions'
import { type Ask, askOf } from '#money/node.ts'
import { lowercased } from '#primitives.ts'
import { countingRefusals, noticingSends, sendCounted } from '../../chain/sendCounted.ts'
import { type Facilitator, FacilitatorError, txHashIn } from './Facilitator.ts'

/** Money for fees, and the turn to spend it. */
export interface FeeBudget {
  /**
   * One sender at a time, whatever process: the nonces of its transactions follow each other.
   * `reserve` takes what a transaction may cost at most. @throws FeesSpentError from `reserve`
   */
  inTurn<Result>(work: (reserve: (amount: bigint) => Promise<void>) => Promise<Result>): Promise<Result>
  /** Left today, in the smallest unit of the chain's own coin. */
  left(): Promise<bigint>
}

export interface LocalFacilitatorOptions {
  readonly chainId: number
  readonly key: Hex
  readonly transport: Transport
  readonly fees: FeeBudget
  readonly pending: PendingSettlementStore
  /** A request waits no longer for its block; after that the chain is asked. Default: 15 seconds. */
  readonly confirmationMs?: number
}

const CONFIRMATION_MS = 15_000
const POLL_MS = 250
/** A transfer by authorization of the common dollars, before the first one was sent. */
const TRANSFER_GAS = 100_000n
/** A wallet that is a contract may need any: one payer's says nothing of the next one's. */
const TRANSFER_GAS_MAX = 2n * TRANSFER_GAS

export class LocalFacilitator implements Facilitator {
  readonly #options: LocalFacilitatorOptions
  readonly #account: ReturnType<typeof privateKeyToAccount>
  readonly #client: ReturnType<typeof openClient>
  readonly #network: `eip155:${number}`
  readonly #nodes: readonly Ask[]
  /** That of the last transfer. */
  #gas = TRANSFER_GAS

  constructor(options: LocalFacilitatorOptions) {
    this.#options = options
    this.#account = privateKeyToAccount(options.key)
    this.#client = openClient(options)
    this.#network = `eip155:${options.chainId}`
    this.#nodes = [askOf(options.transport)]
  }

  async verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null> {
    const { isValid, invalidReason } = await this.#facilitator().verify(payload, requirements)
    return isValid ? null : (invalidReason ?? 'invalid')
  }

  async settle(payload: PaymentPayload, requirements: PaymentRequirements) {
    let named: string | null = null
    const sent = await sendCounted({ nodes: this.#nodes }, async () => {
      const told = await this.#facilitator().settle(payload, requirements)
      named = txHashIn(told.transaction)
      // The library tells alike what it did not send, and what it does not know of.
      if (!told.success) throw new FacilitatorError('it may not have settled')
    })
    const txHash = sent.kind === 'unsent' ? named : (sent.txHash ?? named)
    return txHash === null ? 'unsent' : { txHash }
  }

  async problem(network: string): Promise<string | null> {
    const { address } = this.#account
    if (network !== this.#network) return `it sends on ${this.#network}`
    const [balance, { maxFeePerGas }, left] = await Promise.all([
      getBalance(this.#client, { address }),
      this.#fees(),
      this.#options.fees.left(),
    ])
    const fee = this.#gas * maxFeePerGas
    const named = lowercased(address)
    if (balance < fee) return `${named} has too little to pay fees with`
    return left < fee ? `${named} has paid the fees of a day` : null
  }

  /** By the same estimate what is sent is paid for and what is offered can be sent: nodes have another. */
  #fees() {
    return estimateFeesPerGas(this.#client)
  }

  #facilitator(): x402Facilitator {
    const scheme = new ExactEvmScheme(this.#signer(), {
      // A payment that is refused by now costs no fee.
      simulateInSettle: true,
      pendingSettlementStore: this.#options.pending,
    })
    return new x402Facilitator().register(this.#network, scheme)
  }

  #signer(): FacilitatorEvmSigner {
    const client = this.#client
    const { address } = this.#account
    return toFacilitatorEvmSigner(
      {
        address,
        readContract: (asked) => client.readContract(asked),
        // The library's type says less of it than viem's.
        verifyTypedData: (asked) => client.verifyTypedData(asked as VerifyTypedDataParameters),
        getCode: (asked) => client.getCode(asked),
        waitForTransactionReceipt: (asked) => client.waitForTransactionReceipt(asked),
        writeContract: ({ address: to, abi, functionName, args, dataSuffix = '0x' }) => {
          const data = encodeFunctionData({ abi, functionName, args })
          return this.#send({ to, data: `${data}${dataSuffix.slice(2)}` as const })
        },
        sendTransaction: (asked) => this.#send(asked),
      },
      { confirmationTimeoutMs: this.#options.confirmationMs ?? CONFIRMATION_MS },
    )
  }

  #send(asked: { to: Hex; data: Hex }): Promise<Hex> {
    return this.#options.fees.inTurn(async (reserve) => {
      const request = await prepareTransactionRequest(this.#client, {
        ...{ ...asked, account: this.#account, chain: null, type: 'eip1559' },
        chainId: this.#options.chainId,
        ...(await this.#fees()),
        nonce: await this.#client.getTransactionCount({
          address: this.#account.address,
          blockTag: 'pending',
        }),
      })
      this.#gas = request.gas < TRANSFER_GAS_MAX ? request.gas : TRANSFER_GAS_MAX
      await reserve(request.gas * request.maxFeePerGas)
      const serializedTransaction = await this.#account.signTransaction(request)
      return sendRawTransaction(this.#client, { serializedTransaction })
    })
  }
}

const openClient = ({ transport }: LocalFacilitatorOptions) =>
  createPublicClient({
    transport: noticingSends(countingRefusals(transport)),
    pollingInterval: POLL_MS,
  })
