/** Receipts: the list under both of its paths, one receipt under both of its. */

import { type ApiCall, endpoint, type None } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { partyOf } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import type * as s from '#http/schema.ts'
import { needsTransaction, presentNodeReceipt, presentReceipt, receiptSchema } from '#present/receipt.ts'
import type { TokenSummary } from '#present/token.ts'
import type { Hash } from '#primitives.ts'
import { findTransaction, listTransactions, type TransactionDetail } from '#store/read/transactions.ts'
import { type ReadServices, readsOf } from '../services.ts'
import { readFeeTokens, withFeeTokens } from './tokens/feeTokens.ts'
import { checkTransactionFilters, readTransactionFilters, transactionFilters } from './transactions.ts'

export const listTransactionReceiptsEndpoint = receiptList('/v1/transactions/receipts')
export const listReceiptsEndpoint = receiptList('/v1/receipts')

function receiptList(path: string) {
  return listEndpoint({
    path,
    summary: 'Receipts of transactions.',
    filters: transactionFilters,
    include: ['feeToken', 'totalCount'],
    item: receiptSchema,
    check: checkTransactionFilters,
    list: async (call, services: ReadServices) => {
      const { postgres, state } = readsOf(services, call.chainId)
      const found = await listTransactions(postgres, state, readTransactionFilters(call.filters), call.page)
      return { ...found, rows: await withFeeTokens(services, call, found.rows, paidIn) }
    },
    present: ({ row, feeToken }) => presentReceipt(row, feeToken),
  })
}

const paidIn = ({ row }: TransactionDetail): string | null => row.paid_fee_token

const one = {
  summary: 'The receipt of one transaction.',
  description: 'Receipts of blocks that are not indexed come from the node.',
  include: ['feeToken'],
  response: receiptSchema,
  errors: ['receipt_not_found', 'overloaded'],
  present: ({ receipt, feeToken }: Found) => ({
    ...receipt,
    meta: { ...receipt.meta, ...(feeToken && { feeToken }) },
  }),
  cache: ({ final }: Found) => (final ? 'mined' : 'none'),
  headers: ({ isFromNode }: Found): Readonly<Record<string, string>> =>
    isFromNode ? { 'svc-source': 'node' } : {},
} as const

export const readTransactionReceiptEndpoint = endpoint({
  ...one,
  path: '/v1/transactions/{transactionHash}/receipt',
  params: { transactionHash: p.transactionHash },
  read: (call, services: ReadServices) => findReceipt(call, call.path.transactionHash, services),
})

export const readReceiptEndpoint = endpoint({
  ...one,
  path: '/v1/receipts/{transaction}',
  params: { transaction: p.transactionHash },
  read: (call, services: ReadServices) => findReceipt(call, call.path.transaction, services),
})

interface Found {
  readonly receipt: s.Static<typeof receiptSchema>
  readonly feeToken: TokenSummary | undefined
  readonly final: boolean
  readonly isFromNode: boolean
}

/** @throws ApiError receipt_not_found, also while the transaction is pending */
async function findReceipt(
  call: Pick<ApiCall<None, None, string, 'query'>, 'chainId' | 'caller' | 'include' | 'signal'>,
  transaction: Hash,
  services: ReadServices,
): Promise<Found> {
  const reads = readsOf(services, call.chainId)
  const { postgres, state } = reads
  const detail = await findTransaction(postgres, state, transaction, call.signal)
  const receipt = detail ? presentReceipt(detail) : await nodeReceipt(call, transaction, reads)
  const token = receipt.feeToken ?? null
  const feeTokens = await readFeeTokens(services, call, [token])
  return { receipt, feeToken: feeTokens(token), final: detail?.final ?? false, isFromNode: detail === null }
}

/** The node is asked for the transaction only where the fee is not in the receipt. @throws ApiError */
async function nodeReceipt(
  { caller, signal }: Pick<ApiCall<None, None, string, 'query'>, 'caller' | 'signal'>,
  hash: Hash,
  { node, kind }: ReturnType<typeof readsOf>,
): Promise<s.Static<typeof receiptSchema>> {
  const rpc = await node.receipt(hash, partyOf(caller), signal)
  if (rpc === null) throw new ApiError('receipt_not_found')
  const transaction = needsTransaction(rpc) ? await node.transaction(hash, partyOf(caller), signal) : null
  return presentNodeReceipt(rpc, transaction, kind)
}
