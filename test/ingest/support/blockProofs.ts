/** Proofs of blocks as nodes answer them. */
import { parseBlock, parseReceipts } from '#ingest/read/block.ts'
import type { HeaderRule } from '#ingest/verify/parts/header.ts'
import { provedParts } from '#ingest/verify/RefutedError.ts'
import { type BlockProof, verifyBlock } from '#ingest/verify/verifyBlock.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { scanned } from '../../support/scanned.ts'

/** The proof of a block whose parent is unknown. */
export const allProved: BlockProof = {
  parent: 'unchecked',
  header: 'proved',
  transactionsRoot: 'proved',
  receiptsRoot: 'proved',
  bloom: 'proved',
  unprovableTxs: 0,
}

export function prove(recorded: RecordedBlock, headerRule: HeaderRule): BlockProof {
  const block = parseBlock(recorded.block)
  const receipts = parseReceipts(recorded.receipts, block)
  return verifyBlock(block, scanned(receipts), { headerRule, checks: 'roots' })
}

export function refutedParts(proof: BlockProof): readonly string[] {
  return provedParts.filter((part) => proof[part] === 'refuted')
}
