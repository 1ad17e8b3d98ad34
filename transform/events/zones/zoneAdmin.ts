/**
 * How a zone's portal is run: its tokens, sequencers, pauses, rates and admins.
 * Portals of older zones live at ordinary addresses, hence any emitter.
 */
import { defineEvent } from '../event.ts'

export const zoneTokenEnabled = defineEvent({
  signature: 'event TokenEnabled(address indexed token, string name, string symbol, string currency)',
  title: 'Zone token enabled',
})

export const zoneSequencerSetUpdated = defineEvent({
  signature: 'event SequencerSetUpdated(uint64 indexed nonce, uint8 threshold, address[] sequencers)',
  title: 'Zone sequencers set',
})

export const zoneSequencerTransferStarted = defineEvent({
  signature:
    'event SequencerTransferStarted(address indexed currentSequencer, address indexed pendingSequencer)',
  title: 'Zone sequencer transfer started',
})

export const zoneSequencerTransferred = defineEvent({
  signature: 'event SequencerTransferred(address indexed previousSequencer, address indexed newSequencer)',
  title: 'Zone sequencer transferred',
})

export const zoneSequencerKeyUpdated = defineEvent({
  signature:
    'event SequencerEncryptionKeyUpdated(bytes32 x, uint8 yParity, address pubkey, uint256 keyIndex, uint64 activationBlock)',
  title: 'Zone encryption key set',
})

export const zoneLeaderUpdated = defineEvent({
  signature:
    'event LeaderUpdated(address indexed previousLeader, address indexed newLeader, uint64 indexed leaderEpoch, uint64 leaderActivationTempoBlock)',
  title: 'Zone leader set',
})

export const zoneRoleUpdated = defineEvent({
  signature: 'event RoleUpdated(address indexed account, uint8 prev, uint8 next)',
  title: 'Zone role set',
})

export const zoneEnforcementModesUpdated = defineEvent({
  signature: 'event EnforcementModesUpdated(bool accessMode, bool gatewayMode)',
  title: 'Zone modes set',
})

export const zoneDepositsPaused = defineEvent({
  signature: 'event DepositsPaused(address indexed token)',
  title: 'Zone deposits paused',
})

export const zoneDepositsResumed = defineEvent({
  signature: 'event DepositsResumed(address indexed token)',
  title: 'Zone deposits resumed',
})

export const zonePortalPaused = defineEvent({
  signature: 'event PortalPaused(address indexed account)',
  title: 'Zone portal paused',
})

export const zonePortalResumed = defineEvent({
  signature: 'event PortalResumed(address indexed account)',
  title: 'Zone portal resumed',
})

export const zoneAbdicationScheduled = defineEvent({
  signature: 'event AbdicationScheduled(uint8 indexed capability, uint64 effectiveAt)',
  title: 'Zone abdication scheduled',
})

export const zoneRpcUrlUpdated = defineEvent({
  signature: 'event RpcUrlUpdated(string rpcUrl)',
  title: 'Zone RPC address set',
})

export const zoneGasRateUpdated = defineEvent({
  signature: 'event ZoneGasRateUpdated(uint128 zoneGasRate)',
  title: 'Zone gas rate set',
})

export const zoneMaxTempoGasRateUpdated = defineEvent({
  signature: 'event MaxTempoGasRateUpdated(uint128 maxTempoGasRate)',
  title: 'Zone gas rate limit set',
})

export const zoneBouncebackGasUpdated = defineEvent({
  signature: 'event BouncebackGasUpdated(uint64 bouncebackGas)',
  title: 'Zone bounce-back gas set',
})

export const zoneAdminTransferStarted = defineEvent({
  signature: 'event AdminTransferStarted(address indexed currentAdmin, address indexed pendingAdmin)',
  title: 'Zone admin transfer started',
})

export const zoneAdminTransferred = defineEvent({
  signature: 'event AdminTransferred(address indexed previousAdmin, address indexed newAdmin)',
  title: 'Zone admin transferred',
})
