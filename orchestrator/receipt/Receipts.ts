/** Makes the receipts of jobs that have ended. */
import { ApiError } from '#http/errors.ts'
import * as s from '#http/schema.ts'
import { decimalText } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  findJob,
  type ReadAttempt,
  type ReadJob,
  type ReadNode,
  readAttempts,
  readNodes,
} from '#rows/jobs/reads.ts'
import { type JobSettlement, readSettlement } from '#rows/jobs/settlements.ts'
import { ProofsBusyError } from '#store/proofs/TransferProofs.ts'
import type { ProvedTransfer, TransferProof } from '#store/proofs/transferProof.ts'
import type { ReceiptKeys } from './ReceiptKeys.ts'
import type { Receipt, ReceiptParts } from './receipt.ts'

export interface ReceiptsOptions {
  readonly app: AppDatabase
  readonly keys: Pick<ReceiptKeys, 'published' | 'signed'>
  /** The origin at which jobs are bought, such as `https://api.example.com`. */
  readonly origin: string
  /**
   * Null where the chain is not indexed here, or has no such transfer in a final block.
   * @throws ProofsBusyError
   */
  readonly proofOf: (chainId: number, transfer: ProvedTransfer) => Promise<TransferProof | null>
}

export class Receipts {
  readonly #options: ReceiptsOptions

  constructor(options: ReceiptsOptions) {
    this.#options = options
  }

  get keys(): Pick<ReceiptKeys, 'published'> {
    return this.#options.keys
  }

  /** Null while the job has not ended. @throws ApiError job_not_found, overloaded */
  async of(jobId: string): Promise<string | null> {
    const { app, keys, origin } = this.#options
    const job = await findJob(app, jobId)
    if (!job) throw new ApiError('job_not_found')
    if (job === 'ordered' || !job.endedAt) return null
    const nodes = await readNodes(app, jobId)
    const attempts = await readAttempts(app, jobId)
    const settlement = await readSettlement(app, jobId)
    const parts = {
      job: jobPart(job, job.endedAt),
      nodes: nodeParts(job, nodes, attempts),
      amounts: amountsPart(job),
      settlement: settlement && settlementPart(settlement),
      transfer: settlement && (await this.#transferPart(settlement)),
    }
    const isX402 = settlement?.protocol.startsWith('x402/') && settlement.finality !== 'reversed'
    if (!settlement || !isX402) return keys.signed(parts, null)
    const issuedAtSeconds = Math.floor(job.endedAt.getTime() / 1_000)
    return keys.signed(parts, { ...settlement, resourceUrl: `${origin}/v1/jobs`, issuedAtSeconds })
  }

  async #transferPart(settlement: JobSettlement): Promise<ReceiptParts['transfer']> {
    const { transactionHash, token, payer: from, recipient: to, amount, chainId } = settlement
    if (transactionHash === null) return null
    try {
      const proof = await this.#options.proofOf(chainId, { transactionHash, token, from, to, amount })
      if (!proof) return null
      const { transactionPath, receiptPath } = proof
      return { ...proof, transactionPath: [...transactionPath], receiptPath: [...receiptPath] }
    } catch (error) {
      if (error instanceof ProofsBusyError) throw new ApiError('overloaded')
      throw error
    }
  }
}

const jobPart = ({ jobId, planHash, state, payer, createdAt }: ReadJob, endedAt: Date): Receipt['job'] => ({
  ...{ jobId, planHash, status: state, payer },
  createdAt: s.isoSeconds(createdAt.getTime() / 1_000),
  endedAt: s.isoSeconds(endedAt.getTime() / 1_000),
})

function nodeParts(
  { decimals }: ReadJob,
  nodes: readonly ReadNode[],
  attempts: readonly ReadAttempt[],
): Receipt['nodes'] {
  const byNode = Map.groupBy(attempts, ({ nodeId }) => nodeId)
  return nodes.map((node) => ({
    nodeId: node.nodeId,
    state: node.state,
    carried: node.isCarried,
    quoted: decimalText(node.unitsMax, decimals),
    outputBytes: node.outputBytes,
    outputDigest: node.outputDigest,
    error: node.errorCode,
    purchases: (byNode.get(node.nodeId) ?? []).flatMap(({ paid }) =>
      paid
        ? {
            ...{ chainId: paid.chainId, token: paid.currency, amount: `${paid.amount}` },
            ...(paid.fee &&
              paid.fee.fee > 0n && { fee: { token: paid.fee.feeCurrency, amount: `${paid.fee.fee}` } }),
            ...(paid.transactionHash !== null && { transactionHash: paid.transactionHash }),
          }
        : [],
    ),
  }))
}

const amountsPart = ({ currency, decimals, chargedUnits, committedUnits }: ReadJob): Receipt['amounts'] => ({
  currency,
  charged: decimalText(chargedUnits, decimals),
  committed: decimalText(committedUnits ?? 0n, decimals),
})

function settlementPart(settlement: JobSettlement): NonNullable<Receipt['settlement']> {
  const { protocol, requestDigest, chainId, token, amount, payer, recipient } = settlement
  const { transactionHash, finality } = settlement
  const committed = settlement.committedAmount ?? 0n
  return {
    ...{ protocol, requestDigest, chainId, token, payer, recipient, transactionHash, finality },
    amount: `${amount}`,
    committed: `${committed}`,
    // A payment that never came is not paid back.
    refunded: finality === 'reversed' ? '0' : `${amount - committed}`,
  }
}
