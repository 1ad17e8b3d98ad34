/** An endpoint's answer, before it is HTTP. */
import type { Readable } from 'node:stream'
import type { Challenged } from '../request/access.ts'
import type * as s from '../schema.ts'
import type { EventStream } from '../stream/sse.ts'
import type { CacheClass } from './cache.ts'

/** A JSON answer, serialized by the endpoint's response schema. */
export interface JsonAnswer {
  readonly kind: 'json'
  /** Default: the endpoint's. */
  readonly status?: number
  readonly value: unknown
  readonly cache: CacheClass
  readonly headers: Readonly<Record<string, string>>
}

/** A JSON answer of a raw endpoint, serialized by the schema of its `application/json`. */
export type ValueAnswer<Value> = Partial<JsonAnswer> & {
  readonly kind: 'json'
  readonly value: Value
}

/** A JSON answer that is written already: several requests may get it. */
export interface WrittenAnswer extends Omit<JsonAnswer, 'kind' | 'value'> {
  readonly kind: 'written'
  readonly text: string
  readonly tag: string
}

/** The form of an endpoint's answer, for the serializer and the OpenAPI document. */
export type Produces =
  | {
      readonly kind: 'json'
      readonly status: number
      readonly schema: s.TSchema
      readonly description: string
    }
  /** Content types and their schemas, where they have one; the same under each status. */
  | {
      readonly kind: 'raw'
      readonly statuses: readonly number[]
      readonly types: Readonly<Record<string, s.TSchema | null>>
    }

export interface Trailers {
  readonly names: readonly string[]
  readonly values: () => Readonly<Record<string, string>>
}

/** Bytes with their content type, nothing, a live stream of events, or what is to be paid (402). */
export type RawAnswer =
  | Challenged
  | {
      readonly kind: 'empty'
      /** Default 204. */
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'bytes'
      /** Default 200. */
      readonly status?: number
      readonly contentType: string
      readonly body: string | Uint8Array | Readable
      /** Default `none`. */
      readonly cache?: CacheClass
      readonly headers?: Readonly<Record<string, string>>
      /** Headers whose values are known when the body has ended; they follow it (RFC 9110, 6.5). */
      readonly trailers?: Trailers
      /** The body may take longer than a request may; its source bounds it. */
      readonly isLong?: boolean
    }
  | {
      readonly kind: 'events'
      /**
       * Writes until it returns, the client goes, or the stream is dropped; `stream.signal` tells.
       */
      readonly write: (stream: EventStream) => Promise<void>
      readonly headers?: Readonly<Record<string, string>>
    }
