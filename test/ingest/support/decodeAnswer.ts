import { parseBlock, parseReceipts } from '#ingest/read/block.ts'
import type { BlockRef } from '#primitives.ts'
import { type BlockRange, blockCount } from '../../../ingest/range.ts'
import type { Batch } from '../../../ingest/sink.ts'
import type { RawRange } from '../../../ingest/source.ts'
import { assertNotRefuted, verifyBlock } from '../../../ingest/verify/verifyBlock.ts'
import { scanned } from '../../support/scanned.ts'

/** A range as the node answered it, proved: what the worker pool does, without rows. */
export interface ProvedBatch extends Batch {
  readonly receiptCounts: readonly number[]
}

/** Parses and proves every block of an answer. @throws NodeAnswerError, RefutedError */
export async function decodeAnswer({ range, bytes }: RawRange): Promise<ProvedBatch> {
  const items: { id: number; result: unknown }[] = JSON.parse(new TextDecoder().decode(bytes))
  const byId = new Map(items.map(({ id, result }) => [id, result]))
  const refs: BlockRef[] = []
  const receiptCounts: number[] = []
  for (let k = 0; k < blockCount(range); k++) {
    const block = parseBlock(byId.get(2 * k), { number: range.from + k })
    const receipts = parseReceipts(byId.get(2 * k + 1), block)
    assertNotRefuted(
      verifyBlock(block, scanned(receipts), { headerRule: 'ethereum', checks: 'roots' }),
      range.from + k,
    )
    refs.push({ number: range.from + k, hash: block.hash, parentHash: block.parentHash })
    receiptCounts.push(receipts.length)
  }
  return { range, refs, receiptCounts, byteLength: bytes.length }
}

/** The same without roots, for replays whose blocks were rewritten. */
export async function decodeLinks(raw: RawRange): Promise<ProvedBatch> {
  const items: { id: number; result: Record<string, string> }[] = JSON.parse(
    new TextDecoder().decode(raw.bytes),
  )
  const refs = blocksOf(items, raw.range)
  return { range: raw.range, refs, receiptCounts: [], byteLength: raw.bytes.length }
}

function blocksOf(items: readonly { id: number; result: unknown }[], range: BlockRange): BlockRef[] {
  const byId = new Map(items.map(({ id, result }) => [id, result]))
  return Array.from({ length: blockCount(range) }, (_, k) => {
    const block = parseBlock(byId.get(2 * k), { number: range.from + k })
    parseReceipts(byId.get(2 * k + 1), block)
    return { number: range.from + k, hash: block.hash, parentHash: block.parentHash }
  })
}
