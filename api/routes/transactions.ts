/** GET /v1/transactions and /v1/transactions/{transactionHash}. */

import { conflict, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { partyOf } from '#http/request/access.ts'
import { bounds, readBounds } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import type { RpcFields } from '#present/rpc.ts'
import type { TokenSummary } from '#present/token.ts'
import {
  feeTokenOf,
  nodeFeeTokenOf,
  presentNodeTransaction,
  presentTransaction,
  transactionSchema,
} from '#present/transaction.ts'
import type { ListFilters } from '#store/read/lists/read.ts'
import { findTransaction, listTransactions, type TransactionDetail } from '#store/read/transactions.ts'
import { type ReadServices, readsOf } from '../services.ts'
import { readFeeTokens, withFeeTokens } from './tokens/feeTokens.ts'

/** Filters of transactions and of their receipts. */
export const transactionFilters = {
  address: p.described(p.address, 'Sender or recipient. Not together with `sender` or `recipient`.'),
  sender: p.described(p.address, 'Exact sender.'),
  recipient: p.described(p.address, 'Exact recipient.'),
  feePayer: p.described(p.address, 'Account that paid the fee.'),
  feeToken: p.described(p.token, 'Token the fee was paid in.'),
  status: p.described(p.oneOf('success', 'succeeded', 'reverted'), 'How the execution ended.'),
  ...bounds,
} as const

export const checkTransactionFilters = ({
  address,
  sender,
  recipient,
}: Pick<p.Values<typeof transactionFilters>, 'address' | 'sender' | 'recipient'>) =>
  address && (sender || recipient)
    ? conflict('address', '`address` excludes `sender` and `recipient`')
    : undefined

export function readTransactionFilters(filters: p.Values<typeof transactionFilters>): ListFilters {
  const { address, sender, recipient, feePayer, feeToken, status } = filters
  const outcome = status === undefined ? {} : status === 'reverted' ? { reverted: true } : { succeeded: true }
  return {
    values: { address, sender, recipient, feePayer, feeToken, ...outcome },
    ...readBounds(filters),
  }
}

export const listTransactionsEndpoint = listEndpoint({
  path: '/v1/transactions',
  summary: 'Transactions.',
  filters: transactionFilters,
  include: ['feeToken', 'receipt', 'totalCount'],
  item: transactionSchema,
  check: checkTransactionFilters,
  list: async (call, services: ReadServices) => {
    const { postgres, state } = readsOf(services, call.chainId)
    const found = await listTransactions(postgres, state, readTransactionFilters(call.filters), call.page)
    return { ...found, rows: await withFeeTokens(services, call, found.rows, feeTokenOf) }
  },
  present: ({ row, feeToken }, include, { chainId }) =>
    presentTransaction(row, { receipt: include.has('receipt'), feeToken }, chainId),
})

export const readTransactionEndpoint = endpoint({
  path: '/v1/transactions/{transactionHash}',
  summary: 'One transaction.',
  description:
    'Pending transactions, and mined ones of blocks that are not indexed, come from the node as it gives them.',
  params: { transactionHash: p.transactionHash },
  include: ['feeToken', 'receipt'],
  response: transactionSchema,
  errors: ['transaction_not_found', 'overloaded'],
  read: async (call, services: ReadServices): Promise<Found> => {
    const { postgres, state, node } = readsOf(services, call.chainId)
    const { transactionHash } = call.path
    const detail = await findTransaction(postgres, state, transactionHash, call.signal)
    const rpc =
      detail === null ? await node.transaction(transactionHash, partyOf(call.caller), call.signal) : null
    if (detail === null && rpc === null) throw new ApiError('transaction_not_found')
    const token = detail ? feeTokenOf(detail) : nodeFeeTokenOf(rpc ?? {})
    const feeTokens = await readFeeTokens(services, call, [token])
    return { detail, rpc: rpc ?? {}, feeToken: feeTokens(token) }
  },
  present: ({ detail, rpc, feeToken }, { chainId, include }) =>
    detail
      ? presentTransaction(detail, { receipt: include.has('receipt'), feeToken }, chainId)
      : presentNodeTransaction(rpc, feeToken, chainId),
  cache: ({ detail }) => (detail?.final ? 'mined' : 'none'),
  headers: ({ detail }): Readonly<Record<string, string>> => (detail ? {} : { 'svc-source': 'node' }),
})

/** A transaction of ours, or while it is in no block of ours the node's payload. */
interface Found {
  readonly detail: TransactionDetail | null
  readonly rpc: RpcFields
  readonly feeToken: TokenSummary | undefined
}
