/**
 * The registry of transfer policies (TIP-403). Ids 0 (reject all) and 1 (allow all) are built in.
 */

import { tip403RegistryAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

/** `policyType`: 0 whitelist, 1 blacklist, 2 compound. */
export const policyCreated = defineEvent({
  signature: 'event PolicyCreated(uint64 indexed policyId, address indexed updater, uint8 policyType)',
  emittedBy: tip403RegistryAddress,
  title: 'Policy created',
})

export const policyAdminUpdated = defineEvent({
  signature:
    'event PolicyAdminUpdated(uint64 indexed policyId, address indexed updater, address indexed admin)',
  emittedBy: tip403RegistryAddress,
  title: 'Policy admin set',
})

export const whitelistUpdated = defineEvent({
  signature:
    'event WhitelistUpdated(uint64 indexed policyId, address indexed updater, address indexed account, bool allowed)',
  emittedBy: tip403RegistryAddress,
  title: 'Whitelist updated',
})

export const blacklistUpdated = defineEvent({
  signature:
    'event BlacklistUpdated(uint64 indexed policyId, address indexed updater, address indexed account, bool restricted)',
  emittedBy: tip403RegistryAddress,
  title: 'Blacklist updated',
})

/** Since T2. */
export const compoundPolicyCreated = defineEvent({
  signature:
    'event CompoundPolicyCreated(uint64 indexed policyId, address indexed creator, uint64 senderPolicyId, uint64 recipientPolicyId, uint64 mintRecipientPolicyId)',
  emittedBy: tip403RegistryAddress,
  title: 'Compound policy created',
})

/** Since T6: what an account accepts, and who may recover what was held back. */
export const receivePolicyUpdated = defineEvent({
  signature:
    'event ReceivePolicyUpdated(address indexed account, uint64 senderPolicyId, uint64 tokenFilterId, address recoveryAuthority)',
  emittedBy: tip403RegistryAddress,
  title: 'Receive policy set',
})
