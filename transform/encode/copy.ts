/**
 * The frame of a Postgres `COPY .. FROM STDIN (FORMAT binary)` stream; pieces of tuples go between
 * header and trailer.
 */
import { assertNotReleased, type EncodedTable } from '../batch.ts'

/** Signature, flags 0, no header extension. */
export const copyHeader: Uint8Array = Uint8Array.from([
  ...Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'),
  ...new Uint8Array(8),
])

/** A tuple with -1 fields ends the stream. */
export const copyTrailer: Uint8Array = Uint8Array.from([0xff, 0xff])

/**
 * One COPY stream of all rows of the pieces, as buffers to be sent one after the other. Nothing is
 * copied.
 */
export function copyStream(pieces: readonly EncodedTable[]): Uint8Array[] {
  for (const { postgres } of pieces) assertNotReleased(postgres)
  return [
    copyHeader,
    ...pieces.map((piece) => piece.postgres).filter((bytes) => bytes.byteLength > 0),
    copyTrailer,
  ]
}
