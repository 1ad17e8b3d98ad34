/** The fee pools, and who pays and earns fees in which token. */
import { Abis } from 'viem/tempo'
import { type Action, type Intent, type Scene, someWallet } from '#local/devchain/traffic/action.ts'
import { abiCall, alphaUsd, feeManager, pathUsd } from '#local/devchain/traffic/calls.ts'

export const fees: readonly Action[] = [
  { kind: 'feePoolMint', weight: 2, build: mint },
  { kind: 'feePoolBurn', weight: 1, build: burn },
  { kind: 'feePoolRebalance', weight: 2, build: rebalance },
  { kind: 'distributeFees', weight: 1, build: distribute },
  { kind: 'setUserToken', weight: 1, build: setUserToken },
  { kind: 'setValidatorToken', weight: 1, build: setValidatorToken },
]

function mint({ dice, world }: Scene): Intent {
  const { address } = world.issuer
  const args = [poolToken({ dice, world }), pathUsd, dice.amount(1e6, 1e9), address] as const
  return { from: world.issuer, calls: [abiCall(feeManager, Abis.feeAmm, 'mint', args)] }
}

/** The issuer provided the liquidity of the setup. */
function burn({ dice, world }: Scene): Intent {
  const token = dice.pick([world.launches.harbor.address, world.launches.meridian.address])
  const args = [token, pathUsd, dice.amount(1e5, 1e8), world.issuer.address] as const
  return { from: world.issuer, calls: [abiCall(feeManager, Abis.feeAmm, 'burn', args)] }
}

/** Buys the user tokens that fees have left in a pool, for a little less than they are worth. */
function rebalance({ dice, world }: Scene): Intent {
  const from = dice.pick(world.makers)
  const args = [poolToken({ dice, world }), pathUsd, dice.amount(100, 5_000), from.address] as const
  return { from, calls: [abiCall(feeManager, Abis.feeAmm, 'rebalanceSwap', args)] }
}

function distribute(scene: Scene): Intent {
  const validator = scene.dice.pick(scene.world.validators).address
  const call = abiCall(feeManager, Abis.feeManager, 'distributeFees', [validator, pathUsd])
  return { from: someWallet(scene), calls: [call] }
}

function setUserToken(scene: Scene): Intent {
  const token = scene.dice.pick([pathUsd, scene.world.launches.harbor.address, alphaUsd])
  return { from: someWallet(scene), calls: [abiCall(feeManager, Abis.feeManager, 'setUserToken', [token])] }
}

/** Always pathUSD: another choice would need pools to it from every fee token. */
function setValidatorToken({ dice, world }: Scene): Intent {
  const call = abiCall(feeManager, Abis.feeManager, 'setValidatorToken', [pathUsd])
  return { from: dice.pick(world.validators), calls: [call] }
}

function poolToken({ dice, world }: Pick<Scene, 'dice' | 'world'>) {
  return dice.pick(world.feeTokens.filter((token) => token !== pathUsd))
}
