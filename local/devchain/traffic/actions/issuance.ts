/** Creating, minting and burning tokens, and what their issuer may change about them. */

import { Abis } from 'viem/tempo'
import {
  type Action,
  type Intent,
  type Scene,
  someRecipient,
  someWallet,
  units,
} from '#local/devchain/traffic/action.ts'
import {
  abiCall,
  alphaUsd,
  onExchange,
  onToken,
  pathUsd,
  roleOf,
  type TxCall,
  tokenAddress,
  tokenFactory,
} from '#local/devchain/traffic/calls.ts'
import { writeMemo } from '#local/devchain/traffic/memo.ts'

export const issuance: readonly Action[] = [
  { kind: 'mint', weight: 4, build: mint },
  { kind: 'burn', weight: 3, build: burn },
  { kind: 'launchToken', weight: 1, build: launchToken },
  { kind: 'setSupplyCap', weight: 1, build: setSupplyCap },
  { kind: 'togglePause', weight: 2, build: togglePause },
  { kind: 'changeQuoteToken', weight: 1, build: changeQuoteToken },
  { kind: 'changeRole', weight: 1, build: changeRole },
  { kind: 'setRewardRecipient', weight: 1, build: setRewardRecipient },
  { kind: 'distributeReward', weight: 1, build: distributeReward },
  { kind: 'claimRewards', weight: 1, build: claimRewards },
]

function mint(scene: Scene): Intent {
  const { dice, world } = scene
  const token = dice.pick(everyday(scene))
  const [to, amount] = [someRecipient(scene), dice.amount(1e6, 1e11)]
  const call = dice.chance(0.6)
    ? onToken(token, 'mint', to, amount)
    : onToken(token, 'mintWithMemo', to, amount, writeMemo(dice))
  return { from: world.issuer, calls: [call] }
}

function burn(scene: Scene): Intent {
  const { dice, world } = scene
  const token = dice.pick(everyday(scene))
  const amount = dice.amount(1e6, 1e10)
  const call = dice.chance(0.6)
    ? onToken(token, 'burn', amount)
    : onToken(token, 'burnWithMemo', amount, writeMemo(dice))
  return { from: world.issuer, calls: [call] }
}

/** A wallet's own dollar, minted and listed in the transaction that creates it. */
function launchToken(scene: Scene): Intent | undefined {
  const { dice, world } = scene
  const from = someWallet(scene)
  if (from.accessKey) return undefined
  const salt = dice.bytes(32)
  const token = tokenAddress(from.address, salt)
  const name = `${dice.pick(['Moss', 'Ember', 'Tide', 'Cedar', 'Flint'])} Dollar ${dice.between(1, 999)}`
  const symbol = name.slice(0, 3).toUpperCase()
  const friends = [from.address, dice.pick(world.wallets).address]
  const create = abiCall(tokenFactory, Abis.tip20Factory, 'createToken', [
    name,
    symbol,
    'USD',
    pathUsd,
    from.address,
    salt,
  ])
  const after: TxCall[] = [
    onToken(token, 'grantRole', roleOf('ISSUER_ROLE'), from.address),
    ...friends.map((friend) => onToken(token, 'mint', friend, units(dice.between(1000, 1_000_000)))),
    onExchange('createPair', token),
  ]
  return { from, calls: [create, ...after], gas: 12_000_000n, envelope: 'tempo' }
}

function setSupplyCap({ dice, world }: Scene): Intent {
  const cap = units(10_000_000_000) + dice.amount(1, 1e12)
  return { from: world.issuer, calls: [onToken(world.launches.lever.address, 'setSupplyCap', cap)] }
}

function togglePause({ learned, world }: Scene): Intent {
  const token = world.launches.lever.address
  return { from: world.issuer, calls: [onToken(token, learned.paused.has(token) ? 'unpause' : 'pause')] }
}

function changeQuoteToken({ dice, world }: Scene): Intent {
  const token = world.launches.lever.address
  const quote = dice.pick([pathUsd, alphaUsd])
  return {
    from: world.issuer,
    calls: [onToken(token, 'setNextQuoteToken', quote), onToken(token, 'completeQuoteTokenUpdate')],
  }
}

function changeRole(scene: Scene): Intent {
  const { dice, world } = scene
  const role = roleOf(dice.pick(['ISSUER_ROLE', 'PAUSE_ROLE']))
  const change = dice.pick<'grantRole' | 'revokeRole'>(['grantRole', 'grantRole', 'revokeRole'])
  const calls: Intent['calls'] = [
    onToken(world.launches.lever.address, change, role, someWallet(scene).address),
    onToken(world.launches.lever.address, 'setRoleAdmin', role, roleOf('UNPAUSE_ROLE')),
    onToken(world.launches.lever.address, 'setRoleAdmin', role, `0x${'00'.repeat(32)}`),
  ]
  return { from: world.issuer, calls }
}

function setRewardRecipient(scene: Scene): Intent {
  const from = someWallet(scene)
  const recipient = scene.dice.chance(0.8) ? from.address : someWallet(scene).address
  return { from, calls: [onToken(scene.world.launches.harbor.address, 'setRewardRecipient', recipient)] }
}

function distributeReward({ dice, world }: Scene): Intent {
  const call = onToken(world.launches.harbor.address, 'distributeReward', dice.amount(1e6, 1e9))
  return { from: world.issuer, calls: [call] }
}

function claimRewards(scene: Scene): Intent {
  return { from: someWallet(scene), calls: [onToken(scene.world.launches.harbor.address, 'claimRewards')] }
}

function everyday({ world: { launches } }: Scene) {
  return [launches.harbor.address, launches.meridian.address, launches.euro.address]
}
