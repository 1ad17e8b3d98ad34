/**
 * Events of standard tokens (TIP-20); `Transfer` and `Approval` are in erc20.ts. A look-alike of
 * another contract is none of these: whoever may emit `Mint` under this prefix is the token itself.
 */

import { isTip20 } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

/** Follows the plain Transfer of the same movement; it moves nothing itself. */
export const transferWithMemo = defineEvent({
  signature:
    'event TransferWithMemo(address indexed from, address indexed to, uint256 amount, bytes32 indexed memo)',
  emittedBy: isTip20,
  title: 'Token transferred',
})

/** Follows the Transfer from zero that moved the tokens. */
export const mint = defineEvent({
  signature: 'event Mint(address indexed to, uint256 amount)',
  emittedBy: isTip20,
  title: 'Token minted',
})

/** Follows the Transfer to zero that moved the tokens. */
export const burn = defineEvent({
  signature: 'event Burn(address indexed from, uint256 amount)',
  emittedBy: isTip20,
  title: 'Token burned',
})

/** An issuer burned the tokens of an account its policy blocks; follows the Transfer to zero. */
export const burnBlocked = defineEvent({
  signature: 'event BurnBlocked(address indexed from, uint256 amount)',
  emittedBy: isTip20,
  title: 'Burn blocked',
})

/**
 * Since T12: an account with the role for it burned the tokens of another one. Follows the Transfer
 * to zero; `Burn` is not emitted. `burner` is who called the token, perhaps a contract.
 */
export const burnAt = defineEvent({
  signature: 'event BurnAt(address indexed burner, address indexed from, uint256 indexed amount)',
  emittedBy: isTip20,
  title: 'Token burned',
})

export const transferPolicyUpdate = defineEvent({
  signature: 'event TransferPolicyUpdate(address indexed updater, uint64 indexed newPolicyId)',
  emittedBy: isTip20,
  title: 'Token transfer policy set',
})

export const supplyCapUpdate = defineEvent({
  signature: 'event SupplyCapUpdate(address indexed updater, uint256 indexed newSupplyCap)',
  emittedBy: isTip20,
  title: 'Token supply cap set',
})

export const pauseStateUpdate = defineEvent({
  signature: 'event PauseStateUpdate(address indexed updater, bool isPaused)',
  emittedBy: isTip20,
  title: 'Token pause set',
})

/** First of the two steps of a change of quote token. */
export const nextQuoteTokenSet = defineEvent({
  signature: 'event NextQuoteTokenSet(address indexed updater, address indexed nextQuoteToken)',
  emittedBy: isTip20,
  title: 'Token next quote token set',
})

export const quoteTokenUpdate = defineEvent({
  signature: 'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
  emittedBy: isTip20,
  title: 'Token quote token set',
})

/** Before T7, which made the call do nothing. What was distributed before is paid out on and on. */
export const rewardDistributed = defineEvent({
  signature: 'event RewardDistributed(address indexed funder, uint256 amount)',
  emittedBy: isTip20,
  title: 'Reward distributed',
})

/** Before T7, which made the call do nothing. */
export const rewardRecipientSet = defineEvent({
  signature: 'event RewardRecipientSet(address indexed holder, address indexed recipient)',
  emittedBy: isTip20,
  title: 'Reward recipient set',
})

/** Since T5. */
export const logoUriUpdated = defineEvent({
  signature: 'event LogoURIUpdated(address indexed updater, string newLogoURI)',
  emittedBy: isTip20,
  title: 'Token logo set',
})

export const roleMembershipUpdated = defineEvent({
  signature:
    'event RoleMembershipUpdated(bytes32 indexed role, address indexed account, address indexed sender, bool hasRole)',
  emittedBy: isTip20,
  title: 'Role membership set',
})

export const roleAdminUpdated = defineEvent({
  signature:
    'event RoleAdminUpdated(bytes32 indexed role, bytes32 indexed newAdminRole, address indexed sender)',
  emittedBy: isTip20,
  title: 'Role admin set',
})
