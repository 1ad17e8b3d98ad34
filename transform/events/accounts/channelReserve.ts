/** Payment channels (since T5): a payer locks a deposit, the payee settles signed amounts. */

import { channelReserveAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const channelOpened = defineEvent({
  signature:
    'event ChannelOpened(bytes32 indexed channelId, address indexed payer, address indexed payee, address operator, address token, address authorizedSigner, bytes32 salt, bytes32 expiringNonceHash, uint96 deposit)',
  emittedBy: channelReserveAddress,
  title: 'Channel opened',
})

export const channelToppedUp = defineEvent({
  signature:
    'event TopUp(bytes32 indexed channelId, address indexed payer, address indexed payee, uint96 additionalDeposit, uint96 newDeposit)',
  emittedBy: channelReserveAddress,
  title: 'Channel funded',
})

export const channelSettled = defineEvent({
  signature:
    'event Settled(bytes32 indexed channelId, address indexed payer, address indexed payee, uint96 cumulativeAmount, uint96 deltaPaid, uint96 newSettled)',
  emittedBy: channelReserveAddress,
  title: 'Channel settled',
})

export const channelCloseRequested = defineEvent({
  signature:
    'event CloseRequested(bytes32 indexed channelId, address indexed payer, address indexed payee, uint256 closeGraceEnd)',
  emittedBy: channelReserveAddress,
  title: 'Session closed',
})

export const channelCloseCancelled = defineEvent({
  signature:
    'event CloseRequestCancelled(bytes32 indexed channelId, address indexed payer, address indexed payee)',
  emittedBy: channelReserveAddress,
  title: 'Channel close cancelled',
})

export const channelClosed = defineEvent({
  signature:
    'event ChannelClosed(bytes32 indexed channelId, address indexed payer, address indexed payee, uint96 settledToPayee, uint96 refundedToPayer)',
  emittedBy: channelReserveAddress,
  title: 'Channel closed',
})
