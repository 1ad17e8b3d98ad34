import { constants, createZstdCompress, type ZstdOptions, zstdCompressSync } from 'node:zlib'

/**
 * Compresses many small pieces with one context. `zstdCompressSync` makes and drops a context at
 * every call: 28 us for a piece of 1.5 kB against 6 us here, 39 against 21 for 6 kB, 190 against
 * 150 for 48 kB. Node has no public way to keep one, so this asks the handle inside its stream,
 * which ends a frame and begins the next with the same settings; where a Node version has no such
 * handle, the public call does it. The frames are the same, to the byte.
 */
export class ZstdCompressor {
  readonly #options: ZstdOptions
  readonly #inner: StreamInside | null
  #output = Buffer.alloc(OUTPUT_BYTES_INITIALLY)

  constructor(options: ZstdOptions) {
    this.#options = options
    this.#inner = insideOf(createZstdCompress(options))
  }

  /** One frame; the caller may keep it. */
  compress(piece: Buffer): Uint8Array {
    const inner = this.#inner
    const bytesMax = piece.length + (piece.length >> 8) + FRAME_BYTES_MAX
    if (inner === null || piece.length > KEPT_PIECE_MAX) return zstdCompressSync(piece, this.#options)
    if (bytesMax > this.#output.length) this.#output = Buffer.alloc(bytesMax)
    const output = this.#output
    inner._handle.writeSync(constants.ZSTD_e_end, piece, 0, piece.length, output, 0, output.length)
    const [outputLeft, inputLeft] = inner._writeState
    if (inputLeft !== 0 || outputLeft === undefined || outputLeft === 0) {
      throw new Error(`a piece of ${piece.length} bytes was not compressed whole`)
    }
    return Uint8Array.prototype.slice.call(output, 0, output.length - outputLeft)
  }
}

const OUTPUT_BYTES_INITIALLY = 128 << 10
/**
 * Beyond what the data itself may grow by: header, block headers, checksum (zstd's
 * ZSTD_COMPRESSBOUND has less).
 */
const FRAME_BYTES_MAX = 1 << 10
/** A context is not worth keeping memory for what comes once in a thousand blocks. */
const KEPT_PIECE_MAX = 4 << 20

/** The part of the stream's insides that Node's own `zstdCompressSync` uses. */
interface StreamInside {
  readonly _handle: {
    writeSync(
      flush: number,
      input: Uint8Array,
      inputAt: number,
      inputBytes: number,
      output: Uint8Array,
      outputAt: number,
      outputBytes: number,
    ): void
  }
  /** Bytes left of the output and of the input after a write. */
  readonly _writeState: Uint32Array
}

function insideOf(stream: object): StreamInside | null {
  const { _handle: handle, _writeState: state } = stream as Partial<StreamInside>
  return typeof handle?.writeSync === 'function' && state instanceof Uint32Array
    ? { _handle: handle, _writeState: state }
    : null
}
