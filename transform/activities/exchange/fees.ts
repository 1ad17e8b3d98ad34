/** Payers and takers of fees, their tokens, and what validators get. */

import { rebalanceSwap } from '../../events/exchange/feeAmm.ts'
import * as feeManager from '../../events/exchange/feeManager.ts'
import { defineActivity, fromEvent, tokenAmount } from '../activity.ts'

export const feesDistributed = defineActivity({
  type: 'fees-distributed',
  title: 'Fees distributed',
  find: fromEvent(feeManager.feesDistributed, ({ validator, token, amount }) => ({
    validator,
    sourceToken: tokenAmount(token, amount),
  })),
})

/** The swapper pays in the validators' token and takes the users'. */
export const feeRebalanceSwap = defineActivity({
  type: 'fee-rebalance-swap',
  title: 'Fees rebalanced',
  find: fromEvent(rebalanceSwap, ({ userToken, validatorToken, swapper, amountIn, amountOut }) => ({
    swapper,
    sourceToken: tokenAmount(validatorToken, amountIn),
    destinationToken: tokenAmount(userToken, amountOut),
  })),
})

export const feeUserTokenSet = defineActivity({
  type: 'fee-user-token-set',
  title: 'Fee user token set',
  find: fromEvent(feeManager.userTokenSet, ({ user, token }) => ({ user, token })),
})

export const feeValidatorTokenSet = defineActivity({
  type: 'fee-validator-token-set',
  title: 'Fee validator token set',
  find: fromEvent(feeManager.validatorTokenSet, ({ validator, token }) => ({ validator, token })),
})
