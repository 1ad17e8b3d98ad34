/**
 * The bytes that a passkey signs (WebAuthn, 6.3.3 and 7.2): the data of its device, and a hash of JSON that
 * holds the challenge.
 */

import { hash } from 'node:crypto'

/**
 * The message that the passkey signed when it was asked for this challenge (base64url), from
 * authenticator data and client data as they stand one behind the other. `other` when it was asked
 * for something else; `unknown` for bytes that are neither, that the protocol admits none of, or
 * that name the challenge in a way we do not read.
 */
export function readAssertion(data: Buffer, challenge: string): Uint8Array | 'other' | 'unknown' {
  if (data.length > WEB_AUTHN_BYTES_MAX) return 'unknown'
  const json = data.subarray(AUTHENTICATOR_BYTES)
  const asked = readChallenge(json)
  if (asked === challenge)
    return Buffer.concat([data.subarray(0, AUTHENTICATOR_BYTES), hash('sha256', json, 'buffer')])
  return asked === null || json.includes(challenge) ? 'unknown' : 'other'
}

/** A hash, flags and a counter. Tempo admits no device that adds more behind them. */
const AUTHENTICATOR_BYTES = 37

/**
 * Longest WebAuthn part of a signature: MAX_WEBAUTHN_SIGNATURE_LENGTH of tempo-primitives, less its
 * four words.
 */
const WEB_AUTHN_BYTES_MAX = 2_048 - 4 * 32

function readChallenge(json: Buffer): string | null {
  try {
    const client: unknown = JSON.parse(json.toString('utf8'))
    if (typeof client !== 'object' || client === null || !('challenge' in client)) return null
    return typeof client.challenge === 'string' ? client.challenge : null
  } catch {
    return null
  }
}
