/** The setup before everyday life: tokens, money, markets, contracts, policies, keys. */
import { Abis } from 'viem/tempo'
import { units } from '#local/devchain/traffic/action.ts'
import {
  abiCall,
  alphaUsd,
  exchange,
  feeManager,
  onExchange,
  onToken,
  pathUsd,
  policyRegistry,
  roleOf,
  type TxCall,
} from '#local/devchain/traffic/calls.ts'
import type { MinedTransaction } from '#local/devchain/traffic/produceBlock.ts'
import { itemAt } from '../random.ts'
import { order } from './actions/exchange.ts'
import type { Actor } from './actor.ts'
import { createCoin, createContract, createVault } from './contracts.ts'
import type { CoinContract, Deployed, Scene } from './scene.ts'
import type { Transaction } from './transaction.ts'

/** Mines one block. */
export type Mine = (transactions: readonly Transaction[]) => Promise<void>

const GIFTS_OF_TRANSACTION = 20
const FIRST_ORDERS = 24
const KEY_LIFETIME_SECONDS = 400 * 86_400
const blacklist = 1

export async function setUp(scene: Scene, mine: Mine): Promise<void> {
  await mine(tokenCreations(scene))
  await mine(firstMints(scene))
  shareOut(scene)
  await mine(gifts(scene))
  await mine(scene.world.pairs.map(([base]) => byIssuer(scene, [onExchange('createPair', base)], 3_000_000n)))
  await mine(allowances(scene))
  await mine(Array.from({ length: FIRST_ORDERS }, () => order(scene)))
  await mine(feePools(scene))
  await mine(deployments(scene))
  await freeze(scene, mine)
  await mine(accessKeys(scene))
}

function tokenCreations(scene: Scene): Transaction[] {
  const { issuer, launched } = scene.world
  return Object.values(launched).map((token, index) =>
    byIssuer(scene, [scene.creationOf(token, issuer.address, `token ${index}`)], 6_000_000n),
  )
}

function firstMints(scene: Scene): Transaction[] {
  const { issuer, devs, launched } = scene.world
  const roles = (['ISSUER_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'BURN_BLOCKED_ROLE'] as const).map(roleOf)
  return Object.values(launched).map(({ address: token }) => {
    const grants = roles.map((role) => onToken(token, 'grantRole', role, issuer.address))
    const mints = devs.map(({ address }) => onToken(token, 'mint', address, units(1e9)))
    return byIssuer(scene, [...grants, ...mints], 12_000_000n)
  })
}

/**
 * Chooses the tokens of each account: for wallets dollars for fees and a few others. An account
 * uses only tokens it holds: without another choice fees are paid in the token called, and a sender
 * that has none of it is not let into a block.
 */
function shareOut({ world, random }: Scene): void {
  for (const dev of world.devs) dev.holds.push(...world.tokens)
  for (const [index, wallet] of world.wallets.entries()) {
    const fees = itemAt(world.feeTokens, index % world.feeTokens.length)
    wallet.holds.push(...new Set([...world.tokens.slice(0, 3), fees, random.pick(world.tokens)]))
  }
  const { address: frozenToken } = world.launched.initech
  for (const { holds } of world.frozen) if (!holds.includes(frozenToken)) holds.push(frozenToken)
}

function gifts({ world, random }: Scene): Transaction[] {
  const all = world.wallets.flatMap(({ address, holds }) =>
    holds.map((token) => onToken(token, 'transfer', address, units(random.between(20_000, 2_000_000)))),
  )
  const count = Math.ceil(all.length / GIFTS_OF_TRANSACTION)
  return Array.from({ length: count }, (_, index) => ({
    from: itemAt(world.devs, index % world.devs.length),
    calls: all.slice(index * GIFTS_OF_TRANSACTION, (index + 1) * GIFTS_OF_TRANSACTION),
    gas: 8_000_000n,
  }))
}

/** Each market begins with its own middle. */
function allowances(scene: Scene): Transaction[] {
  const { makers, issuer, pairs } = scene.world
  return pairs.flatMap((pair, index) => {
    scene.middles.set(pair[0], (index - 2) * 20)
    return [...makers, issuer].map((from) => ({
      from,
      calls: pair.map((token) => scene.approval(from, token, exchange)),
    }))
  })
}

function feePools(scene: Scene): Transaction[] {
  const { issuer, feeTokens } = scene.world
  return feeTokens.slice(1).map((token) => {
    const args = [token, pathUsd, units(50_000), issuer.address] as const
    return byIssuer(scene, [abiCall(feeManager, Abis.feeAmm, 'mint', args)])
  })
}

function deployments(scene: Scene): Transaction[] {
  const coin = (creation: TxCall, kind: CoinContract['kind'] = 'Coin') =>
    deployment(scene, creation, (address) => {
      scene.coins.push({ kind, address, owners: [scene.world.issuer] })
    })
  const contract = (name: Deployed, creation: TxCall) =>
    deployment(scene, creation, (address) => {
      if (!scene.contracts.has(name)) scene.contracts.set(name, address)
    })
  return [
    coin(createCoin('Wrapped Thing', 'WTH', 18, 10n ** 27n)),
    coin(createCoin('Indivisible', 'ONE', 0, 10n ** 6n)),
    coin(createCoin('Too Many Decimals', 'TMD', 77, 10n ** 76n)),
    coin(createCoin("Robert'); DROP TABLE tokens;--", 'BOB', 8, 2n ** 255n)),
    coin(createContract('OldCoin'), 'OldCoin'),
    contract('Nft', createContract('Nft')),
    contract('Vault', createVault(pathUsd)),
    contract('Vault', createVault(scene.world.launched.acme.address)),
    contract('Factory', createContract('Factory')),
    contract('Failing', createContract('Failing')),
    contract('Zoo', createContract('Zoo')),
  ]
}

function deployment(
  scene: Scene,
  creation: TxCall,
  use: (address: NonNullable<MinedTransaction['contractAddress']>) => void,
): Transaction {
  const onReceipt = ({ contractAddress }: MinedTransaction) => {
    if (contractAddress) use(contractAddress)
  }
  return { ...byIssuer(scene, [creation], 15_000_000n), onReceipt }
}

/** A policy that forbids some wallets the use of one token. */
async function freeze(scene: Scene, mine: Mine): Promise<void> {
  const { issuer, frozen, launched } = scene.world
  const args = [issuer.address, blacklist, frozen.map(({ address }) => address)] as const
  const create = abiCall(policyRegistry, Abis.tip403Registry, 'createPolicyWithAccounts', args)
  const onReceipt = ({ logs: [log] }: MinedTransaction) => {
    scene.policy = BigInt(log?.topics[1] ?? 0)
  }
  await mine([{ ...byIssuer(scene, [create], 4_000_000n), onReceipt }])
  const use = onToken(launched.initech.address, 'changeTransferPolicyId', scene.policy)
  await mine([byIssuer(scene, [use])])
}

/** Every other key has spending limits. */
function accessKeys({ world, time }: Scene): Transaction[] {
  const { wallets, seed, issuer, launched } = world
  const limits = [pathUsd, launched.acme.address, alphaUsd].map((token) => ({ token, limit: units(1e6) }))
  const authorizeUntil = time.timestamp + KEY_LIFETIME_SECONDS
  return wallets
    .filter((_, index) => index % 11 === 4)
    .map((from, index) => {
      from.giveAccessKey(`${seed}/access/${index}`, { authorizeUntil, ...(index % 2 === 1 && { limits }) })
      const first = onToken(pathUsd, 'transfer', issuer.address, 1n)
      return { from, calls: [first], feeToken: pathUsd, gas: 4_000_000n }
    })
}

function byIssuer({ world: { issuer } }: Scene, calls: readonly TxCall[], gas?: bigint) {
  const from: Actor = issuer
  return { from, calls, ...(gas !== undefined && { gas }) }
}
