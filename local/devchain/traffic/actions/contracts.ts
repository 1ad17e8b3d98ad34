/** Events in contracts that are not Tempo's own: coins, collectibles, a vault, deployments, odd logs. */
import {
  type Action,
  type Intent,
  type Scene,
  someRecipient,
  someWallet,
} from '#local/devchain/traffic/action.ts'
import {
  abiCall,
  collectibleAbi,
  createPlainToken,
  earnVaultAbi,
  oddLogsAbi,
  onToken,
  pathUsd,
  plainTokenAbi,
  type TxCall,
  workshopAbi,
} from '#local/devchain/traffic/calls.ts'

export const contractCalls: readonly Action[] = [
  { kind: 'coinTransfer', weight: 4, build: coinTransfer },
  { kind: 'coinApprove', weight: 1, build: coinApprove },
  { kind: 'collectibleMint', weight: 2, build: collectibleMint },
  { kind: 'vaultDeposit', weight: 3, build: (scene) => vaultEntry(scene, 'deposit') },
  { kind: 'vaultVenueDeposit', weight: 1, build: (scene) => vaultEntry(scene, 'depositVenueShares') },
  { kind: 'vaultRedeem', weight: 1, build: (scene) => vaultExit(scene, 'redeem') },
  { kind: 'vaultWithdraw', weight: 1, build: (scene) => vaultExit(scene, 'withdrawExact') },
  { kind: 'vaultRedeemInSteps', weight: 1, build: redeemInSteps },
  { kind: 'deployCoin', weight: 2, build: deployCoin },
  { kind: 'workshopBuild', weight: 1, build: workshopBuild },
  { kind: 'delegate', weight: 1, build: delegate },
  { kind: 'oddLog', weight: 3, build: oddLog },
]

/** Kinds that OddLogs knows. */
const ODD_LOG_KINDS = 14

function coinTransfer(scene: Scene): Intent {
  const { world, dice, learned } = scene
  const own = learned.coins.length > 0 && dice.chance(0.4) ? dice.pick(learned.coins) : undefined
  const from = world.wallets.find(({ address }) => address === own?.owner) ?? someWallet(scene)
  const coin = own?.address ?? world.contracts.coin
  return {
    from,
    calls: [abiCall(coin, plainTokenAbi, 'transfer', [someRecipient(scene), dice.amount(1, 1e9)])],
  }
}

function coinApprove(scene: Scene): Intent {
  const args = [someWallet(scene).address, scene.dice.amount(1, 1e18)] as const
  return {
    from: someWallet(scene),
    calls: [abiCall(scene.world.contracts.coin, plainTokenAbi, 'approve', args)],
  }
}

function collectibleMint(scene: Scene): Intent {
  const call = abiCall(scene.world.contracts.collectible, collectibleAbi, 'mint', [someRecipient(scene)])
  return { from: someWallet(scene), calls: [call] }
}

function vaultEntry(scene: Scene, name: 'deposit' | 'depositVenueShares'): Intent {
  const { world, dice } = scene
  const from = someWallet(scene)
  const assets = dice.amount(5e6, 1e9)
  const enter = abiCall(world.contracts.vault, earnVaultAbi, name, [assets, from.address])
  return { from, calls: [onToken(pathUsd, 'approve', world.contracts.vault, assets), enter], gas: 3_000_000n }
}

/** Wallets of the setup hold shares; others may have none, and then it fails. */
function vaultExit(scene: Scene, name: 'redeem' | 'withdrawExact'): Intent {
  const { world, dice } = scene
  const from = dice.pick(world.wallets.slice(0, 3))
  const args = [dice.amount(1e5, 2e7), dice.chance(0.8) ? from.address : someRecipient(scene)] as const
  return { from, calls: [abiCall(world.contracts.vault, earnVaultAbi, name, args)] }
}

function redeemInSteps({ world, dice }: Scene): Intent {
  const from = dice.pick(world.wallets.slice(0, 3))
  const steps = (cancel: boolean): TxCall =>
    abiCall(world.contracts.vault, earnVaultAbi, 'redeemInSteps', [
      dice.amount(1e5, 1e7),
      from.address,
      cancel,
    ])
  return { from, calls: [steps(true), steps(false)] }
}

function deployCoin(scene: Scene): Intent | undefined {
  const { dice } = scene
  const from = someWallet(scene)
  if (from.accessKey) return undefined
  const name = `${dice.pick(['Pebble', 'Comet', 'Lantern', 'Otter'])} ${dice.between(1, 999)}`
  const decimals = dice.pick([0, 2, 6, 8, 18, 18, 77])
  const call = createPlainToken(name, name.slice(0, 4).toUpperCase(), decimals, dice.amount(1e9, 1e27))
  return { from, calls: [call], gas: 12_000_000n }
}

/** A creation inside a call, which no receipt names. */
function workshopBuild(scene: Scene): Intent {
  const call = abiCall(scene.world.contracts.workshop, workshopAbi, 'build', [scene.dice.bytes(32)])
  return { from: someWallet(scene), calls: [call], gas: 8_000_000n }
}

/** EIP-7702: a wallet takes on a contract's code, and pays somebody with the same transaction. */
function delegate(scene: Scene): Intent | undefined {
  const from = scene.dice.pick(scene.world.wallets.slice(0, 3))
  if (!from.plain || from.accessKey) return undefined
  const call = onToken(pathUsd, 'transfer', someRecipient(scene), scene.dice.amount(1e4, 1e7))
  return { from, calls: [call], envelope: 'eip7702', delegate: scene.world.contracts.collectible }
}

function oddLog(scene: Scene): Intent {
  const kind = BigInt(scene.dice.between(0, ODD_LOG_KINDS - 1))
  const call = abiCall(scene.world.contracts.oddLogs, oddLogsAbi, 'emitOdd', [kind])
  return { from: someWallet(scene), calls: [call], gas: 2_000_000n }
}
