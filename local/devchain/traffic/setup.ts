/**
 * The setup that everyday traffic needs: tokens, money, markets, contracts, policies, keys. Every step
 * looks at the chain first, so the setup continues where it was interrupted and does nothing on a chain
 * that has it all.
 */
import { encodeFunctionData } from 'viem'
import { Abis } from 'viem/tempo'
import type { DevRpcCall as RpcCall } from '#local/devchain/DevRpc.ts'
import type { Hex } from '#primitives.ts'
import { type Scene, units } from './action.ts'
import { place } from './actions/exchange.ts'
import {
  abiCall,
  addressRegistry,
  createContract,
  createEarnVault,
  createPlainToken,
  earnVaultAbi,
  exchange,
  feeManager,
  keychain,
  onExchange,
  onToken,
  pairKey,
  pathUsd,
  plainTokenAbi,
  policyRegistry,
  roleOf,
  type TxCall,
  tokenFactory,
  unlimited,
} from './calls.ts'
import type { Party } from './parties.ts'
import type { TxDraft } from './signDraft.ts'
import { everydayTokens, type Launch, type World } from './world.ts'

/** One thing that must be there. */
export interface SetupStep {
  readonly name: string
  /** Reads whose answers are all other than zero when it is. */
  readonly checks: (world: World) => readonly RpcCall[]
  readonly drafts: (scene: Scene) => readonly TxDraft[]
}

/** Steps by stage: those of one stage need only those of earlier stages, and are mined together. */
export const setupStages: readonly (readonly SetupStep[])[] = [
  [
    { name: 'tokens', checks: tokenChecks, drafts: tokenDrafts },
    { name: 'contracts', checks: contractChecks, drafts: contractDrafts },
    { name: 'virtual master', checks: masterChecks, drafts: masterDrafts },
    { name: 'gifts', checks: giftChecks, drafts: giftDrafts },
  ],
  [{ name: 'supply', checks: supplyChecks, drafts: supplyDrafts }],
  [
    { name: 'wallets', checks: walletChecks, drafts: walletDrafts },
    { name: 'markets', checks: marketChecks, drafts: marketDrafts },
    { name: 'fee pools', checks: poolChecks, drafts: poolDrafts },
    { name: 'blacklist', checks: policyChecks, drafts: policyDrafts },
  ],
  [
    { name: 'allowances', checks: allowanceChecks, drafts: allowanceDrafts },
    { name: 'access keys', checks: accessKeyChecks, drafts: accessKeyDrafts },
    { name: 'reward recipients', checks: rewardChecks, drafts: rewardDrafts },
    { name: 'vault', checks: vaultChecks, drafts: vaultDrafts },
    { name: 'coins', checks: coinChecks, drafts: coinDrafts },
  ],
  [{ name: 'orders', checks: orderChecks, drafts: orderDrafts }],
]

const giftOfWallet = units(10_000_000)
const giftOfOperator = units(1_000)
const WALLETS_PER_GIFT_BATCH = 4
const KEY_LIFETIME_SECONDS = 365 * 86_400

function giftChecks({ gifts }: World): RpcCall[] {
  return gifts.map((holder) => balanceOf(pathUsd, holder))
}

function giftDrafts({ world: { issuer, gifts } }: Scene): TxDraft[] {
  return gifts.map((holder) => draft(issuer, [onToken(pathUsd, 'transfer', holder, giftOfOperator)], 2))
}

function tokenChecks({ launches }: World): RpcCall[] {
  return Object.values(launches).map(({ address }: Launch) => ['eth_getCode', address, 'latest'])
}

function tokenDrafts({ world }: Scene): TxDraft[] {
  const creation = ({ name, symbol, currency, quote, salt }: Launch): TxCall => {
    const args = [name, symbol, currency, quote, world.issuer.address, salt] as const
    return abiCall(tokenFactory, Abis.tip20Factory, 'createToken', args)
  }
  return Object.values(world.launches).map((launch: Launch) => draft(world.issuer, [creation(launch)], 6))
}

function contractChecks({ contracts }: World): RpcCall[] {
  return Object.values(contracts).map((address: Hex) => ['eth_getCode', address, 'latest'])
}

/** In the order of World.contracts: addresses follow from the deployer's nonce. */
function contractDrafts({ world }: Scene): TxDraft[] {
  const creations = [
    createPlainToken('Pebble', 'PBL', 18, 10n ** 27n),
    createContract('Collectible'),
    createEarnVault(pathUsd),
    createContract('Workshop'),
    createContract('Faulty'),
    createContract('OddLogs'),
  ]
  return creations.map((creation) => draft(world.deployer, [creation], 12))
}

function masterChecks({ virtualMaster }: World): RpcCall[] {
  return [
    view(addressRegistry, { abi: Abis.addressRegistry, functionName: 'getMaster', args: [virtualMaster.id] }),
  ]
}

function masterDrafts({ world }: Scene): TxDraft[] {
  const args = [world.virtualMaster.salt] as const
  return [
    draft(world.issuer, [abiCall(addressRegistry, Abis.addressRegistry, 'registerVirtualMaster', args)], 3),
  ]
}

function supplyChecks({ launches, deployer, frozen }: World): RpcCall[] {
  const last = Object.values(launches).map(({ address }: Launch) => balanceOf(address, deployer.address))
  return [...last, ...frozen.map((address) => balanceOf(launches.guarded.address, address))]
}

function supplyDrafts({ world }: Scene): TxDraft[] {
  const roles = (['ISSUER_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'BURN_BLOCKED_ROLE'] as const).map(roleOf)
  const { issuer, makers, sponsors, deployer, frozen, launches } = world
  const rich = [issuer, ...makers, ...sponsors, deployer].map(({ address }) => address)
  return Object.values(launches).map(({ address }: Launch) => {
    const holders = address === launches.guarded.address ? [...rich, ...frozen] : rich
    const grants = roles.map((role) => onToken(address, 'grantRole', role, issuer.address))
    return draft(
      issuer,
      [...grants, ...holders.map((to) => onToken(address, 'mint', to, units(1_000_000_000)))],
      10,
    )
  })
}

function walletChecks(world: World): RpcCall[] {
  const tokens = everydayTokens(world)
  return world.wallets.flatMap(({ address }) => tokens.map((token) => balanceOf(token, address)))
}

function walletDrafts({ world }: Scene): TxDraft[] {
  const { wallets, makers, sponsors, deployer } = world
  const givers = [...makers, ...sponsors, deployer]
  return everydayTokens(world).flatMap((token, turn) =>
    chunk(wallets, WALLETS_PER_GIFT_BATCH).map((receivers, index) => {
      const gifts = receivers.map(({ address }) => onToken(token, 'transfer', address, giftOfWallet))
      return draft(givers[(turn + index) % givers.length] ?? deployer, gifts, 4)
    }),
  )
}

function marketChecks({ pairs }: World): RpcCall[] {
  return pairs.map(([base, quote]) =>
    view(exchange, { abi: Abis.stablecoinDex, functionName: 'books', args: [pairKey(base, quote)] }),
  )
}

function marketDrafts({ world }: Scene): TxDraft[] {
  return world.pairs.map(([base]) => draft(world.issuer, [onExchange('createPair', base)], 3))
}

function poolChecks({ launches: { harbor, meridian } }: World): RpcCall[] {
  return [harbor.address, meridian.address].map((token) =>
    view(feeManager, { abi: Abis.feeAmm, functionName: 'getPool', args: [token, pathUsd] }),
  )
}

function poolDrafts({ world: { issuer, launches } }: Scene): TxDraft[] {
  return [launches.harbor.address, launches.meridian.address].map((token) => {
    const args = [token, pathUsd, units(50_000), issuer.address] as const
    return draft(issuer, [abiCall(feeManager, Abis.feeAmm, 'mint', args)], 3)
  })
}

/** Custom policies are numbered from 2, and this is the first. */
const firstPolicy = 2n

function policyChecks(): RpcCall[] {
  return [
    view(policyRegistry, { abi: Abis.tip403Registry, functionName: 'policyExists', args: [firstPolicy] }),
  ]
}

function policyDrafts({ world: { issuer, frozen, launches } }: Scene): TxDraft[] {
  const blacklist = 1
  const args = [issuer.address, blacklist, frozen] as const
  const create = abiCall(policyRegistry, Abis.tip403Registry, 'createPolicyWithAccounts', args)
  const use = onToken(launches.guarded.address, 'changeTransferPolicyId', firstPolicy)
  return [draft(issuer, [create, use], 4)]
}

function allowanceChecks({ makers, pairs }: World): RpcCall[] {
  return makers.flatMap(({ address }) =>
    pairs
      .flat()
      .map((token) => view(token, { abi: Abis.tip20, functionName: 'allowance', args: [address, exchange] })),
  )
}

function allowanceDrafts({ world: { makers, pairs } }: Scene): TxDraft[] {
  const tokens = [...new Set(pairs.flat())]
  return makers.map((maker) =>
    draft(
      maker,
      tokens.map((token) => onToken(token, 'approve', exchange, unlimited)),
      6,
    ),
  )
}

function accessKeyChecks({ wallets }: World): RpcCall[] {
  return wallets.flatMap(({ address, accessKey }) => {
    if (!accessKey) return []
    const args = [address, accessKey.account.accessKeyAddress] as const
    return [view(keychain, { abi: Abis.accountKeychain, functionName: 'getKey', args })]
  })
}

/**
 * An access key may authorise itself in the first transaction it signs: the root key's consent
 * comes along.
 */
function accessKeyDrafts({ world, timestamp }: Scene): TxDraft[] {
  const limits = everydayTokens(world).map((token) => ({ token, limit: giftOfWallet }))
  const first = onToken(pathUsd, 'transfer', world.issuer.address, 1n)
  return world.wallets.flatMap((wallet) =>
    wallet.accessKey
      ? [
          {
            ...draft(wallet, [first], 5),
            feeToken: pathUsd,
            authorizeUntil: timestamp + KEY_LIFETIME_SECONDS,
            ...(wallet.accessKey.hasLimits && { limits }),
          },
        ]
      : [],
  )
}

function rewardChecks({ launches }: World): RpcCall[] {
  return [view(launches.harbor.address, { abi: Abis.tip20, functionName: 'optedInSupply', args: [] })]
}

function rewardDrafts({ world: { wallets, launches } }: Scene): TxDraft[] {
  return wallets
    .slice(0, 2)
    .map((wallet) =>
      draft(wallet, [onToken(launches.harbor.address, 'setRewardRecipient', wallet.address)], 2),
    )
}

function vaultChecks({ wallets, contracts }: World): RpcCall[] {
  return wallets
    .slice(0, 3)
    .map(({ address }) =>
      view(contracts.vault, { abi: earnVaultAbi, functionName: 'sharesOf', args: [address] }),
    )
}

function vaultDrafts({ world: { wallets, contracts } }: Scene): TxDraft[] {
  const assets = units(50_000)
  return wallets.slice(0, 3).map((wallet) => {
    const deposit = abiCall(contracts.vault, earnVaultAbi, 'deposit', [assets, wallet.address])
    return draft(wallet, [onToken(pathUsd, 'approve', contracts.vault, assets), deposit], 3)
  })
}

function coinChecks({ wallets, contracts }: World): RpcCall[] {
  return wallets.map(({ address }) =>
    view(contracts.coin, { abi: plainTokenAbi, functionName: 'balanceOf', args: [address] }),
  )
}

function coinDrafts({ world: { deployer, wallets, contracts } }: Scene): TxDraft[] {
  return chunk(wallets, WALLETS_PER_GIFT_BATCH * 2).map((receivers) => {
    const gifts = receivers.map(({ address }) =>
      abiCall(contracts.coin, plainTokenAbi, 'transfer', [address, 10n ** 24n]),
    )
    return draft(deployer, gifts, 4)
  })
}

/** Open orders hold their stake in the exchange. */
function orderChecks({ pairs }: World): RpcCall[] {
  return pairs.map(([base]) => balanceOf(base, exchange))
}

function orderDrafts(scene: Scene): TxDraft[] {
  return Array.from({ length: 24 }, (_, index) => {
    const { from, calls } = place(scene, index % 6 === 0)
    return draft(from, calls, 5)
  })
}

function balanceOf(token: Hex, holder: Hex): RpcCall {
  return view(token, { abi: Abis.tip20, functionName: 'balanceOf', args: [holder] })
}

function view(to: Hex, parameters: Parameters<typeof encodeFunctionData>[0]): RpcCall {
  return ['eth_call', { to, data: encodeFunctionData(parameters) }, 'latest']
}

function draft(from: Party, calls: readonly TxCall[], gasMillions: number): TxDraft {
  const [first, ...more] = calls
  if (!first) throw new RangeError('a transaction has at least one call')
  return {
    from,
    calls: [first, ...more],
    gas: BigInt(gasMillions) * 1_000_000n,
    envelope: 'tempo',
    feeToken: pathUsd,
  }
}

function chunk<Item>(list: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}
