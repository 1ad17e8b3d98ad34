/** The digest that a payment is bound to: one request, whatever credential of access stands beside it. */
import { createHash } from 'node:crypto'

export interface PaidRequest {
  readonly method: string
  /** Path and query as sent; its `key` is left out. */
  readonly url: string
  /** The body as it was read; undefined for none. */
  readonly body: unknown
}

/** SHA-256 over realm, method, path, query and body, each with its length. */
export function requestDigest(realm: string, { method, url, body }: PaidRequest): Buffer {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const query = [...searchParams].filter(([name]) => name !== 'key')
  const hash = createHash('sha256')
  for (const part of [realm, method, pathname, JSON.stringify(query), JSON.stringify(body) ?? '']) {
    const bytes = Buffer.from(part)
    hash.update(`${bytes.length}:`).update(bytes)
  }
  return hash.digest()
}
