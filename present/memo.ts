/** The text that a transfer's 32-byte memo has for people. */
import { hash as digest } from 'node:crypto'

/**
 * A service to name: by its realm, a domain name compared as it is, or by that realm's fingerprint,
 * 0x and 20 hex.
 */
export type AttributedService = { readonly name: string } & (
  | { readonly realm: string }
  | { readonly fingerprint: string }
)

export interface MemoText {
  readonly memo?: string
  /** Service that the payment is attributed to. */
  readonly attribution?: string
}

/** Names of paid services by the fingerprint of their realm. */
export type AttributionNames = Pick<ReadonlyMap<string, string>, 'get'>

/**
 * First 4 bytes of keccak256("mpp"); then 1 byte version, 10 bytes fingerprint of the service's
 * realm.
 */
const attributionTag = 'ef1ed712'
const FINGERPRINT_FROM = 2 + 8 + 2
const FINGERPRINT_CHARACTERS = 20
/** Paid under the protocol, by a service whose realm nobody told us. */
const unknownService = 'MPP Service'

/** The table behind `attribution`. */
export function attributionNames(services: Iterable<AttributedService>): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const service of services) names.set(fingerprintOf(service), service.name)
  return names
}

const fingerprintOf = (service: AttributedService): string =>
  'realm' in service
    ? digest('keccak-256', service.realm, 'hex').slice(0, FINGERPRINT_CHARACTERS)
    : service.fingerprint.slice(2)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * `memo` is 0x and 64 hex characters. What is neither text nor an attribution says nothing here.
 */
export function readMemo(memo: string | null, names: AttributionNames): MemoText {
  if (memo === null) return {}
  if (memo.startsWith(`0x${attributionTag}`)) {
    const fingerprint = memo.slice(FINGERPRINT_FROM, FINGERPRINT_FROM + FINGERPRINT_CHARACTERS)
    return { attribution: names.get(fingerprint) ?? unknownService }
  }
  const text = decodeText(Buffer.from(memo.slice(2), 'hex'))
  return text === '' ? {} : { memo: text }
}

/** Padding is zero bytes, on either side; bytes that are not UTF-8 are no text. */
function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes).replaceAll('\0', '')
  } catch {
    return ''
  }
}
