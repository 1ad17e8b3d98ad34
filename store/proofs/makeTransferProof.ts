/** Makes the proof of a transfer out of what a node answered for its block. */
import type { RpcBlock } from '#ingest/read/block.ts'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { type BlockAnswer, parseAnswer } from '#ingest/read/parsedAnswer.ts'
import { receiptBytes } from '#ingest/read/receiptBytes.ts'
import { detectHeaderRule, headerBytes } from '#ingest/verify/parts/header.ts'
import { writeReceipt } from '#ingest/verify/parts/receipt.ts'
import { writeEnvelope } from '#ingest/verify/parts/transaction.ts'
import { RlpWriter } from '#ingest/verify/tries/rlp.ts'
import { transferProblem } from './checkTransferProof.ts'
import { type ProvedTransfer, type TransferProof, topicsOf } from './transferProof.ts'
import { triePath } from './triePath.ts'

/** Grows with the block. */
const RECEIPT_BYTES = 64 * 1_024

/**
 * Null where the block has no such transfer, or its hash does not follow from what we know of it: a
 * header or envelope of a fork that we do not know. @throws NodeAnswerError for what is no block
 */
export function makeTransferProof(
  chainId: number,
  answer: BlockAnswer,
  transfer: ProvedTransfer,
): TransferProof | null {
  const { block, receipts } = parseAnswer(answer)
  const rule = detectHeaderRule(block)
  const transactionIndex = block.transactions.findIndex(({ hash }) => hash === transfer.transactionHash)
  const receipt = receipts[transactionIndex]
  if (rule === 'unknown' || !receipt) return null
  const logIndex = receipt.logs.findIndex(
    (log) =>
      log.address === transfer.token &&
      log.topics.join() === topicsOf(transfer) &&
      BigInt(log.data) === transfer.amount,
  )
  const envelopes = envelopesOf(block)
  if (logIndex < 0 || !envelopes) return null
  const bytes = new ByteBuffer(RECEIPT_BYTES)
  const proof: TransferProof = {
    ...{ chainId, blockNumber: Number(block.number), blockHash: block.hash },
    ...{ transactionIndex, logIndex, header: hexOf(headerBytes(block, rule)) },
    transactionPath: triePath(envelopes, transactionIndex).map(hexOf),
    receiptPath: triePath(encodedReceipts(block, bytes, receiptBytes(receipts, bytes)), transactionIndex).map(
      hexOf,
    ),
  }
  return transferProblem(proof, transfer) === null ? proof : null
}

const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

/** Null where one is not known. */
function envelopesOf({ transactions }: RpcBlock): readonly Uint8Array[] | null {
  const writer = new RlpWriter()
  const envelopes = transactions.map((tx) => {
    writer.rewind(0)
    return writeEnvelope(writer, tx) ? Uint8Array.from(writer.since(0)) : null
  })
  const known = envelopes.filter((envelope) => envelope !== null)
  return known.length === envelopes.length ? known : null
}

function encodedReceipts(
  { transactions }: RpcBlock,
  bytes: ByteBuffer,
  receipts: ReturnType<typeof receiptBytes>,
): readonly Uint8Array[] {
  const writer = new RlpWriter()
  return receipts.map((receipt, index) => {
    writer.rewind(0)
    writeReceipt(writer, bytes, receipt, transactions[index]?.type ?? '0x0')
    return Uint8Array.from(writer.since(0))
  })
}
