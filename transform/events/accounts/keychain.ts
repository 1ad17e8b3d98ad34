/** Access keys of accounts. `publicKey` is the key's id, an address. */

import { accountKeychainAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

/**
 * `signatureType`: 0 secp256k1, 1 P256, 2 WebAuthn, 3 a configurable account (draft, since T14). The
 * largest `expiry` means never.
 */
export const keyAuthorized = defineEvent({
  signature:
    'event KeyAuthorized(address indexed account, address indexed publicKey, uint8 signatureType, uint64 expiry)',
  emittedBy: accountKeychainAddress,
  title: 'Access key created',
})

/** Since T6, beside `KeyAuthorized`: the key has no spending limits. T14 (draft) ends it. */
export const adminKeyAuthorized = defineEvent({
  signature: 'event AdminKeyAuthorized(address indexed account, address indexed publicKey)',
  emittedBy: accountKeychainAddress,
  title: 'Admin key created',
})

export const keyRevoked = defineEvent({
  signature: 'event KeyRevoked(address indexed account, address indexed publicKey)',
  emittedBy: accountKeychainAddress,
  title: 'Access key revoked',
})

export const spendingLimitUpdated = defineEvent({
  signature:
    'event SpendingLimitUpdated(address indexed account, address indexed publicKey, address indexed token, uint256 newLimit)',
  emittedBy: accountKeychainAddress,
  title: 'Spending limit updated',
})

/** Tells which key signed a transaction that moved tokens. */
export const accessKeySpend = defineEvent({
  signature:
    'event AccessKeySpend(address indexed account, address indexed publicKey, address indexed token, uint256 amount, uint256 remainingLimit)',
  emittedBy: accountKeychainAddress,
  title: 'Access key spent',
})

/** Since T5. */
export const keyAuthorizationWitness = defineEvent({
  signature: 'event KeyAuthorizationWitness(address indexed account, bytes32 indexed witness)',
  emittedBy: accountKeychainAddress,
  title: 'Key authorization witnessed',
})

/** Since T5. */
export const keyAuthorizationWitnessBurned = defineEvent({
  signature: 'event KeyAuthorizationWitnessBurned(address indexed account, bytes32 indexed witness)',
  emittedBy: accountKeychainAddress,
  title: 'Key authorization witness burned',
})
