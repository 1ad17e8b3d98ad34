/**
 * Earn vaults, their router and factory. Vaults live at ordinary addresses, found by
 * `EarnStackDeployed`, hence any emitter. Engines behind a vault emit events of the same names with
 * other parameters; topic0 tells them apart.
 */
import { defineEvent } from './event.ts'

export const assetsDeposited = defineEvent({
  signature:
    'event Deposited(address indexed caller, address indexed receiver, uint256 assets, uint256 earnShares)',
  title: 'Assets deposited',
})

export const assetsWithdrawn = defineEvent({
  signature:
    'event WithdrewExact(address indexed caller, address indexed receiver, uint256 assets, uint256 earnSharesBurned)',
  title: 'Assets withdrawn',
})

export const sharesDeposited = defineEvent({
  signature:
    'event VenueSharesDeposited(address indexed caller, address indexed receiver, uint256 requestedVenueShares, uint256 receivedEngineShares, uint256 earnShares)',
  title: 'Shares deposited',
})

export const sharesRedeemed = defineEvent({
  signature:
    'event Redeemed(address indexed caller, address indexed receiver, uint256 earnShares, uint256 assets)',
  title: 'Shares redeemed',
})

export const redemptionRequested = defineEvent({
  signature:
    'event RedeemRequested(bytes32 indexed requestId, address indexed requester, address indexed receiver, uint256 earnShares)',
  title: 'Redemption requested',
})

export const redemptionFinalized = defineEvent({
  signature:
    'event RedeemFinalized(bytes32 indexed requestId, address indexed receiver, uint256 earnShares, address asset, uint256 assets)',
  title: 'Redemption finalized',
})

export const redemptionCancelled = defineEvent({
  signature: 'event RedeemCancelled(bytes32 indexed requestId, address indexed receiver, uint256 earnShares)',
  title: 'Redemption cancelled',
})

/**
 * Draft (TIP-1128), native vaults alone: shares were burned, and their assets went to the receiver.
 * `paymentReference` is whatever the owner wrote.
 */
export const sharesSpent = defineEvent({
  signature:
    'event EarnSpent(address indexed owner, address indexed receiver, uint256 shares, uint256 assets, bytes32 indexed paymentReference)',
  title: 'Shares spent',
})

/** Router: a deposit whose owner stays inside a zone. */
export const privateAssetsDeposited = defineEvent({
  signature:
    'event EarnDeposit(bytes32 indexed actionId, address indexed earnVault, address indexed inputToken, uint256 inputAmount, uint256 vaultAssets, uint256 earnShares, bytes32 zoneDepositHash)',
  title: 'Private assets deposited',
})

/** Router: a redemption whose owner stays inside a zone. */
export const privateSharesRedeemed = defineEvent({
  signature:
    'event EarnRedeem(bytes32 indexed actionId, address indexed earnVault, address indexed outputToken, uint256 earnShares, uint256 vaultAssets, uint256 outputAmount, bytes32 zoneDepositHash)',
  title: 'Private shares redeemed',
})

export const earnStackDeployed = defineEvent({
  signature:
    'event EarnStackDeployed(address indexed earnVault, address indexed earnShare, address indexed earnFees, address engine, address asset, address owner, bytes32 deploymentId, address emergencyGuardian, address asyncJanitor, uint256 maxManagedAssets, uint8 migrationMode, uint64 transferPolicyId, bytes32 earnShareSalt, bytes32 controlConfigHash, bytes32 feeConfigHash, bytes32 earnFeesSalt)',
  title: 'Earn vault deployed',
})

/** Draft (TIP-1128): the chain itself runs the vault from here on, at its address, with its events. */
export const nativeEarnRegistered = defineEvent({
  signature:
    'event NativeEarnRegistered(address indexed adapter, address indexed asset, address indexed shareToken, address engine, bytes32 manifestRoot)',
  title: 'Earn vault made native',
})

/** The form of development builds. */
export const nativeEarnRegisteredWithFees = defineEvent({
  signature:
    'event NativeEarnRegistered(address indexed vault, address indexed asset, address indexed earnShare, address fees, address engine, bytes32 engineHash)',
  title: 'Earn vault made native',
})
