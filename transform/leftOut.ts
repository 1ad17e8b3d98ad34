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

/** Whether the headers of one block are equal but for what one of the two answers leaves out. */
export function differsByLeftOut(one: EncodedBatch, other: EncodedBatch, block: number): boolean {
  const [fields = [], others = []] = [one, other].map(
    ({ range, tables: { blocks } }) => rowsOf(blocks.postgres)[block - range.from],
  )
  return isLeftOut(fields, others) || isLeftOut(others, fields)
}

function isPrefix(one: Uint8Array, other: Uint8Array): boolean {
  const length = Math.min(one.length, other.length)
  return Buffer.compare(one.subarray(0, length), other.subarray(0, length)) === 0
}

/** Tuples of `blocks` in the form of COPY BINARY (encode/copy.ts). */
function leavesOutIn(one: Uint8Array, other: Uint8Array): boolean {
  const others = rowsOf(other)
  const pairs = rowsOf(one)
    .slice(0, others.length)
    .map((fields, row) => [fields, others[row] ?? fields] as const)
  return (
    pairs.some(([fields, told]) => isLeftOut(fields, told)) &&
    pairs.every(([fields, told]) => isLeftOut(fields, told) || differing(fields, told).length === 0)
  )
}

/** A value that honest nodes leave out is not there, and nothing else differs. */
function isLeftOut(fields: readonly Uint8Array[], told: readonly Uint8Array[]): boolean {
  const columns = differing(fields, told)
  return columns.length === 1 && columns[0] === leftOut && fields[leftOut]?.length === 0
}

const differing = (fields: readonly Uint8Array[], told: readonly Uint8Array[]): readonly number[] =>
  fields.flatMap((field, column) =>
    Buffer.compare(field, told[column] ?? new Uint8Array()) === 0 ? [] : column,
  )

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
