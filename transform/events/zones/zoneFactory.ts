/**
 * How zones (private side chains) are made. Native since T10; older factories live at ordinary
 * addresses.
 */
import { zoneFactoryAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const zoneCreated = defineEvent({
  signature:
    'event ZoneCreated(uint32 indexed zoneId, address indexed portal, address initialToken, bool accessMode, bool gatewayMode, address admin, address[] sequencers, uint8 threshold, address verifier)',
  title: 'Zone created',
})

/** The form before the native factory. */
export const zoneCreatedWithMessenger = defineEvent({
  signature:
    'event ZoneCreated(uint32 indexed zoneId, address indexed portal, address indexed messenger, address initialToken, address admin, address sequencer, address verifier, bytes32 genesisBlockHash, bytes32 genesisTempoBlockHash, uint64 genesisTempoBlockNumber)',
  title: 'Zone created',
})

/** Emitted by the native factory, since T10; any ownable contract emits the same event. */
export const zoneFactoryOwnershipTransferred = defineEvent({
  signature: 'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
  emittedBy: zoneFactoryAddress,
  title: 'Ownership transferred',
})
