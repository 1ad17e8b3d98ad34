/** Transactions that revert, in the ways they do on every chain. */
import {
  type Action,
  type Intent,
  type Scene,
  someRecipient,
  someWallet,
  units,
} from '#local/devchain/traffic/action.ts'
import { abiCall, faultyAbi, onExchange, onToken, pathUsd } from '#local/devchain/traffic/calls.ts'

export const failures: readonly Action[] = [
  { kind: 'overdraw', weight: 2, build: overdraw },
  { kind: 'failLateInBatch', weight: 1, build: failLateInBatch },
  { kind: 'payFrozen', weight: 1, build: payFrozen },
  { kind: 'mintAsStranger', weight: 1, build: mintAsStranger },
  { kind: 'cancelUnknownOrder', weight: 1, build: cancelUnknownOrder },
  { kind: 'contractRevert', weight: 2, build: contractRevert },
  { kind: 'failInside', weight: 1, build: failInside },
]

/** More than there is of any token. */
const tooMuch = units(1_000_000_000_000)

function overdraw(scene: Scene): Intent {
  return { from: someWallet(scene), calls: [onToken(pathUsd, 'transfer', someRecipient(scene), tooMuch)] }
}

/** The first payments succeed, and are undone with the last. */
function failLateInBatch(scene: Scene): Intent {
  const pay = (amount: bigint) => onToken(pathUsd, 'transfer', someRecipient(scene), amount)
  return { from: someWallet(scene), calls: [pay(1n), pay(2n), pay(tooMuch)], gas: 2_000_000n }
}

function payFrozen({ world, dice }: Scene): Intent {
  const call = onToken(world.launches.guarded.address, 'transfer', dice.pick(world.frozen), 1n)
  return { from: world.issuer, calls: [call] }
}

function mintAsStranger(scene: Scene): Intent {
  const from = someWallet(scene)
  return { from, calls: [onToken(scene.world.launches.harbor.address, 'mint', from.address, units(1))] }
}

function cancelUnknownOrder(scene: Scene): Intent {
  return { from: someWallet(scene), calls: [onExchange('cancel', 10n ** 12n)] }
}

/** Reason text, custom error, no data, panics, and (way 5) out of gas. */
function contractRevert(scene: Scene): Intent {
  const way = BigInt(scene.dice.between(0, 5))
  const call = abiCall(scene.world.contracts.faulty, faultyAbi, 'fail', [way])
  return { from: someWallet(scene), calls: [call], gas: 600_000n }
}

/** Succeeds over an inner failure. */
function failInside(scene: Scene): Intent {
  const way = BigInt(scene.dice.between(0, 4))
  const call = abiCall(scene.world.contracts.faulty, faultyAbi, 'failInside', [way])
  return { from: someWallet(scene), calls: [call], gas: 800_000n }
}
