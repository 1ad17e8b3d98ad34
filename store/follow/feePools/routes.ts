/**
 * By which pools the chain turns a fee into the validator's token. It decides before the transaction
 * runs, against the most that its gas may cost: the direct pool where that holds enough, else, since
 * T5, the pool into the quote token of the fee's token and from there the pool into the validator's.
 * No event tells which. Source: TIP-1033 and the fee manager of the node.
 */

import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { type Address, type Hash, hash } from '#primitives.ts'
import { zeroAddress } from '#transform/addresses.ts'
import { forkSeconds } from '#transform/forks.ts'

/**
 * When fees may take two hops on a chain, which T5 brought: from its start where its forks are not
 * known, since no chain lets a fee in that its pools cannot pay.
 */
export const twoHopsSinceOf = (chainId: number): number => forkSeconds('T5', chainId) ?? 0

/** The two tokens of a pool: fees come in the first and are paid out in the second. */
export interface PoolTokens {
  readonly userToken: Address
  readonly validatorToken: Address
}

/** keccak256(abi.encode(userToken, validatorToken)), as the fee manager has it. */
export function poolId({ userToken, validatorToken }: PoolTokens): Hash {
  const word = (token: Address) => token.slice(2).padStart(64, '0')
  return hash(keccak256Hex(Buffer.from(word(userToken) + word(validatorToken), 'hex')))
}

/** A pool's payout for a fee: 0.9970 of it, rounded down. */
export const turned = (amount: bigint): bigint => (amount * 9_970n) / 10_000n

/** The terms that decide the way of one fee. */
export interface FeeTerms {
  readonly token: Address
  /** The token's quote token before the transaction; null if nothing tells. */
  readonly quote: Address | null
  /** Gas limit at the price charged, in the fee token's smallest unit. */
  readonly most: bigint
  readonly mayTakeTwoHops: boolean
}

/**
 * The pools in the order in which they turn the fee; none where nothing has to be turned, or where
 * no pool is known that could. `reserveOf` gives what a pool may pay out: null where genesis is not
 * known, undefined where there is no pool.
 */
export function routeOf(
  { token, quote, most, mayTakeTwoHops }: FeeTerms,
  validatorToken: Address,
  reserveOf: (tokens: PoolTokens) => bigint | null | undefined,
): readonly PoolTokens[] {
  if (token === validatorToken) return []
  const direct = { userToken: token, validatorToken }
  const first = turned(most)
  if (covers(reserveOf(direct), first)) return [direct]
  const hops = mayTakeTwoHops ? hopsOver(quote, direct) : []
  const out = [first, turned(first)]
  if (hops.length > 0 && hops.every((hop, nth) => covers(reserveOf(hop), out[nth] ?? 0n))) return hops
  // The chain lets no such transaction in, so what we hold of a pool is wrong. The comparison with
  // the node mends it, whichever pool is moved.
  if (reserveOf(direct) !== undefined) return [direct]
  return hops.every((hop) => reserveOf(hop) !== undefined) ? hops : []
}

/** Both hops over a quote token; none where that leads nowhere else. */
export const hopsOver = (quote: Address | null, { userToken, validatorToken }: PoolTokens): PoolTokens[] =>
  quote === null || quote === zeroAddress || quote === validatorToken
    ? []
    : [
        { userToken, validatorToken: quote },
        { userToken: quote, validatorToken },
      ]

/** A reserve that is not known is taken to be enough: the direct pool is the usual way. */
const covers = (reserve: bigint | null | undefined, out: bigint): boolean =>
  reserve === null || (reserve !== undefined && reserve >= out)
