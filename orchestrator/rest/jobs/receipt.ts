/** GET /v1/jobs/{jobId}/receipt, and the public keys that receipts are checked with. */
import { Readable } from 'node:stream'
import { endpoint } from '#http/endpoint.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { catalogReads, jobReads } from '../../allowance.ts'
import type { Receipts } from '../../receipt/Receipts.ts'
import { receiptKeySchema, receiptSchema } from '../../receipt/receipt.ts'
import { jobIdParameter, privately } from './readJob.ts'

export interface ReceiptServices {
  readonly receipts: Pick<Receipts, 'of' | 'keys'>
}

export const readReceiptEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}/receipt',
  summary: 'A signed receipt of a job: 200 once it has ended, 202 while it runs.',
  description:
    'Plan hash, digest of each output, amounts, settlement, and the proof of its transfer once a final block of a chain that is indexed here has it (null before). `millrace prove receipt` checks it offline, byte by byte: keep it as it comes.',
  tag: 'Services',
  access: jobReads,
  params: { jobId: jobIdParameter },
  produces: { 'application/json': receiptSchema },
  statuses: [200, 202],
  errors: ['param_invalid', 'job_not_found', 'overloaded'],
  answer: async ({ path: { jobId } }, { receipts }: ReceiptServices) => {
    const receipt = await receipts.of(jobId)
    return {
      kind: 'bytes',
      status: receipt === null ? 202 : 200,
      contentType: 'application/json; charset=utf-8',
      body: Readable.from([receipt ?? JSON.stringify({ jobId, ready: false })], { objectMode: false }),
      headers: privately,
    }
  },
})

export const receiptKeysEndpoint = endpoint({
  path: '/v1/receipt-keys',
  summary: 'The public keys that receipts of jobs are signed by, the newest first, as a JWK set.',
  tag: 'Services',
  chain: 'none',
  access: catalogReads,
  cache: 'metadata',
  response: s.named('ReceiptKeys', { keys: s.array(receiptKeySchema) }),
  read: async (_call, { receipts }: ReceiptServices) => receipts.keys.published,
  present: (keys) => ({ keys: [...keys] }),
})
