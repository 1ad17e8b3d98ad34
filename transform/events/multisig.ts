/** The native multisig. */

import { nativeMultisigAddress } from '../addresses.ts'
import { defineEvent } from './event.ts'

export const multisigInitialized = defineEvent({
  signature: 'event MultisigInitialized(address indexed account)',
  emittedBy: nativeMultisigAddress,
  title: 'Multisig initialized',
})

export const multisigConfigUpdated = defineEvent({
  signature:
    'event MultisigConfigUpdated(address indexed account, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: nativeMultisigAddress,
  title: 'Multisig config updated',
})

/** The newer form: which version of the configuration of which account. */
export const multisigConfigVersioned = defineEvent({
  signature:
    'event MultisigConfigUpdated(address indexed account, bytes32 salt, uint64 version, uint8 threshold, (address owner, uint8 weight)[] owners)',
  emittedBy: nativeMultisigAddress,
  title: 'Multisig config updated',
})
