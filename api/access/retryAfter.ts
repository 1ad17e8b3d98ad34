/** The wait that a refusal names. */
import type { AccessRule } from '#http/request/access.ts'

/** Clients of JSON-RPC, which have readings of their own of this header. */
const RPC_SCOPE = 'rpc-relay:read'

/**
 * Seconds, as RFC 9110 (10.2.3) has them. ethers takes a number for milliseconds, asks twelve times
 * at once and gives up; a leading zero, which the RFC allows, makes it back off by itself, and
 * everybody else reads the same number.
 */
export function retryAfter({ scope }: Pick<AccessRule, 'scope'>, leftMs: number): string {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000))
  return scope === RPC_SCOPE ? `0${seconds}` : `${seconds}`
}
