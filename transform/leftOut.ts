/**
 * Whether an answer differs from a proved one in nothing but a value that honest nodes leave out:
 * the slot of a block, which the schema of JSON-RPC does not name.
 */
import { type EncodedBatch, sameWithout } from './batch.ts'
import { ledgerTableNames, tables } from './tables.ts'

const leftOut = tables.blocks.columns.findIndex(({ name }) => name === 'slot_number')

/**
 * As far as both go: the one may end at an earlier block.
 * @param one what could not be proved
 */
export function leavesOutAlone(one: EncodedBatch, proved: EncodedBatch): boolean {
  return (
    one.range.from === proved.range.from &&
    ledgerTableNames.every((name) => {
      if (sameWithout.has(name)) return true
      const [rows, others] = [one.tables[name].postgres, proved.tables[name].postgres]
      return name === 'blocks' ? leavesOutIn(rows, others) : isPrefix(rows, others)
    })
  )
}

function isPrefix(one: Uint8Array, other: Uint8Array): boolean {
  const length = Math.min(one.length, other.length)
  return Buffer.compare(one.subarray(0, length), other.subarray(0, length)) === 0
}

/** Tuples of `blocks` in the form of COPY BINARY (encode/copy.ts). */
function leavesOutIn(one: Uint8Array, other: Uint8Array): boolean {
  const others = rowsOf(other)
  const rows = rowsOf(one).slice(0, others.length)
  const pairs = rows.flatMap((fields, row) =>
    fields.map((field, column) => ({ field, column, told: others[row]?.[column] ?? field })),
  )
  const differing = pairs.filter(({ field, told }) => Buffer.compare(field, told) !== 0)
  return (
    differing.length > 0 && differing.every(({ field, column }) => column === leftOut && field.length === 0)
  )
}

/** The fields of each row; NULL and what is empty have no bytes. */
function rowsOf(tuples: Uint8Array): readonly (readonly Uint8Array[])[] {
  const view = new DataView(tuples.buffer, tuples.byteOffset, tuples.byteLength)
  const rows: Uint8Array[][] = []
  for (let at = 0; at < tuples.length; ) {
    const fields: Uint8Array[] = []
    const count = view.getInt16(at)
    at += 2
    while (fields.length < count) {
      const length = Math.max(0, view.getInt32(at))
      at += 4
      fields.push(tuples.subarray(at, at + length))
      at += length
    }
    rows.push(fields)
  }
  return rows
}
