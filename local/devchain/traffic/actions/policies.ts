/** TIP-403 policies, what they forbid, and access keys. */
import { Abis } from 'viem/tempo'
import { type Action, type Intent, type Scene, someRecipient, units } from '#local/devchain/traffic/action.ts'
import { abiCall, keychain, onToken, pathUsd, policyRegistry } from '#local/devchain/traffic/calls.ts'

export const policies: readonly Action[] = [
  { kind: 'createPolicy', weight: 1, build: createPolicy },
  { kind: 'modifyPolicy', weight: 2, build: modifyPolicy },
  { kind: 'createCompoundPolicy', weight: 1, build: createCompoundPolicy },
  { kind: 'setPolicyAdmin', weight: 1, build: setPolicyAdmin },
  { kind: 'changeTransferPolicy', weight: 1, build: changeTransferPolicy },
  { kind: 'burnBlocked', weight: 1, build: burnBlocked },
  { kind: 'authorizeKey', weight: 1, build: authorizeKey },
  { kind: 'revokeKey', weight: 1, build: revokeKey },
]

const WHITELIST = 0
const BLACKLIST = 1

function createPolicy(scene: Scene): Intent {
  const { world, dice } = scene
  const type = dice.pick([WHITELIST, BLACKLIST])
  const members = [someRecipient(scene), dice.pick(scene.world.holders)]
  return registryCall(scene, 'createPolicyWithAccounts', [world.issuer.address, type, members])
}

function modifyPolicy(scene: Scene): Intent | undefined {
  const policy = ownPolicy(scene)
  if (!policy) return undefined
  const { dice } = scene
  const args = [policy.id, someRecipient(scene), dice.chance(0.7)] as const
  return policy.isBlacklist
    ? registryCall(scene, 'modifyPolicyBlacklist', args)
    : registryCall(scene, 'modifyPolicyWhitelist', args)
}

/** Policy 1 allows everything. */
function createCompoundPolicy(scene: Scene): Intent {
  return registryCall(scene, 'createCompoundPolicy', [ownPolicy(scene)?.id ?? 1n, 1n, 1n])
}

/** To the same admin, so that the policy stays ours. */
function setPolicyAdmin(scene: Scene): Intent | undefined {
  const policy = ownPolicy(scene)
  return policy && registryCall(scene, 'setPolicyAdmin', [policy.id, scene.world.issuer.address])
}

/** Takes the token that is paused and capped too; nobody needs it. */
function changeTransferPolicy(scene: Scene): Intent {
  const { world, dice } = scene
  const id = dice.chance(0.5) ? 1n : (ownPolicy(scene)?.id ?? 1n)
  const call = onToken(world.launches.lever.address, 'changeTransferPolicyId', id)
  return { from: world.issuer, calls: [call] }
}

/** Takes tokens from an address the policy of the setup has frozen. */
function burnBlocked({ world, dice }: Scene): Intent {
  const token = world.launches.guarded.address
  const call = onToken(token, 'burnBlocked', dice.pick(world.frozen), dice.amount(1e3, 1e7))
  return { from: world.issuer, calls: [call] }
}

function authorizeKey({ world, dice, timestamp }: Scene): Intent {
  const keyId = dice.bytes(20)
  const limit = { token: pathUsd, amount: units(dice.between(10, 1000)), period: 0n }
  const config = {
    expiry: BigInt(timestamp + 86_400 * dice.between(1, 90)),
    enforceLimits: true,
    limits: [limit],
    allowAnyCalls: true,
    allowedCalls: [],
  }
  const authorize = abiCall(keychain, Abis.accountKeychain, 'authorizeKey', [
    keyId,
    dice.between(0, 2),
    config,
  ])
  const raise = abiCall(keychain, Abis.accountKeychain, 'updateSpendingLimit', [
    keyId,
    pathUsd,
    limit.amount * 2n,
  ])
  return { from: dice.pick(keyOwners(world)), calls: [authorize, raise], gas: 4_000_000n }
}

function revokeKey({ world, dice, learned }: Scene): Intent | undefined {
  const revocable = learned.keys.flatMap(({ account, keyId }) => {
    const from = keyOwners(world).find(({ address }) => address === account)
    return from ? [{ from, keyId }] : []
  })
  if (revocable.length === 0) return undefined
  const { from, keyId } = dice.pick(revocable)
  return { from, calls: [abiCall(keychain, Abis.accountKeychain, 'revokeKey', [keyId])] }
}

/** Wallets that sign with their own key, and so may manage keys. */
function keyOwners(world: Scene['world']) {
  return world.wallets.filter(({ accessKey }) => !accessKey).slice(0, 4)
}

function ownPolicy({ world, learned, dice }: Scene) {
  const own = learned.policies.filter(({ admin }) => admin === world.issuer.address)
  // The oldest belongs to the guarded token: its blacklist stays as it is.
  return own.length > 1 ? dice.pick(own.slice(1)) : undefined
}

type RegistryArguments = Parameters<typeof abiCall<typeof Abis.tip403Registry, RegistryName>>[3]
type RegistryName =
  | 'createPolicyWithAccounts'
  | 'modifyPolicyBlacklist'
  | 'modifyPolicyWhitelist'
  | 'createCompoundPolicy'
  | 'setPolicyAdmin'

function registryCall({ world }: Scene, name: RegistryName, args: RegistryArguments): Intent {
  const call = abiCall(policyRegistry, Abis.tip403Registry, name, args)
  return { from: world.issuer, calls: [call], gas: 4_000_000n }
}
