/**
 * Lists of the keys by which issuers attest identities (TIP-1132, draft): an identity's signature
 * holds while its issuer's key is on the list that its account names.
 */

import { keyPublisherAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const publisherCreated = defineEvent({
  signature:
    'event PublisherCreated(bytes32 indexed publisherId, address indexed creator, address indexed owner)',
  emittedBy: keyPublisherAddress,
  title: 'Key publisher created',
})

/** Names the publisher, so that it is another event than that of ownable contracts. */
export const publisherOwnershipTransferred = defineEvent({
  signature:
    'event OwnershipTransferred(bytes32 indexed publisherId, address indexed previousOwner, address indexed newOwner)',
  emittedBy: keyPublisherAddress,
  title: 'Key publisher transferred',
})

/**
 * All keys of an issuer, in place of those before; a key that was dropped holds until `graceUntil`
 * (Unix seconds).
 */
export const publisherKeysSet = defineEvent({
  signature:
    'event KeysSet(bytes32 indexed publisherId, bytes32 indexed issuer, bytes32[] keyHashes, uint64 graceUntil)',
  emittedBy: keyPublisherAddress,
  title: 'Issuer keys set',
})

/** Holds at once. */
export const publisherKeyRevoked = defineEvent({
  signature: 'event KeyRevoked(bytes32 indexed publisherId, bytes32 indexed issuer, bytes32 indexed keyHash)',
  emittedBy: keyPublisherAddress,
  title: 'Issuer key revoked',
})
