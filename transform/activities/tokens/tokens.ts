/** Standard tokens: created, configured, administered. */

import * as tip20 from '../../events/tokens/tip20.ts'
import { tokenCreated as created } from '../../events/tokens/tip20Factory.ts'
import { defineActivity, fromEvent, tokenAmount } from '../activity.ts'

export const tokenCreated = defineActivity({
  type: 'token-created',
  title: 'Token created',
  signer: 'never',
  find: fromEvent(created, ({ token, name, symbol, currency }) => ({
    address: token,
    name,
    symbol,
    currency,
  })),
})

export const rewardDistributed = defineActivity({
  type: 'reward-distributed',
  title: 'Reward distributed',
  find: fromEvent(tip20.rewardDistributed, ({ funder, amount }, { emitter }) => ({
    funder,
    sourceToken: tokenAmount(emitter, amount),
  })),
})

export const rewardRecipientSet = defineActivity({
  type: 'reward-recipient-set',
  title: 'Reward recipient set',
  find: fromEvent(tip20.rewardRecipientSet, ({ holder, recipient }) => ({ holder, recipient })),
})

export const tokenPauseSet = defineActivity({
  type: 'token-pause-set',
  title: 'Token pause set',
  find: fromEvent(tip20.pauseStateUpdate, ({ isPaused, updater }) => ({ paused: isPaused, updater })),
})

export const tokenSupplyCapSet = defineActivity({
  type: 'token-supply-cap-set',
  title: 'Token supply cap set',
  find: fromEvent(tip20.supplyCapUpdate, ({ newSupplyCap, updater }) => ({
    supplyCap: String(newSupplyCap),
    updater,
  })),
})

export const tokenTransferPolicySet = defineActivity({
  type: 'token-transfer-policy-set',
  title: 'Token transfer policy set',
  find: fromEvent(tip20.transferPolicyUpdate, ({ newPolicyId, updater }) => ({
    policyId: String(newPolicyId),
    updater,
  })),
})

export const tokenQuoteTokenSet = defineActivity({
  type: 'token-quote-token-set',
  title: 'Token quote token set',
  find: fromEvent(tip20.quoteTokenUpdate, ({ newQuoteToken, updater }) => ({
    quoteToken: newQuoteToken,
    updater,
  })),
})

export const tokenNextQuoteTokenSet = defineActivity({
  type: 'token-next-quote-token-set',
  title: 'Token next quote token set',
  find: fromEvent(tip20.nextQuoteTokenSet, ({ nextQuoteToken, updater }) => ({ nextQuoteToken, updater })),
})

export const tokenLogoSet = defineActivity({
  type: 'token-logo-set',
  title: 'Token logo set',
  find: fromEvent(tip20.logoUriUpdated, ({ newLogoURI, updater }) => ({ logoUri: newLogoURI, updater })),
})

export const roleMembershipSet = defineActivity({
  type: 'role-membership-set',
  title: 'Role membership set',
  find: fromEvent(tip20.roleMembershipUpdated, ({ role, account, sender, hasRole }) => ({
    role,
    account,
    granted: hasRole,
    sender,
  })),
})

export const roleAdminSet = defineActivity({
  type: 'role-admin-set',
  title: 'Role admin set',
  find: fromEvent(tip20.roleAdminUpdated, ({ role, newAdminRole, sender }) => ({
    role,
    newAdminRole,
    sender,
  })),
})
