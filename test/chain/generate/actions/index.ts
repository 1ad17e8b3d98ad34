/**
 * Everything that happens every day, and how often. The same seed gives the same in this order
 * only.
 */
import type { Action } from '../action.ts'
import { coin, delegate, deploy, factoryMade, fail, nft, vault, zoo } from './contracts.ts'
import { cancel, collectFees, flip, order, pool, preference, rebalance, swap, withdraw } from './exchange.ts'
import { govern, launch, policy } from './governance.ts'
import { approve, burn, memo, mint, payout, reward, spend, transfer } from './payments.ts'

export const actions: Readonly<Record<string, Action>> = {
  transfer: { weight: 26, build: transfer },
  memo: { weight: 14, build: memo },
  payout: { weight: 5, build: payout },
  approve: { weight: 3, build: approve },
  spend: { weight: 4, build: spend },
  mint: { weight: 3, build: mint },
  burn: { weight: 2, build: burn },
  order: { weight: 6, build: order },
  flip: { weight: 2, build: flip },
  cancel: { weight: 3, build: cancel },
  swap: { weight: 7, build: swap },
  withdraw: { weight: 1, build: withdraw },
  pool: { weight: 1, build: pool },
  rebalance: { weight: 0.5, build: rebalance },
  collectFees: { weight: 0.3, build: collectFees },
  reward: { weight: 1, build: reward },
  policy: { weight: 0.6, build: policy },
  govern: { weight: 0.6, build: govern },
  preference: { weight: 0.4, build: preference },
  coin: { weight: 5, build: coin },
  nft: { weight: 1.5, build: nft },
  vault: { weight: 2.5, build: vault },
  zoo: { weight: 2, build: zoo },
  factoryMade: { weight: 0.4, build: factoryMade },
  deploy: { weight: 0.5, build: deploy },
  launch: { weight: 0.3, build: launch },
  fail: { weight: 4, build: fail },
  delegate: { weight: 0.2, build: delegate },
}
