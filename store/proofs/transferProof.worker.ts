/** Entry of a worker thread: a block as it is archived in, the proof of one of its transfers out. */
import { readArchivedBlock } from '#transform/decode/archive.ts'
import { makeTransferProof } from './makeTransferProof.ts'
import type { ProvedTransfer, TransferProof } from './transferProof.ts'

export interface TransferProofTask {
  readonly chainId: number
  readonly blockNumber: number
  /** As the archive holds them. */
  readonly parts: readonly Uint8Array[]
  readonly transfer: ProvedTransfer
}

export const makeProof = ({
  chainId,
  blockNumber,
  parts,
  transfer,
}: TransferProofTask): TransferProof | null =>
  makeTransferProof(chainId, readArchivedBlock(blockNumber, parts), transfer)
