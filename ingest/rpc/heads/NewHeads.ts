import { WebSocket } from 'undici'
import { type BackoffLimits, backoffMs } from '#runtime/backoff.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { EndpointUrl } from '../client/endpointUrl.ts'

export interface NewHeadsOptions {
  readonly url: EndpointUrl
  readonly runtime: Runtime
  readonly log: Logger
  /** Called for each announcement with its height. */
  readonly onHead: (number: number) => void
}

/** A server that accepts connections and then says nothing must not keep us from polling. */
const SUBSCRIBE_TIMEOUT_MS = 5_000
const reconnect: BackoffLimits = { baseMs: 500, maxMs: 60_000 }
/** Attempts without a single subscription after which the address is taken to have no WebSocket. */
const FRUITLESS_MAX = 2
/** An announcement is a header; more than this is no announcement. */
const MESSAGE_CHARACTERS_MAX = 64 * 1024

/**
 * `eth_subscribe newHeads` over WebSocket. An announcement is a wake-up and nothing else: the head
 * is then read like any other, so a lying or late socket costs time and never correctness.
 * Reconnects for ever once it has worked, gives up soon where it never did.
 */
export class NewHeads {
  readonly #options: NewHeadsOptions
  readonly #closed = new AbortController()
  #socket: WebSocket | undefined
  #subscribed = false
  #worked = false

  constructor(options: NewHeadsOptions) {
    this.#options = options
    void this.#run()
  }

  /** Announcements arrive at the moment; otherwise the head has to be polled for. */
  get live(): boolean {
    return this.#subscribed
  }

  close(): void {
    this.#closed.abort()
    this.#socket?.close()
  }

  async #run(): Promise<void> {
    const { runtime, log, url } = this.#options
    let failures = 0
    await repeat({ clock: runtime.clock, signal: this.#closed.signal }, async () => {
      const subscribed = await this.#connectOnce()
      failures = subscribed ? 1 : failures + 1
      if (!this.#worked && failures >= FRUITLESS_MAX) {
        log.debug({ endpoint: url.name }, 'no announcements of new heads here; polling')
        return 'ended'
      }
      return backoffMs(failures, reconnect, runtime.random)
    })
  }

  /** Resolves when the connection has ended; true when it was ever subscribed. */
  #connectOnce(): Promise<boolean> {
    const { runtime, url, log } = this.#options
    const socket = new WebSocket(url.webSocketUrl)
    this.#socket = socket
    const ended = new AbortController()
    return new Promise((resolve) => {
      let subscribed = false
      const end = () => {
        if (ended.signal.aborted) return
        if (subscribed && !this.#closed.signal.aborted)
          log.info({ endpoint: url.name }, 'announcements of new heads ended; polling')
        this.#subscribed = false
        ended.abort()
        resolve(subscribed)
      }
      socket.addEventListener('open', () => socket.send(subscribeText))
      socket.addEventListener('message', ({ data }) => {
        const message = readMessage(data)
        if (message === 'subscribed') {
          subscribed = true
          this.#subscribed = true
          this.#worked = true
          log.info({ endpoint: url.name }, 'new heads are announced over WebSocket')
        } else if (message === 'refused') socket.close()
        else if (message !== null) this.#options.onHead(message)
      })
      socket.addEventListener('error', end)
      socket.addEventListener('close', end)
      const giveUp = () => {
        if (subscribed) return
        socket.close()
        end()
      }
      runtime.clock.sleep(SUBSCRIBE_TIMEOUT_MS, ended.signal).then(giveUp, () => {})
      this.#closed.signal.addEventListener('abort', end, { once: true })
    })
  }
}

const SUBSCRIBE_ID = 1
const subscribeText = `{"jsonrpc":"2.0","id":${SUBSCRIBE_ID},"method":"eth_subscribe","params":["newHeads"]}`

/** The height announced, the outcome of the subscription, or null for anything else. */
function readMessage(data: unknown): number | 'subscribed' | 'refused' | null {
  if (typeof data !== 'string' || data.length > MESSAGE_CHARACTERS_MAX) return null
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    return null
  }
  const { id, result, method, params } = Object(message)
  if (id === SUBSCRIBE_ID) return typeof result === 'string' ? 'subscribed' : 'refused'
  if (method !== 'eth_subscription') return null
  const number = Number(Object(Object(params).result).number)
  return Number.isSafeInteger(number) ? number : null
}
