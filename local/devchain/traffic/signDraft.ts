/**
 * From what shall happen to signed bytes: every envelope and signature a Tempo node takes up to T4.
 */
import { toHex } from 'viem'
import { Transaction } from 'viem/tempo'
import type { Hex } from '#primitives.ts'
import type { TxCall } from './calls.ts'
import type { Party } from './parties.ts'

/**
 * Ethereum's envelopes carry one call and pay in the token Tempo infers; `tempo` (0x76) has all the
 * rest.
 */
export type Envelope = 'tempo' | 'eip1559' | 'eip2930' | 'legacy' | 'eip7702'

/** A transaction before its nonce is known. */
export interface TxDraft {
  readonly from: Party
  /** One for Ethereum's envelopes, one or more for `tempo`. */
  readonly calls: readonly [TxCall, ...TxCall[]]
  readonly gas: bigint
  readonly envelope: Envelope
  /** Attodollars per gas above the base fee, for `eip1559` and `eip7702`; a few when absent. */
  readonly tip?: bigint
  readonly feeToken?: Hex
  readonly sponsor?: Party
  /** A lane of nonces of its own; `expiringLane` does not count at all. */
  readonly nonceKey?: bigint
  readonly validBefore?: number
  readonly validAfter?: number
  /** Code the sender takes on, for `eip7702`. */
  readonly delegate?: Hex
  /** Expiry of the access key this transaction authorises, with `limits` if the key has any. */
  readonly authorizeUntil?: number
  readonly limits?: readonly { readonly token: Hex; readonly limit: bigint }[]
}

/**
 * Nonce key of transactions that expire instead of counting: at most 30 s, then the same bytes are
 * worthless.
 */
export const expiringLane = 2n ** 256n - 1n

/** Twice the base fee, in attodollars per gas. */
const maxFeePerGas = 40_000_000_000n

/** Signs a draft with the next nonce of its sender, or of its lane. */
export async function signDraft(draft: TxDraft, nonce: number, chainId: number): Promise<Hex> {
  return draft.envelope === 'tempo'
    ? signTempo(draft, nonce, chainId)
    : signEthereum(draft, draft.envelope, nonce, chainId)
}

async function signTempo(draft: TxDraft, nonce: number, chainId: number): Promise<Hex> {
  const { from, calls, gas, feeToken, sponsor, nonceKey, validBefore, validAfter } = draft
  const authorization = draft.authorizeUntil === undefined ? undefined : await authorize(draft, chainId)
  return from.signer.signTransaction(
    {
      ...{ type: 'tempo', chainId, calls, gas, nonce, maxFeePerGas, maxPriorityFeePerGas: 0n },
      ...(feeToken && { feeToken }),
      ...(sponsor && { feePayer: sponsor.root }),
      ...(nonceKey !== undefined && { nonceKey }),
      ...(validBefore !== undefined && { validBefore }),
      ...(validAfter !== undefined && { validAfter }),
      ...(authorization && { keyAuthorization: authorization }),
    },
    { serializer: Transaction.serialize },
  )
}

async function authorize({ from, authorizeUntil, limits }: TxDraft, chainId: number) {
  if (!from.accessKey) return undefined
  return from.root.signKeyAuthorization(from.accessKey.account, {
    chainId: BigInt(chainId),
    ...(authorizeUntil !== undefined && { expiry: authorizeUntil }),
    ...(limits && { limits }),
  })
}

async function signEthereum(
  { from, calls: [call], gas, delegate, tip }: TxDraft,
  type: Exclude<Envelope, 'tempo'>,
  nonce: number,
  chainId: number,
): Promise<Hex> {
  const { plain } = from
  if (!plain) throw new TypeError(`${from.address} has no key for an Ethereum envelope`)
  const fields = { chainId, gas, nonce, ...call }
  const dynamic = { ...fields, maxFeePerGas, maxPriorityFeePerGas: tip ?? BigInt(nonce % 3) }
  if (type === 'eip1559') return plain.signTransaction({ type, ...dynamic })
  if (type === 'legacy') return plain.signTransaction({ type, ...fields, gasPrice: maxFeePerGas })
  if (type === 'eip2930') {
    const storageKeys = [toHex(nonce, { size: 32 })]
    const accessList = call.to ? [{ address: call.to, storageKeys }] : []
    return plain.signTransaction({ type, ...fields, gasPrice: maxFeePerGas, accessList })
  }
  if (!delegate) throw new TypeError('an eip7702 draft names the code to take on')
  const authorization = { chainId, address: delegate, nonce: nonce + 1 }
  const authorizationList = [await plain.signAuthorization(authorization)]
  return plain.signTransaction({ type, ...dynamic, authorizationList })
}
