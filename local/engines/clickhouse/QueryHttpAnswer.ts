/** Writes the answer to one query in the ClickHouse HTTP interface's form. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib'

import { type QueryError, statusOf } from './QueryError.ts'
import type { HttpQueryRequest } from './queryRequest.ts'

/**
 * One answer: headers when the first byte or the end is known, then bytes as fast as the client
 * takes them.
 */
export class QueryHttpAnswer {
  readonly #response: ServerResponse
  readonly #request: Pick<HttpQueryRequest, 'queryId' | 'contentCoding'>
  readonly #exceptionTag = randomBytes(8).toString('hex')
  #body: Writable | undefined
  #encoder: Gzip | ZstdCompress | undefined
  #format = ''

  constructor(response: ServerResponse, request: Pick<HttpQueryRequest, 'queryId' | 'contentCoding'>) {
    this.#response = response
    this.#request = request
  }

  /** The format of the bytes to come. */
  set format(format: string) {
    this.#format = format
  }

  /** Sends bytes; resolves when there is room for more. Rejects when the client has gone. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#body ??= this.#open()
    if (this.#response.destroyed) throw new ClientGone()
    if (this.#body.write(bytes)) return
    const gone = new AbortController()
    const leave = () => gone.abort(new ClientGone())
    this.#response.once('close', leave)
    try {
      await once(this.#body, 'drain', { signal: gone.signal })
    } catch {
      throw new ClientGone()
    } finally {
      this.#response.removeListener('close', leave)
    }
  }

  /** Ends a good answer. */
  end(): void {
    this.#body ??= this.#open()
    this.#body.end()
  }

  /**
   * Ends a failed answer. After the first byte the status cannot change: the error goes into the
   * body, marked as the real server marks it, and the connection breaks, so that no client takes
   * the rest for a full result.
   */
  fail(error: QueryError): void {
    const text = `${error.message} (version ${ENGINE_VERSION})`
    if (this.#response.headersSent) {
      this.#breakOff(text)
      return
    }
    const response = this.#response
    this.#setHeaders()
    response.statusCode = statusOf(error)
    response.setHeader('X-ClickHouse-Exception-Code', String(error.number))
    response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
    if (error.number === AUTHENTICATION_FAILED)
      response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse"')
    response.removeHeader('Content-Encoding')
    response.end(`${text}\n`)
  }

  #breakOff(text: string): void {
    const tag = this.#exceptionTag
    const length = Buffer.byteLength(text) + 1
    const mark = `\r\n__exception__\r\n${tag}\r\n${text}\n${length} ${tag}\r\n__exception__\r\n`
    const breakConnection = () => this.#response.socket?.destroySoon()
    this.#body?.write(mark, () => {
      // An encoder has the bytes now, but has not passed them on.
      if (this.#encoder === undefined) breakConnection()
      else this.#encoder.flush(() => setImmediate(breakConnection))
    })
  }

  #open(): Writable {
    this.#setHeaders()
    const coding = this.#request.contentCoding
    if (coding === undefined) {
      this.#response.flushHeaders()
      return this.#response
    }
    this.#response.setHeader('Content-Encoding', coding)
    const encoder = coding === 'gzip' ? createGzip({ level: 1 }) : createZstdCompress({ params: ZSTD_FAST })
    encoder.on('error', () => this.#response.destroy())
    encoder.pipe(this.#response)
    this.#encoder = encoder
    return encoder
  }

  #setHeaders(): void {
    const response = this.#response
    response.setHeader('X-ClickHouse-Query-Id', this.#request.queryId)
    response.setHeader('X-ClickHouse-Server-Display-Name', 'millrace-embedded')
    response.setHeader('X-ClickHouse-Timezone', 'UTC')
    response.setHeader('X-ClickHouse-Exception-Tag', this.#exceptionTag)
    if (this.#format === '') return
    response.setHeader('X-ClickHouse-Format', this.#format)
    response.setHeader('Content-Type', contentTypeOf(this.#format))
  }
}

/** The client closed the connection; nobody waits for the rest. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

const AUTHENTICATION_FAILED = 516
/** The version that chDB 3.4.0 gives itself. */
const ENGINE_VERSION = '26.7.2.1'
const ZSTD_FAST = { [constants.ZSTD_c_compressionLevel]: 1 }

function contentTypeOf(format: string): string {
  if (format.startsWith('JSON')) {
    return /EachRow|Compact.*EachRow/.test(format)
      ? 'application/x-ndjson; charset=UTF-8'
      : 'application/json; charset=UTF-8'
  }
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8'
  if (/^(TabSeparated|TSV)/.test(format)) return 'text/tab-separated-values; charset=UTF-8'
  return /^(Native|RowBinary|Parquet|Arrow)/.test(format)
    ? 'application/octet-stream'
    : 'text/plain; charset=UTF-8'
}
