/**
 * Cache classes, entity tags and conditional requests: clients of the reference service observe
 * these values.
 */
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

const classes = {
  /** Lists and anything that grows with the chain. */
  feed: 'private, max-age=10, stale-while-revalidate=30',
  /** Final facts: a mined transaction, its receipt, its activities. */
  mined: 'private, max-age=86400, stale-while-revalidate=604800',
  /** Facts that never change: a range of final blocks. */
  settled: 'private, max-age=31536000, immutable',
  /** Token metadata. */
  metadata: 'max-age=60, stale-while-revalidate=300',
  /** Holders and balances. */
  balances: 'max-age=30, stale-while-revalidate=120',
  /** Curated documents, such as the token list. */
  curated: 'max-age=300, stale-while-revalidate=3600',
  /** Images. */
  asset: 'public, max-age=86400, stale-while-revalidate=604800',
  /** A page that changes with the program: kept, but asked about every time. */
  page: 'no-cache',
  /** A file that has its version in its address, and so never changes. */
  versioned: 'public, max-age=31536000, immutable',
  /** Pending, private or momentary. */
  none: 'no-store',
} as const

export type CacheClass = keyof typeof classes

export const cacheControl = (of: CacheClass): string => classes[of]

/**
 * Tags what may be cached and has no tag of its own; answers 304 without a body when the client
 * holds it already.
 */
export function tagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
  const cached = reply.getHeader('cache-control')
  // A payer is told in full what it paid for.
  if (request.isPaid) return payload
  if (!isRead || !isWhole || reply.statusCode !== 200 || cached === undefined || cached === 'no-store') {
    return payload
  }
  const known = reply.getHeader('etag')
  const tag = typeof known === 'string' ? known : entityTag(payload)
  reply.header('etag', tag)
  const asked = request.headers['if-none-match']
  if (asked === undefined || !matchesEntityTag(asked, tag)) return payload
  reply.code(304).removeHeader('content-type').removeHeader('content-length')
  withoutQuota(reply)
  // Fastify measures the body of a HEAD, and null has no length.
  return request.method === 'HEAD' ? '' : null
}

/** A 304 and a payment challenge say nothing of quotas, though a 304 is counted like any answer. */
export function withoutQuota(reply: FastifyReply): void {
  for (const name of Object.keys(reply.getHeaders())) if (/^ratelimit-/i.test(name)) reply.removeHeader(name)
}

/**
 * Runs after compression: a compressed body is another representation with a tag of its own (RFC
 * 9110, 8.8.3.3). A 304 has no length either, which for HEAD was just set to that of no body (RFC
 * 9110, 8.6).
 */
export function tagEncoding(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  if (reply.statusCode === 304) reply.removeHeader('content-length')
  const tag = reply.getHeader('etag')
  const encoding = reply.getHeader('content-encoding')
  if (typeof tag === 'string' && typeof encoding === 'string' && !tag.endsWith(`-${encoding}"`)) {
    reply.header('etag', entityTagEncoded(tag, encoding))
  }
  done(null, payload)
}

/**
 * Strong tag of a body: the same bytes, the same tag. SHA-1 costs a third of SHA-256, and nobody
 * gains by a collision.
 */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`
}

export const entityTagEncoded = (tag: string, encoding: string): string => `${tag.slice(0, -1)}-${encoding}"`

/**
 * Whether If-None-Match names this body in any of its encodings (weak comparison, RFC 9110,
 * 13.1.2).
 */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '').slice(1, -1)
  return ifNoneMatch.split(',').some((candidate) => {
    const text = candidate.trim().replace(/^W\//, '')
    return text.slice(1, -1).replace(/-(?:br|gzip|zstd|deflate)$/, '') === opaque
  })
}
