/**
 * The facilitator in this process: the library's own, with an account of ours that pays the fees. Its
 * transactions are sent in turn, whatever process sends them, and cost no more a day than allowed.
 */
import { type PendingSettlementStore, x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createPublicClient, encodeFunctionData, type Hex, keccak256, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  estimateFeesPerGas,
  getBalance,
  prepareTransactionRequest,
  sendRawTransaction,
  type VerifyTypedDataParameters,
} from 'viem/actions'
import { type Facilitator, txHashIn } from './Facilitator.ts'

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
}

/** A request waits no longer for its block; after that the chain is asked. */
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
  /** That of the last transfer. */
  #gas = TRANSFER_GAS

  constructor(options: LocalFacilitatorOptions) {
    this.#options = options
    this.#account = privateKeyToAccount(options.key)
    this.#client = openClient(options)
    this.#network = `eip155:${options.chainId}`
  }

  async verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null> {
    const { isValid, invalidReason } = await this.#facilitator(() => {}).verify(payload, requirements)
    return isValid ? null : (invalidReason ?? 'invalid')
  }

  async settle(payload: PaymentPayload, requirements: PaymentRequirements) {
    let sent: string | null = null
    const facilitator = this.#facilitator((hash) => {
      sent = hash
    })
    const told = await facilitator.settle(payload, requirements).catch(() => null)
    // The library tells alike what it did not send, and what it does not know of.
    const txHash = sent ?? txHashIn(told?.transaction ?? '')
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
    if (balance < fee) return `${address} has too little to pay fees with`
    return left < fee ? `${address} has paid the fees of a day` : null
  }

  /** By the same estimate what is sent is paid for and what is offered can be sent: nodes have another. */
  #fees() {
    return estimateFeesPerGas(this.#client)
  }

  /** One for each payment: it tells what it sends. */
  #facilitator(sending: (txHash: Hex) => void): x402Facilitator {
    const scheme = new ExactEvmScheme(this.#signer(sending), {
      // What is refused by now costs no fee.
      simulateInSettle: true,
      pendingSettlementStore: this.#options.pending,
    })
    return new x402Facilitator().register(this.#network, scheme)
  }

  #signer(sending: (txHash: Hex) => void): FacilitatorEvmSigner {
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
          return this.#send({ to, data: `${data}${dataSuffix.slice(2)}` as const }, sending)
        },
        sendTransaction: (asked) => this.#send(asked, sending),
      },
      { confirmationTimeoutMs: CONFIRMATION_MS },
    )
  }

  #send(asked: { to: Hex; data: Hex }, sending: (txHash: Hex) => void): Promise<Hex> {
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
      sending(keccak256(serializedTransaction))
      return sendRawTransaction(this.#client, { serializedTransaction })
    })
  }
}

const openClient = ({ transport }: LocalFacilitatorOptions) =>
  createPublicClient({ transport, pollingInterval: POLL_MS })
