/** Paying: transfers, memos, payouts in one batch, allowances, virtual addresses. */

import {
  type Action,
  type Intent,
  type Scene,
  someRecipient,
  someWallet,
  units,
} from '#local/devchain/traffic/action.ts'
import { onToken, pathUsd, type TxCall, unlimited } from '#local/devchain/traffic/calls.ts'
import { attribution, writeMemo } from '#local/devchain/traffic/memo.ts'
import { everydayTokens } from '#local/devchain/traffic/world.ts'
import type { Hex } from '#primitives.ts'

export const payments: readonly Action[] = [
  { kind: 'transfer', weight: 22, build: transfer },
  { kind: 'transferWithMemo', weight: 14, build: transferWithMemo },
  { kind: 'machinePayment', weight: 4, build: machinePayment },
  { kind: 'payout', weight: 5, build: payout },
  { kind: 'approve', weight: 4, build: approve },
  { kind: 'transferFrom', weight: 4, build: transferFrom },
  { kind: 'virtualDeposit', weight: 2, build: virtualDeposit },
]

function transfer(scene: Scene): Intent {
  const { dice } = scene
  const amount = dice.chance(0.01) ? 0n : dice.amount(1e4, 3e9)
  return {
    from: someWallet(scene),
    calls: [onToken(someToken(scene), 'transfer', someRecipient(scene), amount)],
  }
}

function transferWithMemo(scene: Scene): Intent {
  return { from: someWallet(scene), calls: [payWithMemo(scene, someToken(scene))] }
}

/** A small sum for one answer of a service. */
function machinePayment(scene: Scene): Intent {
  const { dice, world } = scene
  const to = dice.pick(world.holders.slice(0, 3))
  const call = onToken(pathUsd, 'transferWithMemo', to, dice.amount(1e3, 2e5), attribution(dice))
  return { from: someWallet(scene), calls: [call] }
}

/** Salaries and the like: many payments that succeed or fail together. */
function payout(scene: Scene): Intent {
  const token = someToken(scene)
  const more = Array.from({ length: scene.dice.between(1, 9) }, () => payWithMemo(scene, token))
  return { from: someWallet(scene), calls: [payWithMemo(scene, token), ...more], gas: 6_000_000n }
}

function approve(scene: Scene): Intent {
  const { dice } = scene
  const [from, spender] = [someWallet(scene), someWallet(scene)]
  const amount = dice.chance(0.2) ? unlimited : units(dice.between(10, 5000))
  return { from, calls: [onToken(pathUsd, 'approve', spender.address, amount)] }
}

function transferFrom(scene: Scene): Intent | undefined {
  const { dice, learned, world } = scene
  const usable = learned.allowances.flatMap(({ token, owner, spender }) => {
    const party = world.wallets.find(({ address }) => address === spender)
    return party ? [{ token, owner, party }] : []
  })
  if (usable.length === 0) return undefined
  const { token, owner, party } = dice.pick(usable)
  const [to, amount] = [someRecipient(scene), dice.amount(1e3, 1e7)]
  const call = dice.chance(0.5)
    ? onToken(token, 'transferFrom', owner, to, amount)
    : onToken(token, 'transferFromWithMemo', owner, to, amount, writeMemo(dice))
  return { from: party, calls: [call] }
}

/**
 * A deposit address of a customer: master id, ten bytes 0xfd, tag. The token passes on to the
 * master at once.
 */
function virtualDeposit(scene: Scene): Intent {
  const { dice, world } = scene
  const tag = dice.between(1, 20).toString(16).padStart(12, '0')
  const to: Hex = `${world.virtualMaster.id}${'fd'.repeat(10)}${tag}`
  return { from: someWallet(scene), calls: [onToken(pathUsd, 'transfer', to, dice.amount(1e5, 1e8))] }
}

function payWithMemo(scene: Scene, token: Hex): TxCall {
  const { dice } = scene
  return onToken(token, 'transferWithMemo', someRecipient(scene), dice.amount(1e4, 1e9), writeMemo(dice))
}

function someToken({ world, dice }: Scene): Hex {
  return dice.favour(everydayTokens(world))
}
