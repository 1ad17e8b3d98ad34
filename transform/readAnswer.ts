/** One block's answer, read and checked, by either of two ways that give the same: scanned bytes, or parsed JSON. */
import { parseBlock, parseReceipts, type RpcBlock } from '#ingest/block.ts'
import type { ByteBuffer } from '#ingest/scan/byteBuffer.ts'
import { receiptBytes } from '#ingest/scan/receiptBytes.ts'
import type { ScannedReceipts } from '#ingest/scan/scannedReceipt.ts'
import { scanReceipts } from '#ingest/scan/scanReceipts.ts'
import { sliceTransactions } from '#ingest/scan/sliceTransactions.ts'
import { archiveBlock, archiveSlices } from './archive.ts'
import { parseExact } from './exactJson.ts'
import type { BlockAnswer } from './parseRange.ts'
import type { AnswerBytes } from './sliceRange.ts'

export interface ReadAnswer {
  readonly block: RpcBlock
  readonly receipts: ScannedReceipts
  /** For the raw archive. */
  readonly parts: readonly Uint8Array[]
}

/** Bytes of the receipts' values go into `bytes`. @throws NodeAnswerError */
export function readParsed(answer: BlockAnswer, bytes: ByteBuffer): ReadAnswer {
  const parts = archiveBlock(answer)
  const block = parseBlock(answer.block, { number: answer.number })
  const list = receiptBytes(parseReceipts(answer.receipts, block), bytes)
  return { block, receipts: { bytes, list }, parts }
}

/** As `readParsed`, of the bytes of an answer. @throws NodeAnswerError, SyntaxError; also for what only parsing can read. */
export function readSliced(answer: AnswerBytes, bytes: ByteBuffer): ReadAnswer {
  const value: unknown = JSON.parse(answer.block.toString())
  const block = parseBlock(value, { number: answer.number })
  const transactions = sliceTransactions(answer.block)
  const scan = scanReceipts(answer.receipts, block, bytes)
  if (transactions === null || scan === null) {
    const [again, receipts] = [answer.block, answer.receipts].map((part) => parseExact(part.toString()))
    return readParsed({ number: answer.number, block: again, receipts }, bytes)
  }
  const parts = archiveSlices({
    block: answer.block,
    transactions,
    receipts: answer.receipts,
    receiptSlices: scan.slices,
  })
  return { block, receipts: { bytes, list: scan.receipts }, parts }
}
