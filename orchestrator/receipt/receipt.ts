/**
 * The receipt of a job: what was ordered, delivered and paid, in parts. Each part has a digest, and
 * the signature is over the digests, so that a check names the part that was changed.
 */
import { createHash } from 'node:crypto'
import * as s from '#http/schema.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import { x402PartSchema } from './x402Receipt.ts'

export const RECEIPT_FORMAT = 'millrace-job-receipt-1'

const sha256 = s.text({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, in hex.' })
const dollars = s.text({ description: 'Decimal, in the currency of the quote.', examples: ['0.05'] })

const jobPart = s.named('ReceiptJob', {
  jobId: s.text({ format: 'uuid' }),
  planHash: s.text({ description: 'SHA-256 of the plan as canonical JSON (RFC 8785), in hex.' }),
  status: s.text(),
  payer: s.address,
  createdAt: s.timestamp,
  endedAt: s.timestamp,
})

const paidCall = s.named('ReceiptPurchase', {
  chainId: s.count,
  token: s.address,
  amount: s.amount,
  fee: s.optional(s.object({ token: s.address, amount: s.amount })),
  transactionHash: s.optional(s.hash),
})

const nodePart = s.named('ReceiptNode', {
  nodeId: s.text(),
  state: s.text(),
  carried: s.boolean(),
  quoted: dollars,
  outputBytes: s.nullable(s.count),
  outputDigest: s.nullable(sha256),
  error: s.nullable(s.text()),
  purchases: s.array(paidCall),
})

const amountsPart = s.named('ReceiptAmounts', {
  currency: s.text(),
  charged: dollars,
  committed: dollars,
})

const settlementPart = s.named('ReceiptSettlement', {
  protocol: s.text({ examples: ['tempo/charge'] }),
  requestDigest: s.text({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256, in hex, over realm, method, path, query and body of the request that was paid for, each as its length in bytes, a colon, and itself; query (a list of pairs) and body as JSON.',
  }),
  chainId: s.count,
  token: s.address,
  amount: s.amount,
  committed: s.amount,
  refunded: s.text({
    pattern: '^[0-9]+$',
    description: 'What the payer was owed back at the end; 0 where the chain took the payment back.',
  }),
  payer: s.address,
  recipient: s.address,
  transactionHash: s.nullable(s.hash),
  finality: s.oneOf(['pending', 'confirmed', 'differs', 'reversed'] as const, {
    description:
      'What a final block says of it: of our index, or of the nodes of a chain that is not indexed here.',
  }),
})

const transferPart = s.named('ReceiptTransfer', {
  chainId: s.count,
  blockNumber: s.count,
  blockHash: s.hash,
  header: s.hex,
  transactionIndex: s.count,
  logIndex: s.count,
  transactionPath: s.array(s.hex),
  receiptPath: s.array(s.hex),
})

const receiptParts = {
  job: jobPart,
  nodes: s.array(nodePart),
  amounts: amountsPart,
  settlement: s.nullable(settlementPart),
  transfer: s.nullable(transferPart),
  x402: s.nullable(x402PartSchema),
}

const base64url = (bytes: number) => s.text({ pattern: `^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$` })

/** A public key (RFC 8037); `kid` is its thumbprint (RFC 7638). */
export const receiptKeySchema = s.named('ReceiptKey', {
  kty: s.literal('OKP'),
  crv: s.literal('Ed25519'),
  x: base64url(32),
  kid: base64url(32),
})

export const receiptSchema = s.named('JobReceipt', {
  format: s.literal(RECEIPT_FORMAT),
  ...receiptParts,
  digests: s.named('ReceiptDigests', {
    ...{ job: sha256, nodes: sha256, amounts: sha256, settlement: sha256, transfer: sha256, x402: sha256 },
  }),
  key: receiptKeySchema,
  signature: base64url(64),
})

export type Receipt = s.Static<typeof receiptSchema>
export type PartName = keyof typeof receiptParts
export type ReceiptParts = Pick<Receipt, PartName>

export const partNames = [
  ...['job', 'nodes', 'amounts', 'settlement', 'transfer', 'x402'],
] as const satisfies PartName[]

export const partDigest = (part: ReceiptParts[PartName]): string =>
  createHash('sha256').update(canonicalJson(part)).digest('hex')

/** The signed bytes. */
export const signedBytes = ({ digests, format, key }: Pick<Receipt, 'digests' | 'format' | 'key'>): Buffer =>
  Buffer.from(canonicalJson({ digests, format, key }))
