/**
 * A client of a live query as anybody would write one from the documentation: it applies what the
 * stream says, asks by SQL for what the stream says it left out, and comes back by itself with
 * Last-Event-ID. Nothing of the product is used.
 */
import { type IncomingMessage, request } from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'

export interface Asked {
  readonly engine: 'postgres' | 'clickhouse'
  /** Its first two columns are the block's number and hash. */
  readonly sql: string
  /** The same question as it is asked anew; cells count up to 80 characters. */
  readonly anew: string
}

/** Characters kept of a cell; what pads a frame is not. */
const keptCharacters = 80
const returnMs = 100

export class FoldingClient {
  /** Rows by block, each as text. */
  readonly held = new Map<number, { readonly hash: string; readonly rows: readonly string[] }>()
  /** The stream told of every block above this one. */
  begins = -1
  connections = 0
  retracted = 0
  lagged = 0
  readonly #asked: Asked
  readonly #originOf: () => string
  readonly #waiting = new Set<() => void>()
  #lastId: string | null = null
  #stream: IncomingMessage | null = null
  #stay = false
  #staying: Promise<void> = Promise.resolve()
  #mayRead: Promise<void> = Promise.resolve()
  #resume = () => {}
  #failure: unknown = null

  /**
   * `originOf` is asked at every connection: a program that was started again answers elsewhere.
   */
  constructor(originOf: () => string, asked: Asked) {
    this.#originOf = originOf
    this.#asked = asked
  }

  /** Resolves when the stream has said where it begins. */
  async join(): Promise<void> {
    this.#stay = true
    this.#staying = this.#keepConnected()
    await this.until(() => this.begins >= 0)
  }

  async leave(): Promise<void> {
    this.#stay = false
    this.#stream?.destroy()
    this.proceed()
    await this.#staying
  }

  /** Takes nothing from the socket until told to proceed. */
  stall(): void {
    this.#mayRead = new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  proceed(): void {
    this.#resume()
  }

  /** Resolves once the condition holds; the test's own timeout ends one that never does. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#failure === null && !condition()) return
        this.#waiting.delete(look)
        if (this.#failure === null) resolve()
        else reject(this.#failure)
      }
      this.#waiting.add(look)
      look()
    })
  }

  holds(block: number, hash: string): Promise<void> {
    return this.until(() => this.held.get(block)?.hash === hash)
  }

  async #keepConnected(): Promise<void> {
    while (this.#stay && this.#failure === null) {
      try {
        await this.#read(await this.#connect())
      } catch (error) {
        if (!isConnectionError(error)) this.#failure = error
      }
      this.#look()
      await new Promise((resolve) => setTimeout(resolve, returnMs))
    }
  }

  #connect(): Promise<IncomingMessage> {
    const { engine, sql } = this.#asked
    const body = JSON.stringify({ engine, sql, live: true, limit: 10_000 })
    const headers = {
      'content-type': 'application/json',
      ...(this.#lastId !== null && { 'last-event-id': this.#lastId }),
    }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const url = new URL('/v1/indexer/query', this.#originOf())
      request(url, { method: 'POST', headers, agent: false }, resolve).on('error', reject).end(body)
    })
  }

  async #read(stream: IncomingMessage): Promise<void> {
    // While a program starts it may not be able to answer yet.
    if (stream.statusCode !== 200) {
      stream.destroy()
      if ((stream.statusCode ?? 0) < 500) throw new Error(`the stream was refused with ${stream.statusCode}`)
      return
    }
    this.#stream = stream
    this.connections += 1
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    stream.setEncoding('utf8')
    for await (const chunk of stream) {
      await this.#mayRead
      if (!this.#stay) return
      parser.feed(chunk)
      for (const event of events.splice(0)) await this.#apply(event)
      this.#look()
    }
  }

  async #apply({ event, id, data }: EventSourceMessage): Promise<void> {
    const told = JSON.parse(data)
    if (event === 'progress' && this.begins < 0) this.begins = told.block
    if (event === 'result') this.#take(told.blocks, told.rows)
    if (event === 'retract')
      for (const { num, hash } of told.blocks)
        if (this.held.get(num)?.hash === hash) this.retracted += Number(this.held.delete(num))
    if (event === 'lagged') await this.#fill(told)
    if (event === 'error' && told.retrying === false) throw new Error(`a block without a result: ${data}`)
    if (id !== undefined) this.#lastId = id
  }

  #take(blocks: readonly { num: number; hash: string }[], rows: readonly unknown[][]): void {
    const [block] = blocks
    if (!block) throw new Error('a result of no block')
    this.held.set(block.num, { hash: block.hash, rows: rows.map(textOf) })
  }

  /** Forgets what the stream cannot vouch for, and asks for it. */
  async #fill({ from, to }: { readonly from: number; readonly to: number }): Promise<void> {
    this.lagged += 1
    for (const num of this.held.keys()) if (num >= from) this.held.delete(num)
    const begins = this.begins
    for (const [num, { hash, rows }] of await this.fresh())
      if (num > begins && num >= from && num <= to) this.held.set(num, { hash, rows })
  }

  /**
   * The query, asked anew: what a client that missed nothing holds. Blocks without rows are not in
   * it.
   */
  async fresh(): Promise<Map<number, { readonly hash: string; readonly rows: readonly string[] }>> {
    const { engine, anew } = this.#asked
    const answer = await fetch(new URL('/v1/indexer/query', this.#originOf()), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ engine, sql: anew, limit: 10_000, timeout_ms: 30_000 }),
    })
    const { ok, rows, truncated, error } = Object(await answer.json())
    if (!ok || truncated) throw new Error(`no whole answer: ${answer.status} ${error?.message}`)
    const byBlock = Map.groupBy<number, unknown[]>(rows, ([num]) => Number(num))
    return new Map(
      [...byBlock].map(([num, ofBlock]) => [
        num,
        { hash: String(ofBlock[0]?.[1]), rows: ofBlock.map(textOf) },
      ]),
    )
  }

  #look(): void {
    for (const look of this.#waiting) look()
  }
}

const textOf = (row: readonly unknown[]): string =>
  row.map((cell) => String(cell).slice(0, keptCharacters)).join(' ')

function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(code))
}
