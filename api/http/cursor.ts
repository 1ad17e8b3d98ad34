/**
 * Cursors: opaque, authenticated, bound to the list they were given for. AES-256-GCM hides the position and, with the
 * list's identity as additional data, refuses a cursor that was changed or belongs to another list; the caller then
 * starts at the head, as the specification asks.
 *
 * Text: base64url of `version (1) | key id (4) | nonce (12) | ciphertext | tag (16)`. The nonce is a keyed digest of what is
 * sealed, so that the same page always carries the same cursor: with random ones no list would ever match its ETag. Equal
 * cursors tell only that they are equal, and different content never shares a nonce (beyond a chance of 2^-96 per pair).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hash,
  type KeyObject,
} from 'node:crypto'

/** One value of a sort key. */
export type KeyValue = number | string | bigint

/** Sort key of the last row given out, in the order of the list's key columns. */
export type Position = readonly KeyValue[]

/** A block that could still change when its rows were given out. */
export interface BlockMark {
  readonly number: number
  readonly hash: string
}

export interface Cursor {
  readonly position: Position
  /** Newest block passed so far that was not final then; lets the store notice that a page it gave was reorganized. */
  readonly passed: BlockMark | null
  /** When it was given out; 0 where the list does not ask, so that the same page keeps its cursor. */
  readonly issuedSeconds: number
}

/** Identity of a list: a cursor opens only under the value it was sealed with. */
export interface CursorScope {
  readonly route: string
  /** Raised by a list whose sort key changes its meaning. */
  readonly version: number
  readonly chainId: number | null
  readonly order: 'asc' | 'desc'
  /** Path and filter values; their order does not matter, missing ones do not count. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Whose list it is, where a list belongs to somebody. */
  readonly owner: string | null
}

const formatVersion = 1
const keyBytes = 32
const keyIdBytes = 4
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + keyIdBytes + nonceBytes

/** A cursor of five 256-bit keys and a mark stays below 600 characters; longer texts are not ours. */
const charactersMax = 1024

/**
 * Seals with the first key, opens with any, so that keys can be exchanged without breaking walks under way: keep an old
 * key as long as clients may still hold its cursors (a week).
 */
export class CursorKeys {
  readonly #sealing: KeyEntry
  readonly #byId = new Map<string, KeyEntry>()

  /** @throws TypeError when there is no key or one is not 32 bytes long. */
  constructor(keys: readonly Uint8Array[]) {
    const [first] = keys
    if (!first) throw new TypeError('a cursor key is needed')
    for (const key of keys) {
      const entry = keyEntry(key)
      this.#byId.set(entry.id.toString('hex'), entry)
    }
    this.#sealing = keyEntry(first)
  }

  seal(cursor: Cursor, scope: CursorScope): string {
    const { id, key, nonceKey } = this.#sealing
    const [text, list] = [encodeBody(cursor), scopeText(scope)]
    // A key before the text makes a keyed digest as long as most of it is cut off: nobody can then continue it.
    const nonce = hash('sha256', `${nonceKey}${list}\0${text}`, 'buffer').subarray(0, nonceBytes)
    const head = Buffer.concat([Buffer.of(formatVersion), id, nonce])
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(Buffer.concat([head, Buffer.from(list)]))
    const body = Buffer.concat([cipher.update(text), cipher.final()])
    return Buffer.concat([head, body, cipher.getAuthTag()]).toString('base64url')
  }

  /** The cursor, or null when it is forged, damaged, of another list, or sealed with a key we no longer hold. */
  open(text: string, scope: CursorScope): Cursor | null {
    const bytes = decodeText(text)
    if (!bytes) return null
    const head = bytes.subarray(0, headBytes)
    const entry = this.#byId.get(head.subarray(1, 1 + keyIdBytes).toString('hex'))
    if (head[0] !== formatVersion || !entry) return null
    const decipher = createDecipheriv('aes-256-gcm', entry.key, head.subarray(1 + keyIdBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.concat([head, Buffer.from(scopeText(scope))]))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    try {
      const body = bytes.subarray(headBytes, -tagBytes)
      return decodeBody(Buffer.concat([decipher.update(body), decipher.final()]).toString())
    } catch {
      // `final` throws when the tag does not match: the only way GCM says "not ours".
      return null
    }
  }
}

interface KeyEntry {
  readonly id: Buffer
  readonly key: KeyObject
  /** A key of its own for nonces, as hex, so that one never tells of the other. */
  readonly nonceKey: string
}

function keyEntry(key: Uint8Array): KeyEntry {
  if (key.length !== keyBytes) throw new TypeError(`a cursor key has ${keyBytes} bytes, not ${key.length}`)
  const derived = (purpose: string) => createHash('sha256').update(purpose).update(key).digest()
  const id = derived('millrace cursor key').subarray(0, keyIdBytes)
  return { id, key: createSecretKey(key), nonceKey: derived('millrace cursor nonce').toString('hex') }
}

function decodeText(text: string): Buffer | null {
  if (text.length > charactersMax) return null
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= headBytes + tagBytes) return null
  // Base64 ignores foreign characters and spare bits; only the one canonical text of a cursor is that cursor.
  return bytes.toString('base64url') === text ? bytes : null
}

/** The same list always gives the same text, whatever the order in which its filters were written. */
function scopeText(scope: CursorScope): string {
  const filters = Object.entries(scope.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const { route, version, chainId, order, owner } = scope
  return JSON.stringify([
    route,
    version,
    chainId,
    order,
    owner,
    filters.map(([name, value]) => [name, storedForm(value)]),
  ])
}

/** Bigints have no JSON form: they travel as `{n: decimal}`. */
function storedForm(value: unknown): unknown {
  if (typeof value === 'bigint') return { n: `${value}` }
  return Array.isArray(value) ? value.map(storedForm) : value
}

type StoredValue = number | string | { readonly n: string }
type StoredBody = readonly [
  issuedSeconds: number,
  position: readonly StoredValue[],
  passed: readonly [number, string] | null,
]

function encodeBody({ position, passed, issuedSeconds }: Cursor): string {
  return JSON.stringify([issuedSeconds, position.map(storedForm), passed && [passed.number, passed.hash]])
}

/** Only text that we sealed gets here, so its shape is known. */
function decodeBody(text: string): Cursor {
  const [issuedSeconds, position, passed] = JSON.parse(text) as StoredBody
  return {
    issuedSeconds,
    position: position.map((value) => (typeof value === 'object' ? BigInt(value.n) : value)),
    passed: passed && { number: passed[0], hash: passed[1] },
  }
}
