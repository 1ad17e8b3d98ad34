/** Logs of fees and their pools, written by hand for `writtenChain`. */
import type { Hex } from 'viem'
import { events, logOf } from './writtenBook.ts'
import type { WrittenLog } from './writtenChain.ts'

export const feeManager = '0xfeec000000000000000000000000000000000000'

const feeEvents = {
  minted:
    'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
  chosen: 'event ValidatorTokenSet(address indexed validator, address indexed token)',
} as const

export const mint = (sender: Hex, userToken: Hex, validatorToken: Hex, amount: bigint): WrittenLog =>
  logOf(feeManager, feeEvents.minted, {
    ...{ sender, to: sender, userToken, validatorToken },
    ...{ amountValidatorToken: amount, liquidity: amount },
  })

/** The token a validator takes fees in from here on. */
export const chosen = (validator: Hex, token: Hex): WrittenLog =>
  logOf(feeManager, feeEvents.chosen, { validator, token })

/** The transfer that closes a transaction and pays for it. */
export const fee = (from: Hex, token: Hex, amount: bigint): WrittenLog =>
  logOf(token, events.transfer, { from, to: feeManager, amount })
