/**
 * Earn vaults. Amounts are base units of the vault's asset and of its share token, which the events
 * do not name.
 */

import * as vault from '../events/earn.ts'
import { defineActivity, fromEvent } from './activity.ts'

/** The state of an action: redemptions take two transactions, all else one. */
const completed = 'completed'

export const assetsDeposited = defineActivity({
  type: 'assets-deposited',
  title: 'Assets deposited',
  find: fromEvent(vault.assetsDeposited, ({ caller, receiver, assets, earnShares }, { emitter }) => ({
    assets: String(assets),
    shares: String(earnShares),
    caller,
    receiver,
    vault: emitter,
    status: completed,
  })),
})

export const assetsWithdrawn = defineActivity({
  type: 'assets-withdrawn',
  title: 'Assets withdrawn',
  find: fromEvent(vault.assetsWithdrawn, ({ caller, receiver, assets, earnSharesBurned }, { emitter }) => ({
    assets: String(assets),
    sharesBurned: String(earnSharesBurned),
    caller,
    receiver,
    vault: emitter,
    status: completed,
  })),
})

export const sharesDeposited = defineActivity({
  type: 'shares-deposited',
  title: 'Shares deposited',
  find: fromEvent(vault.sharesDeposited, (deposited, { emitter }) => ({
    requestedVenueShares: String(deposited.requestedVenueShares),
    receivedEngineShares: String(deposited.receivedEngineShares),
    shares: String(deposited.earnShares),
    caller: deposited.caller,
    receiver: deposited.receiver,
    vault: emitter,
    status: completed,
  })),
})

/** Spending shares (draft) is a redemption whose assets pay the receiver. */
export const sharesRedeemed = defineActivity({
  type: 'shares-redeemed',
  title: 'Shares redeemed',
  find: (tx) => redeemed(tx) ?? spent(tx),
})

const redeemed = fromEvent(vault.sharesRedeemed, ({ caller, receiver, assets, earnShares }, { emitter }) => ({
  assets: String(assets),
  shares: String(earnShares),
  caller,
  receiver,
  vault: emitter,
  status: completed,
}))

const spent = fromEvent(vault.sharesSpent, ({ owner, receiver, assets, shares }, { emitter }) => ({
  assets: String(assets),
  shares: String(shares),
  caller: owner,
  receiver,
  vault: emitter,
  status: completed,
}))

export const sharesRedemptionRequested = defineActivity({
  type: 'shares-redemption-requested',
  title: 'Shares redemption requested',
  find: fromEvent(
    vault.redemptionRequested,
    ({ requestId, requester, receiver, earnShares }, { emitter }) => ({
      requestId,
      shares: String(earnShares),
      requester,
      receiver,
      vault: emitter,
      status: 'pending',
    }),
  ),
})

export const sharesRedemptionFinalized = defineActivity({
  type: 'shares-redemption-finalized',
  title: 'Shares redemption finalized',
  find: fromEvent(
    vault.redemptionFinalized,
    ({ requestId, receiver, earnShares, asset, assets }, { emitter }) => ({
      requestId,
      shares: String(earnShares),
      asset,
      assets: String(assets),
      receiver,
      vault: emitter,
      status: completed,
    }),
  ),
})

export const sharesRedemptionCancelled = defineActivity({
  type: 'shares-redemption-cancelled',
  title: 'Shares redemption cancelled',
  find: fromEvent(vault.redemptionCancelled, ({ requestId, receiver, earnShares }, { emitter }) => ({
    requestId,
    shares: String(earnShares),
    receiver,
    vault: emitter,
    status: 'cancelled',
  })),
})

/**
 * Through the router, for an owner inside a zone; comes before the vault's own activities, which it
 * stands for.
 */
export const privateAssetsDeposited = defineActivity({
  type: 'private-assets-deposited',
  title: 'Private assets deposited',
  find: fromEvent(vault.privateAssetsDeposited, (deposited) => ({
    actionId: deposited.actionId,
    vault: deposited.earnVault,
    inputToken: deposited.inputToken,
    inputAmount: String(deposited.inputAmount),
    assets: String(deposited.vaultAssets),
    shares: String(deposited.earnShares),
    zoneDepositHash: deposited.zoneDepositHash,
    status: completed,
  })),
})

export const privateSharesRedeemed = defineActivity({
  type: 'private-shares-redeemed',
  title: 'Private shares redeemed',
  find: fromEvent(vault.privateSharesRedeemed, (redeemed) => ({
    actionId: redeemed.actionId,
    vault: redeemed.earnVault,
    outputToken: redeemed.outputToken,
    outputAmount: String(redeemed.outputAmount),
    assets: String(redeemed.vaultAssets),
    shares: String(redeemed.earnShares),
    zoneDepositHash: redeemed.zoneDepositHash,
    status: completed,
  })),
})
