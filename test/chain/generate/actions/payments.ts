/** Payments, and what their senders and issuers do around them. */

import { units } from '#local/devchain/traffic/action.ts'
import { onToken, type TxCall, unlimited } from '#local/devchain/traffic/calls.ts'
import { writeMemo } from '../memo.ts'
import type { Scene } from '../scene.ts'
import type { Transaction } from '../transaction.ts'

export function transfer(scene: Scene): Transaction {
  const from = scene.wallet()
  return { from, calls: [onToken(scene.tokenOf(from), 'transfer', scene.recipient(), scene.amount())] }
}

export function memo(scene: Scene): Transaction {
  const from = scene.wallet()
  const [token, to, amount] = [scene.tokenOf(from), scene.recipient(), scene.amount()]
  return { from, calls: [onToken(token, 'transferWithMemo', to, amount, writeMemo(scene.random))] }
}

/** Many payments in one transaction. */
export function payout(scene: Scene): Transaction {
  const { random } = scene
  const from = scene.wallet()
  const token = scene.tokenOf(from)
  const pay = (): TxCall => {
    const plain = random.chance(0.5)
    const [to, amount] = [scene.recipient(), scene.amount()]
    return plain
      ? onToken(token, 'transfer', to, amount)
      : onToken(token, 'transferWithMemo', to, amount, writeMemo(random))
  }
  return { from, calls: Array.from({ length: random.between(2, 12) }, pay), gas: 5_000_000n }
}

export function approve(scene: Scene): Transaction {
  const [owner, spender, token] = [scene.wallet(), scene.wallet(), scene.commonToken()]
  scene.allowance = { owner, spender, token }
  const amount = scene.random.chance(0.2) ? unlimited : units(5_000)
  return { from: owner, calls: [scene.approval(owner, token, spender.address, amount)] }
}

export function spend(scene: Scene): Transaction | undefined {
  if (!scene.allowance) return undefined
  const { random } = scene
  const { owner, spender, token } = scene.allowance
  const [to, amount] = [scene.recipient(), random.magnitude(1e3, 1e7)]
  const call = random.chance(0.5)
    ? onToken(token, 'transferFrom', owner.address, to, amount)
    : onToken(token, 'transferFromWithMemo', owner.address, to, amount, writeMemo(random))
  return { from: spender, calls: [call] }
}

export function mint(scene: Scene): Transaction {
  const { random, world } = scene
  const [to, amount, token] = [scene.recipient(), random.magnitude(1e6, 1e11), random.pick(world.issued)]
  const call = random.chance(0.6)
    ? onToken(token, 'mint', to, amount)
    : onToken(token, 'mintWithMemo', to, amount, writeMemo(random))
  return { from: world.issuer, calls: [call] }
}

export function burn({ random, world }: Scene): Transaction {
  const [token, amount] = [random.pick(world.issued), random.magnitude(1e6, 1e10)]
  const call = random.chance(0.6)
    ? onToken(token, 'burn', amount)
    : onToken(token, 'burnWithMemo', amount, writeMemo(random))
  return { from: world.issuer, calls: [call] }
}

export function reward(scene: Scene): Transaction {
  const { random, world } = scene
  const token = world.launched.acme.address
  if (random.chance(0.3))
    return { from: world.issuer, calls: [onToken(token, 'distributeReward', random.magnitude(1e6, 1e9))] }
  const from = scene.wallet()
  const recipient = random.chance(0.8) ? from.address : scene.wallet().address
  const call = random.chance(0.5)
    ? onToken(token, 'setRewardRecipient', recipient)
    : onToken(token, 'claimRewards')
  return { from, calls: [call] }
}
