/**
 * Charges of MPP in tokens of a Tempo chain. The credential is a signed transfer that the seller
 * sends to the chain: what the library has signed is compared with the offer before it is kept.
 */
import { Credential } from 'mppx'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, decodeFunctionData, encodeEventTopics, type Hex, keccak256 } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { tempo as tempoChain } from 'viem/chains'
import { Abis, Transaction } from 'viem/tempo'
import { millionthsOf } from '#money/amounts.ts'
import { feeOf, noFee } from '#money/fees.ts'
import { type Ask, hashIn, numberIn, quantityIn } from '#money/node.ts'
import { logsIn } from '#money/settled.ts'
import { FEE_MAX } from '#money/statedFee.ts'
import { address, isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { challengesOf, isLive, type LiveOffer } from '../liveOffers.ts'
import { askAny, outcomeOn, type PayChain, transportOf } from '../payChain.ts'
import {
  type Payable,
  type Paying,
  type SentPayment,
  type SignedCredential,
  SigningError,
  type SpendOutcome,
  unsigned,
} from '../paying.ts'
import { StatedFees } from '../StatedFees.ts'

export interface TempoChargeOptions {
  readonly account: LocalAccount
  /** Those whose tokens it has. */
  readonly chains: readonly PayChain[]
  readonly clock: Clock
}

/** Seconds that a transfer may be mined in; the library takes 25. */
const VALID_SECONDS_MAX = 60
/** A challenge that ends sooner is not worth an answer's way. */
const LEFT_MS_MIN = 5_000

type Challenged = Awaited<ReturnType<typeof challengesOf>>[number]
type TempoTransaction = ReturnType<typeof Transaction.deserialize>

export class TempoChargePaying implements Paying {
  readonly protocol = 'mpp'
  readonly feeUnitsMax = FEE_MAX
  readonly #options: TempoChargeOptions
  readonly #fees: StatedFees

  constructor(options: TempoChargeOptions) {
    this.#options = options
    this.#fees = new StatedFees(options.clock)
  }

  async payable(answer: Parameters<Paying['payable']>[0]): Promise<readonly Payable[]> {
    const { account, clock } = this.#options
    const found = await challengesOf(answer)
    const payable = found.map(async (one): Promise<Payable[]> => {
      const chain = this.#chainOf(one.offer)
      if (!chain || !isCharge(one) || !isLive(one.offer, clock.now() + LEFT_MS_MIN)) return []
      return [
        {
          offer: { ...one.offer, chainId: chain.chainId },
          payer: address(account.address),
          feeUnits: one.offer.isSponsored ? 0n : FEE_MAX,
          statedFeeUnits: one.offer.isSponsored ? 0n : await this.#fees.of(chain),
          sign: (clientId) => this.#sign(answer, one, { chain, clientId }).catch(unsigned),
        },
      ]
    })
    return (await Promise.all(payable)).flat()
  }

  #chainOf({ network }: LiveOffer): PayChain | undefined {
    return this.#options.chains.find(({ chainId }) => network === `eip155:${chainId}`)
  }

  async outcome(sent: SentPayment): Promise<SpendOutcome> {
    const chain = this.#options.chains.find(({ chainId }) => chainId === sent.chainId)
    if (!chain) return { kind: 'unknown' }
    const { txHash } = sent
    return outcomeOn(chain, sent, (ask) =>
      txHash === null ? findTransfer(ask, sent) : findReceipt(ask, txHash, sent),
    )
  }

  async #sign(
    { headers }: Parameters<Paying['payable']>[0],
    one: Challenged,
    { chain, clientId }: { readonly chain: PayChain; readonly clientId: string },
  ): Promise<SignedCredential> {
    const { account } = this.#options
    const { chainId } = chain
    const client = createClient({
      account,
      chain: { ...tempoChain, id: chainId },
      transport: transportOf(chain),
    })
    const mppx = Mppx.create({
      polyfill: false,
      methods: [
        payByTempo.charge({
          ...{ account, clientId, getClient: () => client },
          ...{ mode: 'pull', allowedChainIds: [chainId] },
        }),
      ],
    })
    const asked = new Response(null, { status: 402, headers: headersOf(headers) })
    const fromBlock = numberIn(await askAny(chain)('eth_blockNumber', []))
    const payment = await mppx.preparePayment(asked, {
      orderChallenges: (offered) => offered.filter(({ challenge }) => isSame(challenge, one)),
    })
    const credential = await payment.createCredential()
    const transaction = transactionIn(credential)
    const memo = assertOffered(transaction, one, chainId, this.#options.clock.now())
    const txHash = one.offer.isSponsored ? null : keccak256(await Transaction.serialize(transaction))
    return {
      headers: paymentHeaders(payment.setCredential({}, credential).headers),
      reference: txHash ?? memo,
      ...{ txHash, fromBlock, validBeforeSeconds: Number(transaction.validBefore) },
    }
  }
}

/** One transfer, signed by us and sent by the seller: parts for others are not paid. */
function isCharge({ offer, challenge: { request } }: Challenged): boolean {
  const details = isRecord(request['methodDetails']) ? request['methodDetails'] : {}
  const { splits, supportedModes, memo } = details
  const isPulled = !Array.isArray(supportedModes) || supportedModes.includes('pull')
  const isPlain = splits === undefined && memo === undefined && details['machineTokenEnabled'] !== true
  return offer.method === 'tempo' && offer.intent === 'charge' && offer.amount > 0n && isPulled && isPlain
}

const isSame = (one: { readonly id: string }, { challenge }: Challenged): boolean => one.id === challenge.id

function transactionIn(credential: string): TempoTransaction {
  const { payload } = Credential.deserialize(credential)
  const signature = isRecord(payload) ? payload['signature'] : undefined
  if (typeof signature !== 'string' || !isSerialized(signature)) throw new SigningError('no transaction')
  return Transaction.deserialize(signature)
}

const isSerialized = (text: string): text is `0x76${string}` | `0x78${string}` => /^0x7[68]/.test(text)

/** The memo of the one transfer. @throws SigningError where it is not what was offered */
function assertOffered(
  transaction: TempoTransaction,
  { offer }: Challenged,
  chainId: number,
  nowMs: number,
): Hex {
  const { calls = [], gas = 0n, maxFeePerGas = 0n, validBefore } = transaction
  const [call, ...others] = calls
  if (!call?.data || others.length > 0) throw new SigningError('not one call')
  const { functionName, args } = decodeFunctionData({ abi: Abis.tip20, data: call.data })
  if (functionName !== 'transferWithMemo') throw new SigningError('not a transfer')
  const [recipient, amount, memo] = args
  const lastSecond = Math.floor(nowMs / 1_000) + VALID_SECONDS_MAX
  const isOffered =
    transaction.chainId === chainId &&
    call.to?.toLowerCase() === offer.token &&
    recipient.toLowerCase() === offer.recipient &&
    amount === offer.amount &&
    millionthsOf(BigInt(gas) * BigInt(maxFeePerGas)) <= FEE_MAX &&
    // Only what runs out can be told to have failed.
    validBefore !== undefined &&
    Number(validBefore) <= lastSecond
  if (!isOffered) throw new SigningError('not what was offered')
  return memo
}

async function findReceipt(ask: Ask, txHash: Hex, { payer }: SentPayment) {
  const receipt = await ask('eth_getTransactionReceipt', [txHash])
  if (!isRecord(receipt)) return null
  const { status, logs } = receipt
  const fee = feeOf(payer, logsIn(logs))
  return quantityIn(status) === 1n
    ? ({ kind: 'settled', txHash, fee } as const)
    : ({ kind: 'failed', fee, blockNumber: numberIn(receipt['blockNumber']) } as const)
}

/** The hash is decided by the account that pays for the transaction; the memo is bound to the challenge. */
async function findTransfer(ask: Ask, { currency, recipient, payer, reference, fromBlock }: SentPayment) {
  const topics = encodeEventTopics({
    abi: Abis.tip20,
    eventName: 'TransferWithMemo',
    args: { from: payer, to: recipient, memo: reference },
  })
  const range = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: 'latest' }
  const logs = await ask('eth_getLogs', [{ address: currency, topics, ...range }])
  if (!Array.isArray(logs)) throw new TypeError('not a list of logs')
  const [log] = logs
  if (!isRecord(log)) return null
  return { kind: 'settled', txHash: hashIn(log['transactionHash']), fee: noFee } as const
}

/** Names that a credential goes by; a seller does not choose any other. */
const credentialHeaders = new Set(['authorization', 'payment-authorization'])

function paymentHeaders(given: RequestInit['headers']): Record<string, string> {
  const headers = Object.fromEntries(new Headers(given))
  if (Object.keys(headers).some((name) => !credentialHeaders.has(name)))
    throw new SigningError('the seller wants the payment in a header of its own')
  return headers
}

function headersOf(told: Parameters<Paying['payable']>[0]['headers']): Headers {
  const headers = new Headers()
  for (const line of [told['www-authenticate'] ?? []].flat()) headers.append('www-authenticate', line)
  return headers
}
