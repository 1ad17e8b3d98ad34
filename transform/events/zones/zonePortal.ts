/**
 * The public side of a zone: deposits, batches, withdrawals. All that an indexer of the parent
 * chain can see of a zone. Portals of older zones live at ordinary addresses, hence any emitter.
 */
import { defineEvent } from '../event.ts'

/**
 * Recipient and memo are encrypted for the sequencer. Portals have one call that emits it; in the
 * draft of native ones (TIP-1127) `deposit` is a second, with the same parameters.
 */
export const zoneDepositMade = defineEvent({
  signature:
    'event DepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag, address tempoRefundRecipient, uint64 depositNumber)',
  title: 'Zone deposit made',
})

/** Before encryption became the only kind of deposit. */
export const zoneEncryptedDepositMade = defineEvent({
  signature:
    'event EncryptedDepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag, address tempoRefundRecipient, uint64 depositNumber)',
  title: 'Zone encrypted deposit made',
})

/** The form before refunds had a recipient. */
export const zoneEncryptedDepositNumbered = defineEvent({
  signature:
    'event EncryptedDepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag, uint64 depositNumber)',
  title: 'Zone encrypted deposit made',
})

/** The form before deposits were numbered. */
export const zoneEncryptedDepositUnnumbered = defineEvent({
  signature:
    'event EncryptedDepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag)',
  title: 'Zone encrypted deposit made',
})

/** A deposit with a public recipient. */
export const zonePlainDepositNumbered = defineEvent({
  signature:
    'event DepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, address to, uint128 netAmount, uint128 fee, bytes32 memo, uint64 depositNumber)',
  title: 'Zone deposit made',
})

/** The form before deposits were numbered. */
export const zonePlainDepositUnnumbered = defineEvent({
  signature:
    'event DepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, address to, uint128 netAmount, uint128 fee, bytes32 memo)',
  title: 'Zone deposit made',
})

export const zoneWithdrawalProcessed = defineEvent({
  signature:
    'event WithdrawalProcessed(address indexed to, bytes32 indexed senderTag, address token, uint128 amount, bool callbackSuccess)',
  title: 'Zone withdrawal processed',
})

/** The form before senders had tags. */
export const zoneWithdrawalUntagged = defineEvent({
  signature:
    'event WithdrawalProcessed(address indexed to, address token, uint128 amount, bool callbackSuccess)',
  title: 'Zone withdrawal processed',
})

export const zoneBatchSubmitted = defineEvent({
  signature:
    'event BatchSubmitted(uint64 indexed withdrawalBatchIndex, uint256 indexed withdrawalQueueIndex, bytes32 nextProcessedDepositQueueHash, bytes32 nextBlockHash, bytes32 withdrawalQueueHash, uint64 lastProcessedDepositNumber)',
  title: 'Zone batch submitted',
})

/** Draft, since T13: the form that also tells how many tokens the batch saw enabled. */
export const zoneBatchSubmittedWithTokens = defineEvent({
  signature:
    'event BatchSubmitted(uint64 indexed withdrawalBatchIndex, uint256 indexed withdrawalQueueIndex, bytes32 nextProcessedDepositQueueHash, bytes32 nextBlockHash, bytes32 withdrawalQueueHash, uint64 lastProcessedDepositNumber, uint64 lastProcessedEnabledTokenCount)',
  title: 'Zone batch submitted',
})

/** A withdrawal that could not be paid out went back into the zone. */
export const zoneWithdrawalBounceBack = defineEvent({
  signature:
    'event WithdrawalBounceBack(bytes32 indexed newCurrentDepositQueueHash, uint64 indexed fallbackNonce, address token, uint128 amount, uint64 depositNumber)',
  title: 'Zone withdrawal bounced back',
})

export const zoneBounceBackNumbered = defineEvent({
  signature:
    'event BounceBack(bytes32 indexed newCurrentDepositQueueHash, address indexed fallbackRecipient, address token, uint128 amount, uint64 depositNumber)',
  title: 'Zone withdrawal bounced back',
})

/** The form before deposits were numbered. */
export const zoneBounceBackUnnumbered = defineEvent({
  signature:
    'event BounceBack(bytes32 indexed newCurrentDepositQueueHash, address indexed fallbackRecipient, address token, uint128 amount)',
  title: 'Zone withdrawal bounced back',
})

/** A deposit the zone refused was refunded. */
export const zoneDepositBounceBack = defineEvent({
  signature:
    'event DepositBounceBack(address indexed tempoRefundRecipient, address token, uint128 amount, uint128 bouncebackFee)',
  title: 'Zone deposit bounced back',
})

/** The refund could not be paid out and waits to be claimed. */
export const zoneDepositBounceBackPending = defineEvent({
  signature:
    'event DepositBounceBackPending(address indexed tempoRefundRecipient, address token, uint128 amount, uint128 bouncebackFee)',
  title: 'Zone deposit refund pending',
})

export const zoneRefundClaimed = defineEvent({
  signature: 'event RefundClaimed(address indexed recipient, address indexed token, uint128 amount)',
  title: 'Zone refund claimed',
})
