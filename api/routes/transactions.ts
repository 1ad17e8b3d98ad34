/** GET /v1/transactions and /v1/transactions/{transactionHash}. */
import { findTransaction, listTransactions, type TransactionDetail } from '#store/queries/transactions.ts'
import { bounds, readBounds } from '../http/bounds.ts'
import { conflict, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { listEndpoint } from '../http/listEndpoint.ts'
import * as p from '../http/parameter.ts'
import type { RpcFields } from './present/rpc.ts'
import { presentNodeTransaction, presentTransaction, transactionSchema } from './present/transaction.ts'
import { type ReadServices, readsOf } from './services.ts'

/** Filters of transactions and of their receipts. */
const filters = {
  address: p.described(p.address, 'Sender or recipient. Not together with `sender` or `recipient`.'),
  sender: p.described(p.address, 'Exact sender.'),
  recipient: p.described(p.address, 'Exact recipient.'),
  feePayer: p.described(p.address, 'Account that paid the fee.'),
  feeToken: p.described(p.token, 'Token the fee was paid in.'),
  status: p.described(p.oneOf('success', 'succeeded', 'reverted'), 'How the execution ended.'),
  ...bounds,
} as const

export const listTransactionsEndpoint = listEndpoint({
  path: '/v1/transactions',
  summary: 'Transactions.',
  filters,
  include: ['receipt', 'totalCount'],
  item: transactionSchema,
  check: ({ address, sender, recipient }) =>
    address && (sender || recipient)
      ? conflict('address', '`address` excludes `sender` and `recipient`')
      : undefined,
  list: ({ chainId, filters, page }, services: ReadServices) => {
    const { address, sender, recipient, feePayer, feeToken, status } = filters
    const { postgres, state } = readsOf(services, chainId)
    const outcome =
      status === undefined ? {} : status === 'reverted' ? { reverted: true } : { succeeded: true }
    const values = { address, sender, recipient, feePayer, feeToken, ...outcome }
    return listTransactions(postgres, state, { values, ...readBounds(filters) }, page)
  },
  present: (detail, include, { chainId }) => presentTransaction(detail, include, chainId),
})

export const readTransactionEndpoint = endpoint({
  path: '/v1/transactions/{transactionHash}',
  summary: 'One transaction.',
  description:
    'Pending transactions, and mined ones of blocks that are not indexed, come from the node as it gives them.',
  params: { transactionHash: p.transactionHash },
  include: ['receipt'],
  response: transactionSchema,
  errors: ['transaction_not_found'],
  read: async ({ chainId, path, signal }, services: ReadServices): Promise<Found> => {
    const { postgres, state, node } = readsOf(services, chainId)
    const indexed = await findTransaction(postgres, state, path.transactionHash, signal)
    if (indexed) return { from: 'index', detail: indexed }
    const rpc = await node.transaction(path.transactionHash, signal)
    if (!rpc) throw new ApiError('transaction_not_found')
    return { from: 'node', rpc }
  },
  present: (found, { chainId, include }) =>
    found.from === 'index'
      ? presentTransaction(found.detail, include, chainId)
      : presentNodeTransaction(found.rpc, chainId),
  cache: (found) => (found.from === 'index' && found.detail.final ? 'mined' : 'none'),
})

type Found =
  | { readonly from: 'index'; readonly detail: TransactionDetail }
  | { readonly from: 'node'; readonly rpc: RpcFields }
