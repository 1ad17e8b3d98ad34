/** Validators, and where they can be reached. */

import { validatorConfigAddress } from '../addresses.ts'
import { defineEvent } from './event.ts'

export const validatorAdded = defineEvent({
  signature:
    'event ValidatorAdded(uint64 indexed index, address indexed validatorAddress, bytes32 publicKey, string ingress, string egress, address feeRecipient)',
  emittedBy: validatorConfigAddress,
  title: 'Validator added',
})

export const validatorDeactivated = defineEvent({
  signature: 'event ValidatorDeactivated(uint64 indexed index, address indexed validatorAddress)',
  emittedBy: validatorConfigAddress,
  title: 'Validator deactivated',
})

export const validatorRotated = defineEvent({
  signature:
    'event ValidatorRotated(uint64 indexed index, uint64 indexed deactivatedIndex, address indexed validatorAddress, bytes32 oldPublicKey, bytes32 newPublicKey, string ingress, string egress, address caller)',
  emittedBy: validatorConfigAddress,
  title: 'Validator rotated',
})

export const feeRecipientUpdated = defineEvent({
  signature: 'event FeeRecipientUpdated(uint64 indexed index, address feeRecipient, address caller)',
  emittedBy: validatorConfigAddress,
  title: 'Validator fee recipient set',
})

export const ipAddressesUpdated = defineEvent({
  signature: 'event IpAddressesUpdated(uint64 indexed index, string ingress, string egress, address caller)',
  emittedBy: validatorConfigAddress,
  title: 'Validator ip set',
})

export const validatorOwnershipTransferred = defineEvent({
  signature:
    'event ValidatorOwnershipTransferred(uint64 indexed index, address indexed oldAddress, address indexed newAddress, address caller)',
  emittedBy: validatorConfigAddress,
  title: 'Validator ownership transferred',
})

/** Emitted by this contract; any ownable contract emits the same event. */
export const ownershipTransferred = defineEvent({
  signature: 'event OwnershipTransferred(address indexed oldOwner, address indexed newOwner)',
  emittedBy: validatorConfigAddress,
  title: 'Ownership transferred',
})

export const validatorMigrated = defineEvent({
  signature:
    'event ValidatorMigrated(uint64 indexed index, address indexed validatorAddress, bytes32 publicKey)',
  emittedBy: validatorConfigAddress,
  title: 'Validator migrated',
})

export const skippedValidatorMigration = defineEvent({
  signature:
    'event SkippedValidatorMigration(uint64 indexed index, address indexed validatorAddress, bytes32 publicKey)',
  emittedBy: validatorConfigAddress,
  title: 'Validator migration skipped',
})

export const networkIdentityRotationEpochSet = defineEvent({
  signature: 'event NetworkIdentityRotationEpochSet(uint64 indexed previousEpoch, uint64 indexed nextEpoch)',
  emittedBy: validatorConfigAddress,
  title: 'Network identity rotation epoch set',
})

export const initialized = defineEvent({
  signature: 'event Initialized(uint64 height)',
  emittedBy: validatorConfigAddress,
  title: 'Initialized',
})
