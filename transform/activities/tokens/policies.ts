/** Transfer policies, and the registry of virtual addresses. */

import { masterRegistered as registered } from '../../events/tokens/addressRegistry.ts'
import * as tip403 from '../../events/tokens/tip403.ts'
import { defineActivity, fromEvent } from '../activity.ts'

export const compoundPolicyCreated = defineActivity({
  type: 'compound-policy-created',
  title: 'Compound policy created',
  find: fromEvent(tip403.compoundPolicyCreated, (policy) => ({
    policyId: String(policy.policyId),
    creator: policy.creator,
    senderPolicyId: String(policy.senderPolicyId),
    recipientPolicyId: String(policy.recipientPolicyId),
    mintRecipientPolicyId: String(policy.mintRecipientPolicyId),
  })),
})

export const policyCreated = defineActivity({
  type: 'policy-created',
  title: 'Policy created',
  find: fromEvent(tip403.policyCreated, ({ policyId, policyType, updater }) => ({
    policyId: String(policyId),
    policyType,
    updater,
  })),
})

export const policyAdminSet = defineActivity({
  type: 'policy-admin-set',
  title: 'Policy admin set',
  find: fromEvent(tip403.policyAdminUpdated, ({ policyId, admin, updater }) => ({
    policyId: String(policyId),
    admin,
    updater,
  })),
})

export const whitelistUpdated = defineActivity({
  type: 'whitelist-updated',
  title: 'Whitelist updated',
  find: fromEvent(tip403.whitelistUpdated, ({ policyId, account, allowed, updater }) => ({
    policyId: String(policyId),
    account,
    allowed,
    updater,
  })),
})

export const blacklistUpdated = defineActivity({
  type: 'blacklist-updated',
  title: 'Blacklist updated',
  find: fromEvent(tip403.blacklistUpdated, ({ policyId, account, restricted, updater }) => ({
    policyId: String(policyId),
    account,
    restricted,
    updater,
  })),
})

export const masterRegistered = defineActivity({
  type: 'master-registered',
  title: 'Master registered',
  find: fromEvent(registered, ({ masterId, masterAddress }) => ({ masterId, masterAddress })),
})
