/**
 * x402 of its second version, scheme `exact`, by EIP-3009: the credential is an authorization that
 * the seller's facilitator settles, and the token itself tells whether its nonce was used.
 */
import { isDeepStrictEqual } from 'node:util'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import type { PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { encodeEventTopics, encodeFunctionData, pad, parseAbi } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { noFee } from '#money/fees.ts'
import { type Ask, hashIn, numberIn } from '#money/node.ts'
import { address, isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { balanceOf } from '../balance.ts'
import { codedNonce } from '../callCode.ts'
import { acceptsOf, isLive } from '../liveOffers.ts'
import { askAny, outcomeOn, type PayChain } from '../payChain.ts'
import {
  type Payable,
  type Paying,
  type SentPayment,
  type SignedCredential,
  SigningError,
  type SpendOutcome,
  unsigned,
} from '../paying.ts'

export interface X402ExactOptions {
  readonly account: LocalAccount
  readonly chains: readonly PayChain[]
  readonly clock: Clock
}

/** Seconds that an authorization may be settled in: a seller that wants longer is not paid. */
const VALID_SECONDS = { least: 5, most: 600 } as const

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

type Asking = Parameters<Paying['payable']>[0]
type Accepted = ReturnType<typeof acceptsOf>[number]

export class X402ExactPaying implements Paying {
  readonly protocol = 'x402'
  readonly feeUnitsMax = 0n
  readonly #options: X402ExactOptions

  constructor(options: X402ExactOptions) {
    this.#options = options
  }

  async payable(answer: Asking): Promise<readonly Payable[]> {
    const { account, chains, clock } = this.#options
    return acceptsOf(answer).flatMap((one): Payable[] => {
      const chain = chains.find(({ chainId }) => one.offer.network === `eip155:${chainId}`)
      if (!chain || !isTransfer(one) || !isLive(one.offer, clock.now())) return []
      return [
        {
          offer: { ...one.offer, chainId: chain.chainId },
          payer: address(account.address),
          // The chain is paid by the facilitator.
          ...{ feeUnits: 0n, statedFeeUnits: 0n },
          sign: (key) => this.#sign(answer, one, { chain, key }).catch(unsigned),
        },
      ]
    })
  }

  async outcome(sent: SentPayment): Promise<SpendOutcome> {
    const chain = this.#options.chains.find(({ chainId }) => chainId === sent.chainId)
    return chain ? outcomeOn(chain, sent, (ask) => findAuthorization(ask, sent)) : { kind: 'unknown' }
  }

  async #sign(
    { headers }: Asking,
    { accept }: Accepted,
    { chain, key }: { readonly chain: PayChain; readonly key: string },
  ): Promise<SignedCredential> {
    const { account } = this.#options
    const client = new x402Client()
      .register(`eip155:${chain.chainId}`, new CodedScheme(account, key))
      // Ours are stricter, and hold over all processes.
      .setSpendControls(false)
    const http = new x402HTTPClient(client)
    const required = http.getPaymentRequiredResponse((name) => String(headers[name.toLowerCase()] ?? ''))
    const accepts = required.accepts.filter((each) => isDeepStrictEqual(each, accept)).slice(0, 1)
    const fromBlock = numberIn(await askAny(chain)('eth_blockNumber', []))
    await assertHas(askAny(chain), account.address, accepts[0])
    const payload = await client.createPaymentPayload({ ...required, accepts })
    const { nonce, validBefore } = authorizationIn(payload.payload)
    return {
      headers: lowercased(http.encodePaymentSignatureHeader(payload)),
      ...{ reference: nonce, txHash: null, validBeforeSeconds: Number(validBefore), fromBlock },
    }
  }
}

/** Authorizations whose nonce has the code of their call. */
class CodedScheme extends ExactEvmScheme {
  readonly #coded: { nonce: `0x${string}` | null }

  constructor(account: LocalAccount, key: string) {
    const coded: { nonce: `0x${string}` | null } = { nonce: null }
    const { address: of } = account
    super({
      address: of,
      signTypedData: ({ message, ...typed }) => {
        coded.nonce = codedNonce(hashIn(message['nonce']), key)
        return account.signTypedData({ ...typed, message: { ...message, nonce: coded.nonce } })
      },
    })
    this.#coded = coded
  }

  override async createPaymentPayload(...asked: Parameters<ExactEvmScheme['createPaymentPayload']>) {
    const made = await super.createPaymentPayload(...asked)
    const { authorization } = made.payload
    const { nonce } = this.#coded
    if (!isRecord(authorization) || nonce === null) throw new SigningError('no authorization was signed')
    return { ...made, payload: { ...made.payload, authorization: { ...authorization, nonce } } }
  }
}

function isTransfer({ accept, version, offer: { amount } }: Accepted): boolean {
  if (version !== 2 || !isRecord(accept) || amount === 0n) return false
  const { maxTimeoutSeconds: seconds, extra } = accept
  const method = isRecord(extra) ? (extra['assetTransferMethod'] ?? 'eip3009') : undefined
  const isShort = Number.isInteger(seconds) && Number(seconds) <= VALID_SECONDS.most
  return method === 'eip3009' && isShort && Number(seconds) >= VALID_SECONDS.least
}

function authorizationIn(payload: Readonly<Record<string, unknown>>) {
  const { authorization } = payload
  if (!isRecord(authorization)) throw new SigningError('no authorization was signed')
  return { nonce: hashIn(authorization['nonce']), validBefore: authorization['validBefore'] }
}

/** An authorization that nothing stands behind would be refused, and be open until it ends. */
async function assertHas(
  ask: Ask,
  holder: `0x${string}`,
  accept: PaymentRequirements | undefined,
): Promise<void> {
  if (!accept) throw new SigningError('the offer is gone')
  const balance = await balanceOf(ask, accept.asset, holder)
  if (balance === null || balance < BigInt(accept.amount))
    throw new SigningError('the wallet has less than that')
}

async function findAuthorization(ask: Ask, { currency, payer, reference, fromBlock }: SentPayment) {
  const args = [payer, reference] as const
  const data = encodeFunctionData({ abi, functionName: 'authorizationState', args })
  const used = await ask('eth_call', [{ to: currency, data }, 'latest'])
  if (used !== pad('0x1', { size: 32 })) {
    if (used !== pad('0x0', { size: 32 })) throw new TypeError('the token tells no state')
    return null
  }
  const topics = encodeEventTopics({
    abi,
    eventName: 'AuthorizationUsed',
    args: { authorizer: payer, nonce: reference },
  })
  const range = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: 'latest' }
  const logs = await ask('eth_getLogs', [{ address: currency, topics, ...range }]).catch(() => [])
  const [log]: unknown[] = Array.isArray(logs) ? logs : []
  // The nonce names it where no node finds the log.
  const txHash = isRecord(log) ? hashIn(log['transactionHash']) : reference
  return { kind: 'settled', txHash, fee: noFee } as const
}

const lowercased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
