/**
 * A part of the archive of which few items are wanted: they are found in its text, and the others
 * are not parsed.
 */
import type { Slice } from '#ingest/read/jsonCursor.ts'
import { endOfObject } from '#ingest/read/jsonSlices.ts'
import { readArchivedPart, unpackPart } from './archive.ts'
import { parseExact } from './exactJson.ts'

export interface OpenPart {
  /** As the node gave it, by place in the part; undefined beyond the last. */
  transaction(index: number): unknown
  receipt(index: number): unknown
  /** Size of what is kept in memory for it. */
  readonly bytes: number
}

/** @throws when the part is damaged */
export function openArchivedPart(part: Uint8Array): OpenPart {
  const bytes = unpackPart(part)
  const slices = slicePart(bytes.toString('latin1'))
  if (!slices) {
    const { transactions, receipts } = readArchivedPart(part)
    return {
      transaction: (index) => transactions[index],
      receipt: (index) => receipts[index],
      bytes: PARSED_FACTOR * bytes.length,
    }
  }
  const parse = (slice: Slice | undefined): unknown =>
    slice && parseExact(bytes.toString('utf8', slice.from, slice.to))
  return {
    transaction: (index) => parse(slices.transactions[index]),
    receipt: (index) => parse(slices.receipts[index]),
    bytes: bytes.length,
  }
}

/** Objects of JSON take some times the room of their text. */
const PARSED_FACTOR = 4

interface PartSlices {
  readonly transactions: readonly Slice[]
  readonly receipts: readonly Slice[]
}

const beforeTransactions = '{"transactions":'
const beforeReceipts = ',"receipts":'

/**
 * One character is one byte here. Null when the text is not as archiveBlock and archiveSlices write
 * it.
 */
function slicePart(text: string): PartSlices | null {
  if (!text.startsWith(beforeTransactions)) return null
  const transactions = sliceList(text, beforeTransactions.length)
  if (!transactions || !text.startsWith(beforeReceipts, transactions.end)) return null
  const receipts = sliceList(text, transactions.end + beforeReceipts.length)
  return receipts && { transactions: transactions.items, receipts: receipts.items }
}

function sliceList(text: string, start: number): { items: Slice[]; end: number } | null {
  const items: Slice[] = []
  if (text[start] !== '[') return null
  if (text[start + 1] === ']') return { items, end: start + 2 }
  for (let from = start + 1; ; ) {
    if (text[from] !== '{') return null
    const to = endOfObject(text, from)
    items.push({ from, to })
    if (text[to] === ']') return { items, end: to + 1 }
    if (text[to] !== ',') return null
    from = to + 1
  }
}
