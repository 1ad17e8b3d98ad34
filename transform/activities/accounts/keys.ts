/** Access keys, their limits and witnesses, and nonce lanes. */

import * as keychain from '../../events/accounts/keychain.ts'
import { nonceIncremented as incremented } from '../../events/accounts/nonceManager.ts'
import { defineActivity, fromEvent, tokenAmount } from '../activity.ts'

export const accessKeyCreated = defineActivity({
  type: 'access-key-created',
  title: 'Access key created',
  signer: 'never',
  find: fromEvent(keychain.keyAuthorized, ({ account, publicKey, signatureType, expiry }) => ({
    account,
    publicKey,
    signatureType,
    // Unix seconds fit; "never" is the largest uint64 and loses digits that mean nothing.
    expiry: Number(expiry),
  })),
})

export const accessKeyRevoked = defineActivity({
  type: 'access-key-revoked',
  title: 'Access key revoked',
  signer: 'never',
  find: fromEvent(keychain.keyRevoked, ({ account, publicKey }) => ({ account, publicKey })),
})

export const spendingLimitUpdated = defineActivity({
  type: 'spending-limit-updated',
  title: 'Spending limit updated',
  find: fromEvent(keychain.spendingLimitUpdated, ({ account, publicKey, token, newLimit }) => ({
    account,
    publicKey,
    sourceToken: tokenAmount(token, newLimit),
  })),
})

export const keyAuthorizationWitness = defineActivity({
  type: 'key-authorization-witness',
  title: 'Key authorization witnessed',
  find: fromEvent(keychain.keyAuthorizationWitness, ({ account, witness }) => ({ account, witness })),
})

export const keyAuthorizationWitnessBurned = defineActivity({
  type: 'key-authorization-witness-burned',
  title: 'Key authorization witness burned',
  find: fromEvent(keychain.keyAuthorizationWitnessBurned, ({ account, witness }) => ({ account, witness })),
})

export const nonceIncremented = defineActivity({
  type: 'nonce-incremented',
  title: 'Nonce incremented',
  find: fromEvent(incremented, ({ account, nonceKey, newNonce }) => ({
    account,
    nonceKey: String(nonceKey),
    nonce: String(newNonce),
  })),
})
