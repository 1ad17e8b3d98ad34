import type { Address } from '#primitives.ts'
import { stablecoinDexAddress } from '../../addresses.ts'
import { orderFilled, orderPlaced } from '../../events/exchange/stablecoinDex.ts'
import {
  type ActivityTransaction,
  defineActivity,
  listOccurrences,
  type TokenMovement,
  tokenAmount,
} from '../activity.ts'

export const swap = defineActivity({
  type: 'swap',
  title: 'Tokens swapped',
  find(tx) {
    const found = findSwap(tx)
    if (found === null) return null
    const { source, destination } = found
    return {
      logIndex: source.logIndex,
      data: {
        sourceToken: tokenAmount(source.token, source.amount),
        destinationToken: tokenAmount(destination.token, destination.amount),
      },
    }
  },
})

/** An account's payments to the exchange and its receipts; each side summed over its token. */
export interface Swap {
  readonly party: Address
  readonly source: SwapSide
  readonly destination: SwapSide
}

export interface SwapSide {
  readonly token: Address
  readonly amount: bigint
  readonly logIndex: number
  /** The movements that it sums. */
  readonly movements: readonly TokenMovement[]
}

/** A swap of the viewer, else of who sent the transaction. */
export function findSwap(tx: ActivityTransaction): Swap | null {
  return findSwapOf(tx.viewer, tx) ?? findSwapOf(tx.facts.from, tx)
}

/**
 * Tokens into the exchange and other tokens out of it. Placing an order and withdrawing look alike,
 * but fill nothing.
 */
function findSwapOf(party: Address, tx: ActivityTransaction): Swap | null {
  const paid = tx.movements.filter(({ from, to }) => from === party && to === stablecoinDexAddress)
  const got = tx.movements.filter(({ from, to }) => from === stablecoinDexAddress && to === party)
  const source = sumOf(paid, paid[0]?.token)
  const destination = sumOf(got, got.at(-1)?.token)
  if (source === null || destination === null || source.token === destination.token) return null
  const isFilled = listOccurrences(tx, orderFilled).length > 0
  if (!isFilled && listOccurrences(tx, orderPlaced).length > 0) return null
  return { party, source, destination }
}

function sumOf(movements: readonly TokenMovement[], token: Address | undefined): SwapSide | null {
  const same = movements.filter((movement) => movement.token === token)
  const [first] = same
  if (first === undefined) return null
  const amount = same.reduce((sum, movement) => sum + movement.amount, 0n)
  return { token: first.token, amount, logIndex: first.logIndex, movements: same }
}
