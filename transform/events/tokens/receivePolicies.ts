/**
 * The guard that holds transfers a receiver's policy blocked (since T6). The sender's transaction
 * succeeds all the same, and what is held cannot be listed on chain: these logs are the only
 * record.
 */

import { receivePolicyGuardAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const transferBlocked = defineEvent({
  signature:
    'event TransferBlocked(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint256 amount, uint8 receiptVersion, bytes receipt)',
  emittedBy: receivePolicyGuardAddress,
  title: 'Transfer held',
})

export const receiptClaimed = defineEvent({
  signature:
    'event ReceiptClaimed(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, address to, uint256 amount)',
  emittedBy: receivePolicyGuardAddress,
  title: 'Held transfer claimed',
})

export const receiptBurned = defineEvent({
  signature:
    'event ReceiptBurned(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, uint256 amount)',
  emittedBy: receivePolicyGuardAddress,
  title: 'Held transfer burned',
})
