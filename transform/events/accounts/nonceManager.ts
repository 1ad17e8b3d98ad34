/** Nonces beside the protocol's own: one lane per key. */

import { nonceManagerAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const nonceIncremented = defineEvent({
  signature: 'event NonceIncremented(address indexed account, uint256 indexed nonceKey, uint64 newNonce)',
  emittedBy: nonceManagerAddress,
  title: 'Nonce incremented',
})
