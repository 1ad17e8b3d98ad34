/**
 * The code of a call: a chain has it in what the call was paid with, so that a database that was restored
 * knows what it has paid.
 */
import { concat, keccak256, slice, toHex } from 'viem'
import type { SpendProtocol } from '#rows/jobs/spends.ts'

/** The bytes of it in 32: as the fingerprint of MPP's client in its memo. */
const [START, END] = [15, 25] as const
/** The first bytes of MPP's memos. */
const MPP = '0xef1ed71201'

/** @param idempotencyKey what MPP's library takes for the client */
export const callCodeOf = (idempotencyKey: string): `0x${string}` =>
  slice(keccak256(toHex(idempotencyKey)), 0, END - START)

/** A nonce that has the code, and is chance besides. */
export const codedNonce = (nonce: `0x${string}`, idempotencyKey: string): `0x${string}` =>
  concat([slice(nonce, 0, START), callCodeOf(idempotencyKey), slice(nonce, END)])

/** By what a chain has of a payment: a memo, or a nonce. */
export const protocolOf = (memo: string): SpendProtocol => (memo.startsWith(MPP) ? 'mpp' : 'x402')
