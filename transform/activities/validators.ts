/** Validators and the contract that lists them. */

import * as config from '../events/validatorConfig.ts'
import { defineActivity, fromEvent } from './activity.ts'

export const validatorAdded = defineActivity({
  type: 'validator-added',
  title: 'Validator added',
  find: fromEvent(config.validatorAdded, (added) => ({
    index: String(added.index),
    validator: added.validatorAddress,
    publicKey: added.publicKey,
    ingress: added.ingress,
    egress: added.egress,
    feeRecipient: added.feeRecipient,
  })),
})

export const validatorDeactivated = defineActivity({
  type: 'validator-deactivated',
  title: 'Validator deactivated',
  find: fromEvent(config.validatorDeactivated, ({ index, validatorAddress }) => ({
    index: String(index),
    validator: validatorAddress,
  })),
})

export const validatorRotated = defineActivity({
  type: 'validator-rotated',
  title: 'Validator rotated',
  find: fromEvent(config.validatorRotated, (rotated) => ({
    index: String(rotated.index),
    deactivatedIndex: String(rotated.deactivatedIndex),
    validator: rotated.validatorAddress,
    oldPublicKey: rotated.oldPublicKey,
    newPublicKey: rotated.newPublicKey,
    ingress: rotated.ingress,
    egress: rotated.egress,
    caller: rotated.caller,
  })),
})

export const validatorFeeRecipientSet = defineActivity({
  type: 'validator-fee-recipient-set',
  title: 'Validator fee recipient set',
  find: fromEvent(config.feeRecipientUpdated, ({ index, feeRecipient, caller }) => ({
    index: String(index),
    feeRecipient,
    caller,
  })),
})

export const validatorIpSet = defineActivity({
  type: 'validator-ip-set',
  title: 'Validator ip set',
  find: fromEvent(config.ipAddressesUpdated, ({ index, ingress, egress, caller }) => ({
    index: String(index),
    ingress,
    egress,
    caller,
  })),
})

export const validatorOwnershipTransferred = defineActivity({
  type: 'validator-ownership-transferred',
  title: 'Validator ownership transferred',
  find: fromEvent(config.validatorOwnershipTransferred, ({ index, oldAddress, newAddress, caller }) => ({
    index: String(index),
    oldAddress,
    newAddress,
    caller,
  })),
})

export const validatorMigrated = defineActivity({
  type: 'validator-migrated',
  title: 'Validator migrated',
  find: fromEvent(config.validatorMigrated, ({ index, validatorAddress, publicKey }) => ({
    index: String(index),
    validator: validatorAddress,
    publicKey,
  })),
})

export const validatorMigrationSkipped = defineActivity({
  type: 'validator-migration-skipped',
  title: 'Validator migration skipped',
  find: fromEvent(config.skippedValidatorMigration, ({ index, validatorAddress, publicKey }) => ({
    index: String(index),
    validator: validatorAddress,
    publicKey,
  })),
})

export const ownershipTransferred = defineActivity({
  type: 'ownership-transferred',
  title: 'Ownership transferred',
  find: fromEvent(config.ownershipTransferred, ({ oldOwner, newOwner }) => ({ oldOwner, newOwner })),
})

export const networkIdentityRotationEpochSet = defineActivity({
  type: 'network-identity-rotation-epoch-set',
  title: 'Network identity rotation epoch set',
  find: fromEvent(config.networkIdentityRotationEpochSet, ({ previousEpoch, nextEpoch }) => ({
    previousEpoch: String(previousEpoch),
    nextEpoch: String(nextEpoch),
  })),
})

export const initialized = defineActivity({
  type: 'initialized',
  title: 'Initialized',
  find: fromEvent(config.initialized, ({ height }) => ({ height: String(height) })),
})
