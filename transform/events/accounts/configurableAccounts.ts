/**
 * Accounts that several owners sign for. Draft, since T14: names and parameters are those of client
 * libraries, and may change before the fork. The first transaction of an account emits nothing.
 */

import { configurableAccountsAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const configurableAccountConfigUpdated = defineEvent({
  signature:
    'event ConfigurableAccountConfigUpdated(address indexed account, bytes32 salt, uint64 version, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: configurableAccountsAddress,
  title: 'Account config updated',
})

/** An ordinary account became a configurable one: its old root key signs nothing any more. */
export const accountUpgraded = defineEvent({
  signature:
    'event AccountUpgraded(address indexed account, bytes32 indexed commitment, bytes32 salt, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: configurableAccountsAddress,
  title: 'Account upgraded',
})

/** Emitted by development builds. */
export const multisigInitialized = defineEvent({
  signature: 'event MultisigInitialized(address indexed account)',
  emittedBy: configurableAccountsAddress,
  title: 'Multisig initialized',
})

/** Emitted by development builds. */
export const multisigConfigUpdated = defineEvent({
  signature:
    'event MultisigConfigUpdated(address indexed account, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: configurableAccountsAddress,
  title: 'Multisig config updated',
})

/** Emitted by later development builds: which version of the configuration of which account. */
export const multisigConfigVersioned = defineEvent({
  signature:
    'event MultisigConfigUpdated(address indexed account, bytes32 salt, uint64 version, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: configurableAccountsAddress,
  title: 'Multisig config updated',
})
