/**
 * A part of the archive of which few items are wanted: they are found in its text, and the others
 * are not parsed.
 */
import type { Slice } from '#ingest/read/json/JsonCursor.ts'
import { endOfObject } from '#ingest/read/json/jsonSlices.ts'
import { readArchivedPart, unpackPart } from './archive.ts'
import { parseExact } from './exactJson.ts'

export interface OpenPart {
  /** As the node gave it, by place in the part; undefined beyond the last. */
  transaction(index: number): unknown
  receipt(index: number): unknown
  /** The same as JSON, not parsed. */
  transactionText(index: number): string | undefined
  receiptText(index: number): string | undefined
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
      transactionText: (index) => JSON.stringify(transactions[index]),
      receiptText: (index) => JSON.stringify(receipts[index]),
      bytes: PARSED_FACTOR * bytes.length,
    }
  }
  const textOf = (slice: Slice | undefined) => slice && bytes.toString('utf8', slice.from, slice.to)
  const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : parseExact(text))
  const transactionText = (index: number) => textOf(slices.transactions[index])
  const receiptText = (index: number) => textOf(slices.receipts[index])
  return {
    transaction: (index) => parsed(transactionText(index)),
    receipt: (index) => parsed(receiptText(index)),
    transactionText,
    receiptText,
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
