/**
 * Every activity. The order is the precedence of headlines: the first that finds something names
 * the transaction. Nonces and witnesses, which every transaction of a nonce lane or of a witnessed
 * key logs, name only one that did nothing else: such accounts would see no payment in their feed.
 */

import * as channels from './accounts/channels.ts'
import * as keys from './accounts/keys.ts'
import type { Activity } from './activity.ts'
import * as earn from './earn.ts'
import * as fees from './exchange/fees.ts'
import * as exchange from './exchange/orders.ts'
import { swap } from './exchange/swap.ts'
import { approval } from './tokens/approvals.ts'
import { heldElsewhere } from './tokens/held.ts'
import * as policies from './tokens/policies.ts'
import { burn, burnBlocked, mint } from './tokens/supply.ts'
import * as tokens from './tokens/tokens.ts'
import { crossTokenTransfer, transfer } from './tokens/transfers.ts'
import { unknown } from './unknown.ts'
import * as validators from './validators.ts'

export const activities: readonly Activity[] = [
  channels.sessionClosed,
  // Vaults mint and burn shares and take approvals: what follows would hide them.
  earn.privateAssetsDeposited,
  earn.privateSharesRedeemed,
  earn.assetsDeposited,
  earn.sharesDeposited,
  earn.sharesRedeemed,
  earn.assetsWithdrawn,
  earn.sharesRedemptionRequested,
  earn.sharesRedemptionFinalized,
  earn.sharesRedemptionCancelled,
  crossTokenTransfer,
  swap,
  mint,
  burnBlocked,
  burn,
  approval,
  channels.channelOpened,
  channels.channelFunded,
  channels.channelSettled,
  channels.channelClosed,
  channels.channelCloseCancelled,
  exchange.orderPlaced,
  exchange.orderCancelled,
  fees.feeRebalanceSwap,
  fees.feesDistributed,
  tokens.rewardDistributed,
  tokens.rewardRecipientSet,
  keys.spendingLimitUpdated,
  tokens.tokenCreated,
  exchange.orderFilled,
  exchange.orderFlipped,
  exchange.pairCreated,
  tokens.tokenPauseSet,
  tokens.tokenSupplyCapSet,
  tokens.tokenTransferPolicySet,
  tokens.tokenQuoteTokenSet,
  tokens.tokenNextQuoteTokenSet,
  tokens.tokenLogoSet,
  tokens.roleMembershipSet,
  tokens.roleAdminSet,
  fees.feeUserTokenSet,
  fees.feeValidatorTokenSet,
  policies.compoundPolicyCreated,
  policies.policyCreated,
  policies.policyAdminSet,
  policies.whitelistUpdated,
  policies.blacklistUpdated,
  policies.masterRegistered,
  validators.validatorAdded,
  validators.validatorDeactivated,
  validators.validatorRotated,
  validators.validatorFeeRecipientSet,
  validators.validatorIpSet,
  validators.validatorOwnershipTransferred,
  validators.validatorMigrated,
  validators.validatorMigrationSkipped,
  validators.ownershipTransferred,
  validators.networkIdentityRotationEpochSet,
  validators.initialized,
  heldElsewhere,
  transfer,
  keys.accessKeyCreated,
  keys.accessKeyRevoked,
  // Bookkeeping that any transaction with a nonce lane or a witnessed key carries; it names one
  // that did nothing else.
  keys.keyAuthorizationWitness,
  keys.keyAuthorizationWitnessBurned,
  keys.nonceIncremented,
  unknown,
]
