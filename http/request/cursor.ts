/**
 * Cursors: opaque, authenticated, bound to the list they were given for. A cursor that was changed
 * or belongs to another list is refused; the caller then starts at the head, as the specification
 * asks. What it holds, a place in a public list, is no secret, so it is signed and not encrypted:
 * encryption was a ninth of a list's CPU.
 *
 * Text: base64url of `version (1) | key id (4) | tag (16) | body`. The same page always carries the
 * same cursor: with anything random in it no list would ever match its ETag.
 */
import { createHash, hash, timingSafeEqual } from 'node:crypto'

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
  /**
   * Newest block passed so far that was not final then; lets the store notice that a page it gave
   * was reorganized.
   */
  readonly passed: BlockMark | null
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
  /** The list's owner, where a list belongs to somebody. */
  readonly owner: string | null
}

/** 1 was encrypted. */
const FORMAT_VERSION = 2
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES + TAG_BYTES

/**
 * A cursor of five 256-bit keys and a mark stays below 600 characters; longer texts are not ours.
 */
const CHARACTERS_MAX = 1024

/**
 * Seals with the first key, opens with any, so that keys can be exchanged without breaking walks
 * under way: keep an old key as long as clients may still hold its cursors (a week).
 */
export class CursorKeys {
  #sealing: KeyEntry
  #byId: ReadonlyMap<string, KeyEntry>

  /** @throws TypeError when there is no key or one is not 32 bytes long. */
  constructor(keys: readonly Uint8Array[]) {
    const [sealing, byId] = entriesOf(keys)
    this.#sealing = sealing
    this.#byId = byId
  }

  /** Takes other keys in place of those held. @throws like the constructor */
  use(keys: readonly Uint8Array[]): void {
    ;[this.#sealing, this.#byId] = entriesOf(keys)
  }

  seal(cursor: Cursor, scope: CursorScope): string {
    const text = encodeBody(cursor)
    const tag = tagOf(this.#sealing, scope, text)
    return Buffer.concat([this.#sealing.head, tag, Buffer.from(text)]).toString('base64url')
  }

  /**
   * The cursor, or null when it is forged, damaged, of another list, or sealed with a key we no
   * longer hold.
   */
  open(text: string, scope: CursorScope): Cursor | null {
    const bytes = decodeText(text)
    if (!bytes || bytes[0] !== FORMAT_VERSION) return null
    const entry = this.#byId.get(bytes.toString('hex', 1, 1 + KEY_ID_BYTES))
    if (!entry) return null
    const body = bytes.toString('utf8', HEAD_BYTES)
    const tag = bytes.subarray(1 + KEY_ID_BYTES, HEAD_BYTES)
    return timingSafeEqual(tag, tagOf(entry, scope, body)) ? decodeBody(body) : null
  }
}

interface KeyEntry {
  readonly id: string
  /** The bytes that a cursor of this key begins with. */
  readonly head: Buffer
  /** Keys of the two digests, as hex: 64 characters, a block of SHA-256 each. */
  readonly inner: string
  readonly outer: string
}

function entriesOf(keys: readonly Uint8Array[]): readonly [KeyEntry, ReadonlyMap<string, KeyEntry>] {
  const entries = keys.map(keyEntry)
  const [first] = entries
  if (!first) throw new TypeError('a cursor key is needed')
  return [first, new Map(entries.map((entry) => [entry.id, entry]))]
}

function keyEntry(key: Uint8Array): KeyEntry {
  if (key.length !== KEY_BYTES) throw new TypeError(`a cursor key has ${KEY_BYTES} bytes, not ${key.length}`)
  const derived = (purpose: string) => createHash('sha256').update(purpose).update(key).digest()
  const id = derived('millrace cursor key').subarray(0, KEY_ID_BYTES)
  return {
    id: id.toString('hex'),
    head: Buffer.concat([Buffer.of(FORMAT_VERSION), id]),
    inner: derived('millrace cursor, inner digest').toString('hex'),
    outer: derived('millrace cursor, outer digest').toString('hex'),
  }
}

/**
 * HMAC-SHA-256 (RFC 2104), with two keys of a block each in the place of one key padded in two
 * ways. By Node's one-call digests it takes 3 us, by `createHmac` 9.
 */
function tagOf({ inner, outer }: KeyEntry, scope: CursorScope, body: string): Buffer {
  const digest = hash('sha256', `${inner}${scopeText(scope)}\0${body}`, 'hex')
  return hash('sha256', `${outer}${digest}`, 'buffer').subarray(0, TAG_BYTES)
}

function decodeText(text: string): Buffer | null {
  if (text.length > CHARACTERS_MAX) return null
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= HEAD_BYTES) return null
  // Base64 ignores foreign characters and spare bits; only the one canonical text of a cursor is
  // that cursor.
  return bytes.toString('base64url') === text ? bytes : null
}

/**
 * The same list always gives the same text, whatever the order in which its filters were written.
 */
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
  /** Once the moment it was given out, which made the same page another one each second. */
  unused: number,
  position: readonly StoredValue[],
  passed: readonly [number, string] | null,
]

function encodeBody({ position, passed }: Cursor): string {
  return JSON.stringify([0, position.map(storedForm), passed && [passed.number, passed.hash]])
}

/** Only text that we sealed gets here, so its shape is known. */
function decodeBody(text: string): Cursor {
  const [, position, passed] = JSON.parse(text) as StoredBody
  return {
    position: position.map((value) => (typeof value === 'object' ? BigInt(value.n) : value)),
    passed: passed && { number: passed[0], hash: passed[1] },
  }
}
