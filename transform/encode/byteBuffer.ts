/** Bytes that grow at the end. Kept by a worker from batch to batch, so that its pages stay mapped. */
export class ByteBuffer {
  bytes: Buffer<ArrayBuffer>
  /** The same memory; big-endian writes of Postgres and little-endian ones of ClickHouse go through it. */
  view: DataView<ArrayBuffer>
  length = 0

  constructor(capacity: number) {
    this.bytes = Buffer.from(new ArrayBuffer(capacity))
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes room for `count` further bytes; `bytes` and `view` may be new afterwards. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed > this.bytes.byteLength) this.#resize(Math.max(needed, this.bytes.byteLength * 2))
  }

  /** Forgets the content. Memory beyond `capacityMax` goes back, so that one huge batch is not paid for ever. */
  clear(capacityMax: number): void {
    this.length = 0
    if (this.bytes.byteLength > capacityMax) this.#resize(capacityMax)
  }

  #resize(capacity: number): void {
    const bytes = Buffer.from(new ArrayBuffer(capacity))
    this.bytes.copy(bytes, 0, 0, this.length)
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
  }
}
