/** Contracts beside Tempo's own: coins, collectibles, vaults, factories, failures. */
import { abiCall, onExchange, onToken, pathUsd, unlimited } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'
import { itemAt, sha256 } from '../../random.ts'
import { coinAbi, createCoin, factoryAbi, failingAbi, nftAbi, vaultAbi, zooAbi } from '../contracts.ts'
import type { Scene } from '../scene.ts'
import type { Transaction } from '../transaction.ts'

export function coin(scene: Scene): Transaction {
  const { random } = scene
  const { kind, address, owners } = random.favour(scene.coins)
  const from = random.pick(owners)
  const to = scene.recipient()
  if (kind === 'Coin' && random.chance(0.2))
    return { from, calls: [abiCall(address, coinAbi, 'approve', [to, random.magnitude(1, 1e15)])] }
  const owner = scene.world.byAddress.get(to)
  if (owner) owners.push(owner)
  const amount = random.magnitude(1, from === owners[0] ? 1e4 : 10)
  return { from, calls: [abiCall(address, coinAbi, 'transfer', [to, amount])] }
}

export function nft(scene: Scene): Transaction {
  const { random } = scene
  const from = scene.wallet()
  const id = BigInt(random.between(1, 1e9)) << BigInt(random.below(200))
  return { from, calls: [abiCall(scene.contract('Nft'), nftAbi, 'mint', [id])] }
}

export function vault(scene: Scene): Transaction {
  const { random } = scene
  const from = scene.wallet()
  const address = scene.contract('Vault')
  const assets = random.magnitude(1e6, 1e9)
  const choice = random.below(6)
  const receiver = random.chance(0.8) ? from.address : scene.recipient()
  if (choice < 3) {
    const deposit = abiCall(address, vaultAbi, 'deposit', [assets, receiver])
    return { from, calls: scene.approved(from, pathUsd, address, deposit), gas: 3_000_000n }
  }
  if (choice === 3) {
    const shares = (assets / 10n) * 10n ** 12n
    return { from, calls: [abiCall(address, vaultAbi, 'redeem', [shares, receiver])] }
  }
  if (choice === 4)
    return { from, calls: [abiCall(address, vaultAbi, 'withdrawExact', [assets / 10n, receiver])] }
  return { from, calls: [abiCall(address, vaultAbi, 'depositVenueShares', [assets, receiver])] }
}

/** Logs of odd shapes. */
export function zoo(scene: Scene): Transaction {
  const { random } = scene
  const from = scene.wallet()
  const args = [BigInt(random.below(18)), random.magnitude(1, 1e15)] as const
  return { from, calls: [abiCall(scene.contract('Zoo'), zooAbi, 'show', args)] }
}

/** A creation inside a call, which no receipt names. */
export function factoryMade(scene: Scene): Transaction {
  const from = scene.wallet()
  const salt: Hex = `0x${sha256(scene.random.next())}`
  return { from, calls: [abiCall(scene.contract('Factory'), factoryAbi, 'make', [salt])], gas: 6_000_000n }
}

export function deploy(scene: Scene): Transaction | undefined {
  const { random } = scene
  const from = scene.wallet()
  // Access keys may not create contracts.
  if (from.hasAccessKey) return undefined
  const word = random.pick(['Moon', 'Sun', 'Star', 'Comet'])
  const name = `${word} ${random.between(1, 999)}`
  const decimals = random.pick([0, 2, 6, 8, 18])
  return {
    from,
    calls: [createCoin(name, word.toUpperCase(), decimals, random.magnitude(1e6, 1e15))],
    gas: 10_000_000n,
    onReceipt: ({ contractAddress: address }) => {
      if (address) scene.coins.push({ kind: 'Coin', address, owners: [from] })
    },
  }
}

/**
 * Failures of every kind. All are made and one is chosen, so that each takes as much of the seed.
 */
export function fail(scene: Scene): Transaction {
  const { random, world } = scene
  const from = scene.wallet()
  const { acme, initech } = world.launched
  const tooMuch = () => onToken(scene.tokenOf(from), 'transfer', scene.recipient(), unlimited / 2n)
  const calls = random.pick([
    [tooMuch()],
    [onToken(scene.tokenOf(from), 'transfer', scene.recipient(), 1n), tooMuch()],
    [onToken(initech.address, 'transfer', random.pick(world.frozen).address, 1n)],
    [onToken(acme.address, 'mint', from.address, 1n)],
    [onToken(pathUsd, 'transfer', pathUsd, 1n)],
    [onExchange('place', itemAt(world.pairs, 0)[0], 1n, true, 10)],
    [onExchange('cancel', 10n ** 12n)],
    [abiCall(scene.contract('Failing'), failingAbi, 'fail', [BigInt(random.below(7))])],
    [abiCall(scene.contract('Failing'), failingAbi, 'swallow', [BigInt(random.below(3))])],
    [{ to: scene.contract('Zoo'), data: '0xdeadbeef' as const }],
  ])
  return { from, calls, gas: random.pick([600_000n, 1_000_000n]) }
}

/** EIP-7702: a wallet takes on a contract's code, and pays somebody with the same transaction. */
export function delegate(scene: Scene): Transaction | undefined {
  const from = scene.wallet()
  if (!from.signsEthereum) return undefined
  const call = onToken(pathUsd, 'transfer', scene.recipient(), scene.amount())
  return { from, envelope: 'eip7702', delegate: scene.contract('Nft'), calls: [call] }
}
