/**
 * The raw archive: a node's own answer for a block, cut into pieces and compressed, and back. Part
 * 0 is the block without its transactions, part n the transactions (n-1)*16 to n*16-1 with their
 * receipts, so that one transaction is found without unpacking a block of thousands.
 *
 * Faithful as JSON: key order, unknown fields and the digits of numbers are kept.
 */

import { constants, zstdDecompressSync } from 'node:zlib'
import type { Slice } from '#ingest/read/json/JsonCursor.ts'
import type { BlockAnswer } from '#ingest/read/parsedAnswer.ts'
import { isRecord } from '#primitives.ts'
import { parseExact } from './exactJson.ts'
import { ZstdCompressor } from './ZstdCompressor.ts'

/**
 * Transactions in a part. More compress no better (430 to 480 bytes each) and cost more to read
 * one.
 */
export const TXS_PER_PART = 16

/**
 * Level 1: 12 us and 474 bytes per transaction (9.5 times smaller). Level 3 takes 15 us for 477,
 * level 9 55 us for 459. The checksum lets a reader tell a damaged piece from a different answer.
 */
const compressor = new ZstdCompressor({
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
})

/**
 * A part as JSON is bounded by the answer it came from, far below this; a damaged length must not
 * take the memory.
 */
const PART_BYTES_MAX = 256 << 20

/**
 * The parts of an answer, in order. To be taken before the answer is parsed: parsing fills in what
 * old nodes leave out. What is no block gives a part of no use; parsing refuses it next.
 */
export function archiveBlock({ block, receipts }: BlockAnswer): Uint8Array[] {
  const fields = isRecord(block) ? block : {}
  const transactions = listOf(fields['transactions'])
  const allReceipts = listOf(receipts)
  // Assigned in the place the node had it, which the reader fills again.
  const texts = [JSON.stringify({ ...fields, transactions: [] })]
  for (let from = 0; from < transactions.length; from += TXS_PER_PART) {
    const to = from + TXS_PER_PART
    texts.push(
      JSON.stringify({ transactions: transactions.slice(from, to), receipts: allReceipts.slice(from, to) }),
    )
  }
  return texts.map((text) => compressor.compress(Buffer.from(text)))
}

/** An answer whose parts were found in its bytes, as they came from the node. */
export interface SlicedAnswer {
  readonly block: Buffer
  /** From `headOf`. */
  readonly head: Buffer
  readonly txSlices: readonly Slice[]
  readonly receipts: Buffer
  readonly receiptSlices: readonly Slice[]
}

/**
 * The parts of an answer as `archiveBlock` makes them, cut out of the bytes: what JSON.stringify
 * would have cost.
 */
export function archiveSlices({
  block,
  head,
  txSlices,
  receipts,
  receiptSlices,
}: SlicedAnswer): Uint8Array[] {
  const texts = [head]
  for (let from = 0; from < txSlices.length; from += TXS_PER_PART) {
    texts.push(
      Buffer.concat([
        beforeTransactions,
        cut(block, txSlices, from),
        beforeReceipts,
        cut(receipts, receiptSlices, from),
        afterReceipts,
      ]),
    )
  }
  return texts.map((text) => compressor.compress(text))
}

/** A block without the transactions, which are a list at `list`. */
export function headOf(block: Buffer, list: Slice): Buffer {
  return Buffer.concat([block.subarray(0, list.from), emptyList, block.subarray(list.to)])
}

const emptyList = Buffer.from('[]')
const beforeTransactions = Buffer.from('{"transactions":[')
const beforeReceipts = Buffer.from('],"receipts":[')
const afterReceipts = Buffer.from(']}')

/** The items of one part, which stand next to each other, with their commas. */
function cut(source: Buffer, items: readonly Slice[], index: number): Buffer {
  const last = Math.min(index + TXS_PER_PART, items.length) - 1
  return source.subarray(items[index]?.from, items[last]?.to)
}

/** The answer that `archiveBlock` took apart. @throws when a part is damaged or missing its end. */
export function readArchivedBlock(number: number, parts: readonly Uint8Array[]): BlockAnswer {
  const [head, ...pieces] = parts
  const read = pieces.map(readArchivedPart)
  return {
    number,
    block: { ...(head && readPart(head)), transactions: read.flatMap((piece) => piece.transactions) },
    receipts: read.flatMap((piece) => piece.receipts),
  }
}

export interface ArchivedPart {
  readonly transactions: readonly unknown[]
  readonly receipts: readonly unknown[]
}

/**
 * The transactions and receipts of one part; transaction `index` of a block is at `index %
 * txsPerPart` of its part.
 */
export function readArchivedPart(part: Uint8Array): ArchivedPart {
  const piece = readPart(part)
  return { transactions: listOf(piece['transactions']), receipts: listOf(piece['receipts']) }
}

type Fields = Readonly<Record<string, unknown>>

function readPart(part: Uint8Array): Fields {
  const value = parseExact(unpackPart(part).toString())
  if (!isRecord(value)) throw new TypeError('an archived part is not a JSON object')
  return value
}

/**
 * The size that most parts fit in: the default, 16 KB, costs three times the time, much more costs it for
 * memory not used.
 */
const CHUNK_SIZE = 64 << 10

/** A part's JSON text. @throws when the part is damaged or larger than any answer */
export function unpackPart(part: Uint8Array): Buffer {
  return zstdDecompressSync(part, { maxOutputLength: PART_BYTES_MAX, chunkSize: CHUNK_SIZE })
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
