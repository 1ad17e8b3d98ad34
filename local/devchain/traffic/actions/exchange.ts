/** The stablecoin exchange: orders, flip orders, swaps that fill them, cancellations. */

import { type Action, type Intent, type Scene, someWallet } from '#local/devchain/traffic/action.ts'
import { exchange, onExchange, onToken } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'

export const trading: readonly Action[] = [
  { kind: 'placeOrder', weight: 8, build: (scene) => place(scene, false) },
  { kind: 'placeFlipOrder', weight: 4, build: (scene) => place(scene, true) },
  { kind: 'swapExactIn', weight: 6, build: swapExactIn },
  { kind: 'swapExactOut', weight: 3, build: swapExactOut },
  { kind: 'crossSwap', weight: 2, build: crossSwap },
  { kind: 'cancelOrder', weight: 4, build: cancelOrder },
  { kind: 'withdraw', weight: 1, build: withdraw },
]

/** Prices are 1 + tick / 100,000, ticks are multiples of ten. The spread moves around parity. */
const TICK_STEP = 10

/**
 * An order of a maker a few ticks away from the middle. Makers have given the exchange their
 * allowance.
 */
export function place({ dice, world }: Scene, isFlip: boolean): Intent {
  const [base] = dice.pick(world.pairs)
  const isBid = dice.chance(0.5)
  const away = TICK_STEP * dice.between(1, 12) * (isBid ? -1 : 1)
  const amount = dice.amount(150e6, 8_000e6)
  const call = isFlip
    ? onExchange('placeFlip', base, amount, isBid, away, -away)
    : onExchange('place', base, amount, isBid, away)
  return { from: dice.pick(world.makers), calls: [call], gas: 5_000_000n }
}

function swapExactIn(scene: Scene): Intent {
  const { dice } = scene
  const [tokenIn, tokenOut] = dice.shuffle(dice.pick(scene.world.pairs))
  return swapOf(scene, tokenIn, tokenOut, dice.amount(20e6, 2_000e6))
}

/** From one base to another: through two books, or three. */
function crossSwap(scene: Scene): Intent {
  const { dice, world } = scene
  const [one, other] = dice.shuffle(world.pairs.map(([base]) => base))
  return swapOf(scene, one, other, dice.amount(20e6, 500e6))
}

function swapOf(scene: Scene, tokenIn: Hex = '0x', tokenOut: Hex = '0x', amount: bigint): Intent {
  const swap = onExchange('swapExactAmountIn', tokenIn, tokenOut, amount, 0n)
  const calls: Intent['calls'] = [onToken(tokenIn, 'approve', exchange, amount), swap]
  return { from: someWallet(scene), calls, gas: 8_000_000n }
}

function swapExactOut(scene: Scene): Intent {
  const { dice } = scene
  const [tokenIn = '0x', tokenOut = '0x'] = dice.shuffle(dice.pick(scene.world.pairs))
  const amount = dice.amount(20e6, 1_000e6)
  const swap = onExchange('swapExactAmountOut', tokenIn, tokenOut, amount, amount * 2n)
  const calls: Intent['calls'] = [onToken(tokenIn, 'approve', exchange, amount * 2n), swap]
  return { from: someWallet(scene), calls, gas: 8_000_000n }
}

function cancelOrder({ dice, learned, world }: Scene): Intent | undefined {
  const open = [...learned.orders].flatMap(([id, maker]) => {
    const from = world.makers.find(({ address }) => address === maker)
    return from ? [{ id, from }] : []
  })
  if (open.length === 0) return undefined
  const { id, from } = dice.pick(open)
  learned.orders.delete(id)
  return { from, calls: [onExchange('cancel', id)] }
}

/** Withdraws balances that fills have credited inside the exchange. */
function withdraw({ dice, world }: Scene): Intent {
  const [base, quote] = dice.pick(world.pairs)
  const call = onExchange('withdraw', dice.pick([base, quote]), dice.amount(1e4, 1e7))
  return { from: dice.pick(world.makers), calls: [call] }
}
