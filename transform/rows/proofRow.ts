import type { BlockProof, Verdict } from '#ingest/verify/verifyBlock.ts'
import type { Row } from '../tables.ts'

/** The codes in the columns of `block_proofs`. A refuted block is never stored. */
const verdictCodes: Readonly<Record<Verdict, number>> = {
  unchecked: 0,
  proved: 1,
  unprovable: 2,
  refuted: 3,
}

export const proofRow = (blockNumber: number, proof: BlockProof): Row<'block_proofs'> => ({
  block_num: blockNumber,
  header: verdictCodes[proof.header],
  transactions_root: verdictCodes[proof.transactionsRoot],
  receipts_root: verdictCodes[proof.receiptsRoot],
  bloom: verdictCodes[proof.bloom],
  unprovable_txs: proof.unprovableTxs,
})
