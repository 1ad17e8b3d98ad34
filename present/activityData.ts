/** The data of each type of activity, but for who signed: that is the registry's. */
import * as s from '#http/schema.ts'
import { anyAmountSchema, tokenAmountSchema } from './token.ts'

/** An integer too wide for a JSON number. */
const wide = s.amount
const token = tokenAmountSchema
const { address, hash, hex, count, timestamp, integer, boolean } = s
const text = s.text()
const side = s.oneOf(['bid', 'ask'])
const channel = { channelId: hash, payer: address, payee: address } as const
const keyOf = { account: address, publicKey: address } as const
const updated = { updater: address } as const
const completed = s.oneOf(['completed'])
const policy = { policyId: wide } as const
const vault = { vault: address, status: completed } as const
const vaultParties = { ...vault, caller: address, receiver: address } as const
const request = { requestId: hash, shares: wide, receiver: address, vault: address } as const
const privateAction = {
  ...vault,
  actionId: hash,
  assets: wide,
  shares: wide,
  zoneDepositHash: hash,
} as const
const validatorAt = { index: wide, validator: address } as const
const endpoints = { ingress: text, egress: text } as const
const witnessed = { account: address, witness: hash } as const

/** By type. */
export const activityData: Readonly<Record<string, s.TProperties>> = {
  transfer: {
    sender: address,
    recipient: address,
    direction: s.oneOf(['in', 'out']),
    sourceToken: anyAmountSchema,
    destinationToken: s.optional(token),
    memo: s.optional(s.text({ description: 'The memo as text.' })),
    attribution: s.optional(s.text({ description: 'Name of the service that the memo says was paid.' })),
    blockNumber: count,
    timestamp,
    transactionHash: hash,
  },
  mint: { recipient: address, sourceToken: token },
  burn: { sender: address, sourceToken: token },
  'burn-blocked': { sender: address, sourceToken: token },
  swap: { sourceToken: token, destinationToken: token },
  approval: { sourceToken: token, spender: address },
  'session-closed': { refund: s.optional(token) },
  'channel-opened': { ...channel, sourceToken: token },
  'channel-funded': { channelId: hash, sourceToken: token },
  'channel-settled': { ...channel, sourceToken: token },
  'channel-closed': { ...channel, sourceToken: s.optional(token), refund: s.optional(token) },
  'channel-close-cancelled': channel,
  'order-placed': { orderId: wide, side, tick: integer(), sourceToken: token },
  'order-cancelled': { orderId: wide },
  'order-filled': {
    orderId: wide,
    maker: address,
    taker: address,
    amountFilled: wide,
    partialFill: boolean(),
  },
  'order-flipped': {
    orderId: wide,
    maker: address,
    side,
    tick: integer(),
    flipTick: integer(),
    sourceToken: token,
  },
  'pair-created': { key: hash, base: address, quote: address },
  'fees-distributed': { validator: address, sourceToken: token },
  'fee-rebalance-swap': { swapper: address, sourceToken: token, destinationToken: token },
  'fee-user-token-set': { user: address, token: address },
  'fee-validator-token-set': { validator: address, token: address },
  'reward-distributed': { funder: address, sourceToken: token },
  'reward-recipient-set': { holder: address, recipient: address },
  'access-key-created': { ...keyOf, signatureType: count, expiry: integer() },
  'access-key-revoked': keyOf,
  'spending-limit-updated': { ...keyOf, sourceToken: token },
  'key-authorization-witness': witnessed,
  'key-authorization-witness-burned': witnessed,
  'token-created': { address, name: text, symbol: text, currency: text },
  'token-pause-set': { ...updated, paused: boolean() },
  'token-supply-cap-set': { ...updated, supplyCap: wide },
  'token-transfer-policy-set': { ...updated, ...policy },
  'token-quote-token-set': { ...updated, quoteToken: address },
  'token-next-quote-token-set': { ...updated, nextQuoteToken: address },
  'token-logo-set': { ...updated, logoUri: text },
  'role-membership-set': { role: hash, account: address, granted: boolean(), sender: address },
  'role-admin-set': { role: hash, newAdminRole: hash, sender: address },
  'policy-created': { ...updated, ...policy, policyType: count },
  'compound-policy-created': {
    ...policy,
    creator: address,
    senderPolicyId: wide,
    recipientPolicyId: wide,
    mintRecipientPolicyId: wide,
  },
  'policy-admin-set': { ...updated, ...policy, admin: address },
  'whitelist-updated': { ...updated, ...policy, account: address, allowed: boolean() },
  'blacklist-updated': { ...updated, ...policy, account: address, restricted: boolean() },
  'master-registered': { masterId: hex, masterAddress: address },
  'nonce-incremented': { account: address, nonceKey: wide, nonce: wide },
  'validator-added': { ...validatorAt, ...endpoints, publicKey: hex, feeRecipient: address },
  'validator-deactivated': validatorAt,
  'validator-rotated': {
    ...validatorAt,
    ...endpoints,
    deactivatedIndex: wide,
    oldPublicKey: hex,
    newPublicKey: hex,
    caller: address,
  },
  'validator-fee-recipient-set': { index: wide, feeRecipient: address, caller: address },
  'validator-ip-set': { index: wide, ...endpoints, caller: address },
  'validator-ownership-transferred': {
    index: wide,
    oldAddress: address,
    newAddress: address,
    caller: address,
  },
  'validator-migrated': { ...validatorAt, publicKey: hex },
  'validator-migration-skipped': { ...validatorAt, publicKey: hex },
  'ownership-transferred': { oldOwner: address, newOwner: address },
  'network-identity-rotation-epoch-set': { previousEpoch: wide, nextEpoch: wide },
  initialized: { height: wide },
  'assets-deposited': { ...vaultParties, assets: wide, shares: wide },
  'assets-withdrawn': { ...vaultParties, assets: wide, sharesBurned: wide },
  'shares-deposited': {
    ...vaultParties,
    requestedVenueShares: wide,
    receivedEngineShares: wide,
    shares: wide,
  },
  'shares-redeemed': { ...vaultParties, assets: wide, shares: wide },
  'shares-redemption-requested': { ...request, requester: address, status: s.oneOf(['pending']) },
  'shares-redemption-finalized': { ...request, asset: address, assets: wide, status: completed },
  'shares-redemption-cancelled': { ...request, status: s.oneOf(['cancelled']) },
  'private-assets-deposited': { ...privateAction, inputToken: address, inputAmount: wide },
  'private-shares-redeemed': { ...privateAction, outputToken: address, outputAmount: wide },
  unknown: {},
}
