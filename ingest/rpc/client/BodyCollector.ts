import type { Dispatcher } from 'undici'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Exactly the body; its buffer may be larger and is not shared with anything. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** First allocation when the server does not say how long its answer is. */
const START_BYTES = 64 * 1024

/**
 * An announced length is believed this far: a server that announces and never sends costs no more.
 */
const TRUSTED_BYTES_MAX = 16 * 1024 * 1024

/**
 * Collects one answer into one buffer: allocated at the announced length, else doubled as it fills,
 * so that a body of megabytes is copied about once and can be handed to a worker without another
 * copy.
 */
export class BodyCollector implements Dispatcher.DispatchHandler {
  readonly answer: Promise<HttpAnswer>
  readonly #bytesMax: number
  readonly #signal: AbortSignal | undefined
  #resolve: (answer: HttpAnswer) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #bytes = new Uint8Array(0)
  #length = 0
  #status = 0
  #headers: HttpAnswer['headers'] = {}
  #failure: Error | undefined

  constructor(bytesMax: number, signal?: AbortSignal) {
    this.#bytesMax = bytesMax
    this.#signal = signal
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Where it ends before anybody waits for it.
    this.answer.catch(() => {})
    if (signal?.aborted) this.#leave()
    else signal?.addEventListener('abort', this.#leave, { once: true })
  }

  /** Also before the request has started: it may be waiting for a connection. */
  abort(reason: Error): void {
    this.#failure ??= reason
    this.#controller?.abort(reason)
    this.#settle()
    this.#reject(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer['headers'],
  ): void {
    this.#status = status
    this.#headers = headers
    const announced = Number(headers['content-length'] ?? START_BYTES)
    if (announced > this.#bytesMax) controller.abort(new BodyTooLargeError(this.#bytesMax))
    else this.#bytes = new Uint8Array(Math.min(announced, TRUSTED_BYTES_MAX) || START_BYTES)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#bytesMax) {
      controller.abort(new BodyTooLargeError(this.#bytesMax))
      return
    }
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(this.#bytesMax, Math.max(length, this.#bytes.length * 2)))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  onResponseEnd(): void {
    this.#settle()
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#resolve({ status: this.#status, headers: this.#headers, bytes })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle()
    this.#reject(error)
  }

  readonly #leave = () => {
    const reason: unknown = this.#signal?.reason
    this.abort(reason instanceof Error ? reason : new Error(String(reason)))
  }

  #settle(): void {
    this.#signal?.removeEventListener('abort', this.#leave)
  }
}

/** The answer is longer than we accept; the rest of it was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(bytesMax: number) {
    super(`the answer is longer than ${bytesMax} bytes`)
  }
}
