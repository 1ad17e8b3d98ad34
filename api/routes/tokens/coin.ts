/** The native coin at the doors of one token. */
import { ApiError } from '#http/errors.ts'
import { nativeCoinEmitter } from '#transform/addresses.ts'

/**
 * Logs of the native coin have an address of their own (EIP-7708), which is no contract.
 * @throws ApiError token_not_found for that address
 */
export function assertNoCoin(token: string): void {
  if (token === nativeCoinEmitter) throw new ApiError('token_not_found')
}
