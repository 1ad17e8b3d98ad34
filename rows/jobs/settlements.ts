/** Payments for a job, and their outcomes. */
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { chargeColumns, chargedJobOf, type JobCharge } from './books.ts'

/** - `pending`: no final block was compared with it yet. */
export type Finality = 'pending' | 'confirmed' | 'differs' | 'reversed'

export interface JobSettlement extends JobCharge {
  /** Such as `tempo/charge`. */
  readonly protocol: string
  /** SHA-256 of the request that was paid for, in hex. */
  readonly requestDigest: string
  /** Lowercase addresses. */
  readonly payer: string
  readonly recipient: string
  /** Null where no transaction is this payment's alone, as in a session. */
  readonly transactionHash: string | null
  readonly finality: Finality
  /** In the token's smallest unit: what the job kept of the amount. Null before its end. */
  readonly committedAmount: bigint | null
}

/** Null for a job that cost nothing. */
export async function readSettlement(app: AppDatabase, jobId: string): Promise<JobSettlement | null> {
  const row = await app
    .selectFrom('app.jobs as j')
    .innerJoin('app.payments as p', 'p.id', 'j.payment_id')
    .select(chargeColumns.map((column) => `j.${column}` as const))
    .select(['j.committed_amount', 'p.method', 'p.request_digest', 'p.recipient', 'p.tx_hash', 'p.proof'])
    .where('j.id', '=', jobId)
    .executeTakeFirst()
  const charge = row && chargedJobOf(row).charge
  if (!charge) return null
  return {
    ...charge,
    protocol: row.method,
    requestDigest: row.request_digest.toString('hex'),
    payer: toHex(row.payer),
    recipient: toHex(row.recipient),
    transactionHash: row.method.endsWith('/session') || !row.tx_hash ? null : toHex(row.tx_hash),
    finality: finalityOf(row.proof),
    committedAmount: row.committed_amount === null ? null : BigInt(row.committed_amount),
  }
}

function finalityOf(proof: string | null): Finality {
  return proof === 'confirmed' || proof === 'differs' || proof === 'reversed' ? proof : 'pending'
}
