/**
 * Logs of tokens that are made, moved, burned (T12: also those of others) and held because their
 * receiver refused them (T6), written by hand.
 */
import type { Hex } from 'viem'
import { events, logOf } from './writtenBook.ts'
import type { WrittenLog } from './writtenChain.ts'

export const zero: Hex = `0x${'0'.repeat(40)}`
export const guard: Hex = '0xb10c000000000000000000000000000000000000'

export const holdEvents = {
  burnAt: 'event BurnAt(address indexed burner, address indexed from, uint256 indexed amount)',
  blocked:
    'event TransferBlocked(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint256 amount, uint8 receiptVersion, bytes receipt)',
  claimed:
    'event ReceiptClaimed(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, address to, uint256 amount)',
  destroyed:
    'event ReceiptBurned(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, uint256 amount)',
} as const

/** Logs of one token; `issuer` sent what is held, and gets back or burns it. */
export function holdsOf(token: Hex, issuer: Hex) {
  const moved = (from: Hex, to: Hex, amount: bigint): WrittenLog =>
    logOf(token, events.transfer, { from, to, amount })
  const receiptOf = (receiver: Hex, blockedNonce: bigint, amount: bigint) => ({
    ...{ token, receiver, blockedNonce, amount, blockedAt: 3n, receiptVersion: 1 },
    ...{ originator: issuer, recipient: receiver, recoveryAuthority: issuer, caller: issuer, to: receiver },
  })
  type Receipt = Parameters<typeof receiptOf>
  return {
    moved,
    minted: (to: Hex, amount: bigint): readonly WrittenLog[] => [
      moved(zero, to, amount),
      logOf(token, 'event Mint(address indexed to, uint256 amount)', { to, amount }),
    ],
    burnedAt: (burner: Hex, from: Hex, amount: bigint): readonly WrittenLog[] => [
      moved(from, zero, amount),
      logOf(token, holdEvents.burnAt, { burner, from, amount }),
    ],
    blocked: (receiver: Hex, blockedNonce: bigint, amount: bigint, by: Hex = guard): WrittenLog =>
      logOf(by, holdEvents.blocked, {
        ...{ token, receiver, blockedNonce, amount, receiptVersion: 1, receipt: '0x1234' },
      }),
    claimed: (...receipt: Receipt): WrittenLog => logOf(guard, holdEvents.claimed, receiptOf(...receipt)),
    destroyed: (...receipt: Receipt): WrittenLog => logOf(guard, holdEvents.destroyed, receiptOf(...receipt)),
  }
}
