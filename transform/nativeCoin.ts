/** A chain's logs of its own coin. */
import { nativeCoinEmitter } from './addresses.ts'
import { defineEvent } from './events/event.ts'

/**
 * The native coin moved, between different accounts and by more than nothing (EIP-7708). It is no
 * event of a contract, so that logs and signatures know no name of it, and no look-alike is it.
 */
export const nativeTransfer = defineEvent({
  signature: 'event Transfer(address indexed from, address indexed to, uint256 amount)',
  emittedBy: nativeCoinEmitter,
})
