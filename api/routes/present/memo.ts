/** What a transfer's 32-byte memo says to people. */
import { hash as digest } from 'node:crypto'

export interface MemoText {
  readonly memo?: string
  /** Service that the payment is attributed to. */
  readonly attribution?: string
}

/** Names of paid services by the fingerprint of their realm. */
export type AttributionNames = ReadonlyMap<string, string>

/** First 4 bytes of keccak256("mpp"); then 1 byte version, 10 bytes fingerprint of the service's realm. */
const attributionTag = 'ef1ed712'
const fingerprintFrom = 2 + 8 + 2
const fingerprintCharacters = 20
/** Paid under the protocol, by a service whose realm nobody told us. */
const unknownService = 'MPP Service'

/** The table behind `attribution`. Realms are domain names, compared as they are. */
export function attributionNames(
  services: Iterable<{ readonly realm: string; readonly name: string }>,
): AttributionNames {
  const names = new Map<string, string>()
  for (const { realm, name } of services) names.set(fingerprintOf(realm), name)
  return names
}

const fingerprintOf = (realm: string): string =>
  digest('keccak-256', realm, 'hex').slice(0, fingerprintCharacters)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** `memo` is 0x and 64 hex characters. What is neither text nor an attribution says nothing here. */
export function readMemo(memo: string | null, names: AttributionNames): MemoText {
  if (memo === null) return {}
  if (memo.startsWith(`0x${attributionTag}`)) {
    const fingerprint = memo.slice(fingerprintFrom, fingerprintFrom + fingerprintCharacters)
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
