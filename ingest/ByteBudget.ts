/**
 * A bound on bytes in flight, shared by everything that fetches ahead. Grants are first come, first
 * served: a holder that has to be written first asked first, so holders never wait for someone
 * behind them and the budget cannot deadlock.
 */
export class ByteBudget {
  readonly limitBytes: number
  #usedBytes = 0
  readonly #waiting: Waiter[] = []

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /**
   * Waits until `bytes` fit. A request larger than the whole budget is granted when nothing else is
   * held, so that one huge block cannot stop a chain. Rejects with the signal's reason when
   * aborted.
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<ByteGrant> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const leave = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal?.reason)
        this.#admit()
      }
      const grant = () => {
        signal?.removeEventListener('abort', leave)
        resolve(new ByteGrant(bytes, (delta) => this.#change(delta)))
      }
      const waiter: Waiter = { bytes, grant }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiter)
      this.#admit()
    })
  }

  #change(delta: number): void {
    this.#usedBytes += delta
    this.#admit()
  }

  #admit(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      if (this.#usedBytes > 0 && this.#usedBytes + first.bytes > this.limitBytes) return
      this.#waiting.shift()
      this.#usedBytes += first.bytes
      first.grant()
    }
  }
}

/**
 * A share of the budget. What was asked for is an estimate; `resize` corrects it once the true size
 * is known.
 */
export class ByteGrant {
  #bytes: number
  readonly #change: (delta: number) => void

  constructor(bytes: number, change: (delta: number) => void) {
    this.#bytes = bytes
    this.#change = change
  }

  /** Never waits: bytes that exist already can only be counted. */
  resize(bytes: number): void {
    const delta = bytes - this.#bytes
    this.#bytes = bytes
    this.#change(delta)
  }

  /** Idempotent. */
  release(): void {
    this.resize(0)
  }
}

interface Waiter {
  readonly bytes: number
  readonly grant: () => void
}
