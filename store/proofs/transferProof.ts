/** A transfer with what proves it to somebody who has no node: its block's header, and two paths. */

import { transferTopic } from '#transform/rows/transferLog.ts'

/** A transfer that a transaction made. Hashes and addresses are lowercase hex texts. */
export interface ProvedTransfer {
  readonly transactionHash: string
  readonly token: string
  readonly from: string
  readonly to: string
  /** In the token's smallest unit. */
  readonly amount: bigint
}

/** Bytes are lowercase hex texts. */
export interface TransferProof {
  readonly chainId: number
  readonly blockNumber: number
  readonly blockHash: string
  /** The bytes that hash to the block's hash. */
  readonly header: string
  /** Place of the transaction in its block. */
  readonly transactionIndex: number
  /** Place of the log in its receipt. */
  readonly logIndex: number
  /** Nodes of the trie of transactions, the root first. */
  readonly transactionPath: readonly string[]
  /** Nodes of the trie of receipts, the root first. */
  readonly receiptPath: readonly string[]
}

/** Topics of its log, as one text. */
export const topicsOf = ({ from, to }: Pick<ProvedTransfer, 'from' | 'to'>): string =>
  [transferTopic, ...[from, to].map((address) => `0x${address.slice(2).padStart(64, '0')}`)].join()
