/** Issuers' decisions about their tokens, and new tokens. */
import { Abis } from 'viem/tempo'
import { units } from '#local/devchain/traffic/action.ts'
import { abiCall, alphaUsd, onToken, pathUsd, policyRegistry, roleOf } from '#local/devchain/traffic/calls.ts'
import type { Scene } from '../scene.ts'
import type { Transaction } from '../transaction.ts'

export function policy(scene: Scene): Transaction {
  const { random, world } = scene
  const { issuer } = world
  const target = random.pick(world.frozen).address
  const registry = Abis.tip403Registry
  const changed = [scene.policy, target, random.chance(0.8)] as const
  const change = abiCall(policyRegistry, registry, 'modifyPolicyBlacklist', changed)
  const listed = [issuer.address, 0, [scene.recipient(), scene.recipient()]] as const
  const list = abiCall(policyRegistry, registry, 'createPolicyWithAccounts', listed)
  const compound = abiCall(policyRegistry, registry, 'createCompoundPolicy', [scene.policy, 1n, 1n])
  const seized = random.magnitude(1e3, 1e6)
  const seize = onToken(world.launched.initech.address, 'burnBlocked', target, seized)
  return { from: issuer, calls: [random.pick([change, list, compound, seize, seize])], gas: 4_000_000n }
}

/** Changes a token that is not traded, so that it may pause and change its quote token. */
export function govern(scene: Scene): Transaction {
  const { random, world } = scene
  const token = world.launched.pound.address
  const calls = random.pick([
    [onToken(token, 'setSupplyCap', units(1e12) + random.magnitude(1, 1e9))],
    [
      onToken(token, 'setNextQuoteToken', random.pick([pathUsd, alphaUsd])),
      onToken(token, 'completeQuoteTokenUpdate'),
    ],
    [onToken(token, random.pick(['pause', 'unpause'] as const))],
    [
      onToken(
        token,
        random.pick(['grantRole', 'revokeRole'] as const),
        roleOf('ISSUER_ROLE'),
        scene.wallet().address,
      ),
    ],
  ])
  return { from: world.issuer, calls }
}

/** A token of a wallet's own. */
export function launch(scene: Scene): Transaction | undefined {
  const { random } = scene
  const from = scene.wallet()
  if (from.hasAccessKey) return undefined
  const token = {
    name: `Wallet Coin ${random.below(1e6)}`,
    symbol: `W${random.below(1000)}`,
    currency: random.pick(['USD', 'EUR', 'JPY']),
    quote: pathUsd,
  }
  return { from, calls: [scene.creationOf(token, from.address, random.below(2 ** 40))], gas: 6_000_000n }
}
