/** The stablecoin exchange and the pools that turn fees into the validators' token. */
import { Abis } from 'viem/tempo'
import { abiCall, exchange, feeManager, onExchange, pathUsd } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'
import { itemAt } from '../../random.ts'
import type { Scene } from '../scene.ts'
import type { Transaction } from '../transaction.ts'

/** Prices are 1 + tick / 100,000; ticks are multiples of ten. */
const TICK_STEP = 10
/** The middle of a market wanders as far as this to either side. */
const MIDDLE_MAX = 400

export const order = (scene: Scene): Transaction => placing(scene, false)

export const flip = (scene: Scene): Transaction => placing(scene, true)

function placing(scene: Scene, isFlip: boolean): Transaction {
  const { random, world } = scene
  const [base, quote] = random.pick(world.pairs)
  const middle = moveMiddle(scene, base)
  const isBid = random.chance(0.5)
  const away = TICK_STEP * (1 + random.zipf(12)) * (isBid ? -1 : 1)
  const chosen = random.chance(0.7) ? random.pick(world.makers) : scene.wallet()
  const stake = isBid ? quote : base
  const from = chosen.holds.includes(stake) ? chosen : itemAt(world.makers, 0)
  const amount = random.magnitude(100e6, 50_000e6)
  const call = isFlip
    ? onExchange('placeFlip', base, amount, isBid, middle + away, middle - away)
    : onExchange('place', base, amount, isBid, middle + away)
  return { from, calls: scene.approved(from, stake, exchange, call), gas: 5_000_000n }
}

function moveMiddle({ random, middles }: Scene, base: Hex): number {
  const moved = (middles.get(base) ?? 0) + TICK_STEP * random.between(-1, 1)
  const middle = Math.max(-MIDDLE_MAX, Math.min(MIDDLE_MAX, moved))
  middles.set(base, middle)
  return middle
}

export function cancel({ random, orders }: Scene): Transaction | undefined {
  const newest = [...orders.keys()].slice(-200)
  const id = newest[random.below(newest.length)]
  const from = id === undefined ? undefined : orders.get(id)
  if (id === undefined || !from) return undefined
  orders.delete(id)
  return { from, calls: [onExchange('cancel', id)] }
}

export function swap(scene: Scene): Transaction | undefined {
  const { random, world } = scene
  const [base, quote] = random.pick(world.pairs)
  const other = random.chance(0.2) ? random.pick(world.pairs)[0] : quote
  const [tokenIn, tokenOut] = random.chance(0.5) ? [other, base] : [base, other]
  const from = scene.wallet()
  if (tokenIn === tokenOut || !from.holds.includes(tokenIn)) return undefined
  const amount = random.magnitude(5e6, 5e9)
  const call = random.chance(0.7)
    ? onExchange('swapExactAmountIn', tokenIn, tokenOut, amount, 0n)
    : onExchange('swapExactAmountOut', tokenIn, tokenOut, amount, amount * 2n)
  return { from, calls: scene.approved(from, tokenIn, exchange, call), gas: 8_000_000n }
}

export function withdraw({ random, world }: Scene): Transaction {
  const from = random.pick(world.makers)
  const token = random.pick(random.pick(world.pairs))
  return { from, calls: [onExchange('withdraw', token, random.magnitude(1e4, 1e7))] }
}

export function pool({ random, world }: Scene): Transaction {
  const from = random.chance(0.5) ? world.issuer : random.pick(world.makers)
  const token = random.pick(world.feeTokens.slice(1))
  const name = from === world.issuer && random.chance(0.4) ? 'burn' : 'mint'
  const args = [token, pathUsd, random.magnitude(1e6, 1e9), from.address] as const
  return { from, calls: [abiCall(feeManager, Abis.feeAmm, name, args)] }
}

export function rebalance({ random, world }: Scene): Transaction {
  const from = random.pick(world.makers)
  const token = random.pick(world.feeTokens.slice(1))
  const args = [token, pathUsd, random.magnitude(100, 20_000), world.issuer.address] as const
  return { from, calls: [abiCall(feeManager, Abis.feeAmm, 'rebalanceSwap', args)] }
}

export function collectFees(scene: Scene): Transaction {
  const from = scene.wallet()
  const args = [scene.random.pick(scene.world.validators).address, pathUsd] as const
  return { from, calls: [abiCall(feeManager, Abis.feeManager, 'distributeFees', args)] }
}

export function preference(scene: Scene): Transaction {
  const from = scene.wallet()
  return { from, calls: [abiCall(feeManager, Abis.feeManager, 'setUserToken', [scene.commonToken()])] }
}
