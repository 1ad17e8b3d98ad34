/** The events, envelopes and signatures that traffic of the dev chain shows. */
import { toEventSelector } from 'viem'
import { field, textField } from '#local/devchain/DevRpc.ts'

/** Everything that Tempo up to T4 and our own contracts can log; anvil has no later hardfork. */
export const events = [
  'Transfer(address,address,uint256)',
  'Approval(address,address,uint256)',
  'TransferWithMemo(address,address,uint256,bytes32)',
  'Mint(address,uint256)',
  'Burn(address,uint256)',
  'BurnBlocked(address,uint256)',
  'TransferPolicyUpdate(address,uint64)',
  'SupplyCapUpdate(address,uint256)',
  'PauseStateUpdate(address,bool)',
  'NextQuoteTokenSet(address,address)',
  'QuoteTokenUpdate(address,address)',
  'RewardDistributed(address,uint256)',
  'RewardRecipientSet(address,address)',
  'RoleMembershipUpdated(bytes32,address,address,bool)',
  'RoleAdminUpdated(bytes32,bytes32,address)',
  'TokenCreated(address,string,string,string,address,address,bytes32)',
  'PairCreated(bytes32,address,address)',
  'OrderPlaced(uint128,address,address,uint128,bool,int16,bool,int16)',
  'OrderFilled(uint128,address,address,uint128,bool)',
  'OrderCancelled(uint128)',
  'UserTokenSet(address,address)',
  'ValidatorTokenSet(address,address)',
  'FeesDistributed(address,address,uint256)',
  'Mint(address,address,address,address,uint256,uint256)',
  'Burn(address,address,address,uint256,uint256,uint256,address)',
  'RebalanceSwap(address,address,address,uint256,uint256)',
  'KeyAuthorized(address,address,uint8,uint64)',
  'KeyRevoked(address,address)',
  'SpendingLimitUpdated(address,address,address,uint256)',
  'AccessKeySpend(address,address,address,uint256,uint256)',
  'NonceIncremented(address,uint256,uint64)',
  'PolicyCreated(uint64,address,uint8)',
  'PolicyAdminUpdated(uint64,address,address)',
  'WhitelistUpdated(uint64,address,address,bool)',
  'BlacklistUpdated(uint64,address,address,bool)',
  'CompoundPolicyCreated(uint64,address,uint64,uint64,uint64)',
  'Deposited(address,address,uint256,uint256)',
  'VenueSharesDeposited(address,address,uint256,uint256,uint256)',
  'Redeemed(address,address,uint256,uint256)',
  'WithdrewExact(address,address,uint256,uint256)',
  'RedeemRequested(bytes32,address,address,uint256)',
  'RedeemFinalized(bytes32,address,uint256,address,uint256)',
  'RedeemCancelled(bytes32,address,uint256)',
]

/** Envelopes, signatures and features that must occur. */
export const wrappings = [
  ...['0x0', '0x1', '0x2', '0x4', '0x76', 'secp256k1', 'p256', 'webAuthn', 'accessKey'],
  ...['sponsored', 'batch', 'lane', 'expiring', 'feeToken', 'creation', 'reverted'],
]

/** Names of what a transaction, as a node answers it, shows. */
export function wrappingsOf(transaction: unknown): string[] {
  const signature = field(transaction, 'signature')
  const nonceKey = BigInt(String(field(transaction, 'nonceKey') ?? 0))
  const found: [boolean, string][] = [
    [true, textField(transaction, 'type')],
    [signature !== undefined, String(field(signature, 'type') ?? 'accessKey')],
    [Boolean(field(transaction, 'feePayerSignature')), 'sponsored'],
    [Boolean(field(transaction, 'feeToken')), 'feeToken'],
    [listIn(transaction, 'calls').length > 1, 'batch'],
    [nonceKey > 0n && nonceKey < 100n, 'lane'],
    [nonceKey === 2n ** 256n - 1n, 'expiring'],
  ]
  return found.flatMap(([applies, name]) => (applies ? [name] : []))
}

/** Names of `all` that were not seen; events by their signatures. */
export function missingFrom(seen: ReadonlySet<string>, all: readonly string[]): string[] {
  const nameOf = new Map(events.map((event) => [String(toEventSelector(event)), event]))
  return all.filter((name) => !seen.has(name)).map((name) => nameOf.get(name) ?? name)
}

export function listIn(value: unknown, name: string): unknown[] {
  return listOf(field(value, name))
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
