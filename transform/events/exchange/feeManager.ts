/**
 * Payers and takers of fees, and their tokens. The fees themselves are Transfers, the last log of
 * their transactions.
 */

import { feeManagerAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const userTokenSet = defineEvent({
  signature: 'event UserTokenSet(address indexed user, address indexed token)',
  emittedBy: feeManagerAddress,
  title: 'Fee user token set',
})

export const validatorTokenSet = defineEvent({
  signature: 'event ValidatorTokenSet(address indexed validator, address indexed token)',
  emittedBy: feeManagerAddress,
  title: 'Fee validator token set',
})

export const feesDistributed = defineEvent({
  signature: 'event FeesDistributed(address indexed validator, address indexed token, uint256 amount)',
  emittedBy: feeManagerAddress,
  title: 'Fees distributed',
})
