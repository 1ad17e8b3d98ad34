/** What a passkey signs (WebAuthn, 6.3.3 and 7.2): the data of its device, and a hash of JSON that holds the challenge. */

import { hash } from 'node:crypto'

export interface Assertion {
  /** What the signature is of. */
  readonly message: Uint8Array
  /** What the passkey was asked to sign, in base64url. */
  readonly challenge: string
}

/** Reads authenticator data and client data as they stand one behind the other. Null for bytes that are neither. */
export function readAssertion(data: Uint8Array): Assertion | null {
  for (let at = data.indexOf(brace, authenticatorBytesMin); at > 0; at = data.indexOf(brace, at + 1)) {
    const challenge = readChallenge(data.subarray(at))
    if (challenge === null) continue
    const digest = hash('sha256', data.subarray(at), 'buffer')
    return { message: Buffer.concat([data.subarray(0, at), digest]), challenge }
  }
  return null
}

/** A hash, flags and a counter; devices may add more behind them, which says nowhere how long it is. */
const authenticatorBytesMin = 37
const brace = 0x7b

function readChallenge(json: Uint8Array): string | null {
  try {
    const client: unknown = JSON.parse(Buffer.from(json).toString('utf8'))
    if (typeof client !== 'object' || client === null || !('challenge' in client)) return null
    return typeof client.challenge === 'string' ? client.challenge : null
  } catch {
    return null
  }
}
