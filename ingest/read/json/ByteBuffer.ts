/**
 * The start of bytes in a buffer. How many they are follows from what they are, or stands in front of them
 * (`sizeAt`).
 */
export type BytesAt = number & { readonly [placeBrand]: true }
declare const placeBrand: unique symbol

/** As Postgres has them in front of a field. */
const SIZE_BYTES = 4

/**
 * Bytes that grow at the end. Kept by a worker from batch to batch, so that its pages stay mapped.
 */
export class ByteBuffer {
  bytes: Buffer<ArrayBuffer>
  /**
   * The same memory; big-endian writes of Postgres and little-endian ones of ClickHouse go through
   * it.
   */
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

  /**
   * Appends the size of what the caller writes next, of which there is room then; returns where
   * that starts.
   */
  putSize(size: number): BytesAt {
    this.reserve(SIZE_BYTES + size)
    this.view.setUint32(this.length, size)
    this.length += SIZE_BYTES
    return this.end
  }

  /** The place of the next bytes. */
  get end(): BytesAt {
    return this.length as BytesAt
  }

  /** Size of what `putSize` announced. */
  sizeAt(place: BytesAt): number {
    return this.view.getUint32(place - SIZE_BYTES)
  }

  /** Bytes as `0x` and lowercase hex digits. */
  hexAt(place: number, width: number): `0x${string}` {
    return `0x${this.bytes.toString('hex', place, place + width)}`
  }

  /**
   * Forgets the content. Memory beyond `capacityMax` goes back, so that one huge batch is not paid
   * for ever.
   */
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
