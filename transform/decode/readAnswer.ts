/**
 * One block's answer, read and checked, by either of two ways that give the same: scanned bytes, or
 * parsed JSON.
 */
import { parseBlock, type RpcBlock } from '#ingest/read/block.ts'
import type { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { isNestedTooDeep } from '#ingest/read/json/nesting.ts'
import { type Loose, nothingLoose } from '#ingest/read/looseParts.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { ownReceipts } from '#ingest/read/ownReceipts.ts'
import type { BlockAnswer } from '#ingest/read/parsedAnswer.ts'
import { parseAnswer } from '#ingest/read/parsedAnswer.ts'
import { receiptBytes } from '#ingest/read/receiptBytes.ts'
import { scanBlock } from '#ingest/read/scan/scanBlock.ts'
import type { ScannedReceipts } from '#ingest/read/scan/scannedReceipt.ts'
import { scanReceipts } from '#ingest/read/scan/scanReceipts.ts'
import { archiveBlock, archiveSlices, headOf, readArchivedBlock } from './archive.ts'
import { parseExact } from './exactJson.ts'
import type { AnswerBytes } from './sliceRange.ts'

export interface ReadAnswer {
  /** Its transactions are those that ran. */
  readonly block: RpcBlock
  readonly receipts: ScannedReceipts
  /** For the raw archive. */
  readonly parts: readonly Uint8Array[]
  /** Receipts that were told and are none of the block's. */
  readonly foreign: number
}

/**
 * Bytes of the receipts' values go into `bytes`. The archive has the block's own receipts alone.
 * @throws NodeAnswerError
 */
export function readParsed(answer: BlockAnswer, bytes: ByteBuffer, loose = nothingLoose): ReadAnswer {
  const { receipts, foreign } = ownReceipts(answer)
  const own = { ...answer, receipts }
  return { ...readWithParts(own, archiveBlock(own), bytes, loose), foreign }
}

/** A block's parts as they are stored. */
export interface ArchivedAnswer {
  readonly number: number
  readonly parts: readonly Uint8Array[]
}

/**
 * As `readParsed`, of what was archived; its parts stay what they are. @throws also when a part is
 * damaged
 */
export function readArchived(
  { number, parts }: ArchivedAnswer,
  bytes: ByteBuffer,
  loose = nothingLoose,
): ReadAnswer {
  return readWithParts(readArchivedBlock(number, parts), parts, bytes, loose)
}

/** `parts` are made before: parsing fills in what old nodes leave out. */
function readWithParts(
  answer: BlockAnswer,
  parts: readonly Uint8Array[],
  bytes: ByteBuffer,
  loose: Loose,
): ReadAnswer {
  const { block, receipts, foreign } = parseAnswer(answer, loose)
  return { block, receipts: { bytes, list: receiptBytes(receipts, bytes) }, parts, foreign }
}

/**
 * As `readParsed`, of the bytes of an answer. @throws NodeAnswerError, SyntaxError; also for what
 * only parsing can read.
 */
export function readSliced(answer: AnswerBytes, bytes: ByteBuffer, loose = nothingLoose): ReadAnswer {
  return readScanned(answer, bytes) ?? readAgain(answer, bytes, loose)
}

function readScanned({ number, block: source, receipts }: AnswerBytes, bytes: ByteBuffer): ReadAnswer | null {
  const scanned = scanBlock(source)
  if (scanned === null) return null
  const head = headOf(source, scanned.list)
  const block = scanned.isWhole ? scanned.block : withHeader(scanned.block, JSON.parse(head.toString()))
  if (block === null || Number(block.number) !== number) return null
  const scan = scanReceipts(receipts, block, bytes)
  if (scan === null) return null
  const parts = archiveSlices({
    block: source,
    head,
    txSlices: scanned.slices,
    receipts,
    receiptSlices: scan.slices,
  })
  return { block, receipts: { bytes, list: scan.receipts }, parts, foreign: 0 }
}

/**
 * The header as JSON.parse reads it; null when it is not the one that the transactions name.
 * @throws NodeAnswerError
 */
function withHeader({ hash, number, transactions }: RpcBlock, head: unknown): RpcBlock | null {
  const header = parseBlock(head)
  return header.hash === hash && header.number === number ? { ...header, transactions } : null
}

function readAgain(answer: AnswerBytes, bytes: ByteBuffer, loose: Loose): ReadAnswer {
  const [block, receipts] = [answer.block, answer.receipts].map((part) => {
    const text = part.toString()
    if (isNestedTooDeep(text)) throw new NodeAnswerError('json_invalid', '', answer.number)
    return parseExact(text)
  })
  return readParsed({ number: answer.number, block, receipts }, bytes, loose)
}
