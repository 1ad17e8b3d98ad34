/**
 * Tokens: API keys and sessions. `svc_live_` or `svc_test_` (a sandbox key) or `svc_session_`, 40
 * random characters of base 62 (238 bits), and 6 that check them, so that a mistyped or made-up
 * token is refused without a look into the database, and scanners find lost ones by their form:
 *
 *     svc_(live|test|session)_[0-9A-Za-z]{46}
 */
import { crc32 } from 'node:zlib'
import { base62, randomBase62 } from '#rows/identifiers.ts'

export type TokenKind = 'live' | 'test' | 'session'

const RANDOM_CHARACTERS = 40
/** CRC32 in base 62, as GitHub's tokens have it. */
const CHECK_CHARACTERS = 6

const form = /^svc_(live|test|session)_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/

export function newToken(kind: TokenKind): string {
  const text = `svc_${kind}_${randomBase62(RANDOM_CHARACTERS)}`
  return text + checkOf(text)
}

/** Null for a text that is no token of ours. */
export function tokenKindOf(text: string): TokenKind | null {
  const [, kind] = form.exec(text) ?? []
  if (kind === undefined || !text.endsWith(checkOf(text.slice(0, -CHECK_CHARACTERS)))) return null
  return kind === 'live' || kind === 'test' ? kind : 'session'
}

const checkOf = (text: string): string => base62(crc32(text), CHECK_CHARACTERS)
