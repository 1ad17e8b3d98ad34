/**
 * The pools that turn a user's fee token into the validator's. Fee swaps emit nothing, so reserves
 * cannot be summed from logs. The contract is the fee manager's; its Mint and Burn are not the
 * tokens' events of these names.
 */

import { feeManagerAddress } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

export const feePoolMint = defineEvent({
  signature:
    'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
  emittedBy: feeManagerAddress,
  title: 'Fee liquidity added',
})

/** The form before liquidity became one-sided. */
export const feePoolMintWithUserAmount = defineEvent({
  signature:
    'event Mint(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity)',
  emittedBy: feeManagerAddress,
  title: 'Fee liquidity added',
})

export const feePoolBurn = defineEvent({
  signature:
    'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
  emittedBy: feeManagerAddress,
  title: 'Fee liquidity removed',
})

export const rebalanceSwap = defineEvent({
  signature:
    'event RebalanceSwap(address indexed userToken, address indexed validatorToken, address indexed swapper, uint256 amountIn, uint256 amountOut)',
  emittedBy: feeManagerAddress,
  title: 'Fees rebalanced',
})
