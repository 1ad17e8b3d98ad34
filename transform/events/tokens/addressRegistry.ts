/** Masters of virtual addresses (TIP-1022, since T3). */

import { addressRegistryAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const masterRegistered = defineEvent({
  signature: 'event MasterRegistered(bytes4 indexed masterId, address indexed masterAddress)',
  emittedBy: addressRegistryAddress,
  title: 'Master registered',
})
