/** Events of every fungible token, standard (TIP-20) or not. */
import { nativeCoinEmitter } from '../../addresses.ts'
import { defineEvent } from '../event.ts'

/**
 * A token moved. Mints and burns emit it too, with the zero address on one side; so does every fee.
 * The native coin is no token.
 */
export const transfer = defineEvent({
  signature: 'event Transfer(address indexed from, address indexed to, uint256 amount)',
  emittedBy: (emitter) => emitter !== nativeCoinEmitter,
  title: 'Token transferred',
  webhook: 'token:transfer',
})

/**
 * A spender may move that much of the owner's tokens from now on. Since T5 approvals can change
 * without it.
 */
export const approval = defineEvent({
  signature: 'event Approval(address indexed owner, address indexed spender, uint256 amount)',
  title: 'Allowance approved',
})
