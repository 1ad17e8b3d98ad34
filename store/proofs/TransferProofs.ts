/**
 * Proofs of transfers in final blocks, made from the raw archive. A block of thousands of transactions
 * is unpacked, hashed and encoded for one path, so a thread of its own does it, which ends when
 * nobody asks.
 */
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { failure } from '#errors.ts'
import { type Queryable, readFinalRange } from '../ledger/lane.ts'
import { relationOf, toBytes } from '../sql.ts'
import type { ProvedTransfer, TransferProof } from './transferProof.ts'
import type { TransferProofTask } from './transferProof.worker.ts'

/** The chain's store. */
export interface ProvedChain {
  readonly chainId: number
  readonly schema: string
  readonly reads: Queryable
}

/** Waiting for the thread. */
const QUEUED_MAX = 64
/** Milliseconds after which a thread without work ends. */
const IDLE_MS = 10_000
/** The largest block that is proved, in bytes as archived: some 40 MB of JSON. */
const BLOCK_BYTES_MAX = 4 * 1_024 * 1_024

export class TransferProofs {
  readonly #pool = new Piscina<TransferProofTask, TransferProof | null>({
    filename: fileURLToPath(new URL('./transferProof.worker.ts', import.meta.url)),
    name: 'makeProof',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    // Between the look at the queue and the place in it nothing else runs.
    maxQueue: QUEUED_MAX + 1,
  })

  /**
   * Null where no final block here has the transfer, where the block is larger than what is proved, or
   * where its hash does not follow from what is known of the chain. @throws ProofsBusyError
   */
  async of(chain: ProvedChain, transfer: ProvedTransfer): Promise<TransferProof | null> {
    const block = await readFinalBlock(chain, transfer.transactionHash)
    if (!block) return null
    if (this.#pool.queueSize >= QUEUED_MAX) throw new ProofsBusyError('many proofs are being made')
    return this.#pool.run({ chainId: chain.chainId, transfer, ...block })
  }

  /** Work under way is given up. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }
}

async function readFinalBlock(
  { reads, schema }: ProvedChain,
  hash: string,
): Promise<Pick<TransferProofTask, 'blockNumber' | 'parts'> | null> {
  const final = await readFinalRange(reads, schema)
  if (!final) return null
  const { rows } = await reads.query<{ block_num: number; payload: Buffer | null }>(
    `SELECT raw.block_num, CASE WHEN sum(octet_length(raw.payload)) OVER () <= $3 THEN raw.payload END AS payload
     FROM ${relationOf(schema, 'raw')} raw
     WHERE raw.block_num = (SELECT block_num FROM ${relationOf(schema, 'txs')} WHERE hash = $1 AND block_num BETWEEN $2 AND $4 LIMIT 1)
     ORDER BY raw.part`,
    [toBytes(hash), final.from, BLOCK_BYTES_MAX, final.to],
  )
  const [first] = rows
  const parts = rows.flatMap(({ payload }) => (payload ? [Uint8Array.from(payload)] : []))
  return first && parts.length === rows.length ? { blockNumber: first.block_num, parts } : null
}

/** As many proofs wait as may. */
export class ProofsBusyError extends failure('ProofsBusyError', 'proofs_busy', 'retry') {}
