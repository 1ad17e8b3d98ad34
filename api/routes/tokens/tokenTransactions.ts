/** GET /v1/tokens/{token}/transactions. */

import { listEndpoint } from '#http/listEndpoint.ts'
import { bounds, readBounds } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { presentTokenSummary, tokenSummarySchema } from '#present/token.ts'
import { feeTokenOf, presentTransaction, transactionSchema } from '#present/transaction.ts'
import { listTokenTransactions } from '#store/read/tokenTransactions.ts'
import { type ReadServices, readsOf } from '../../services.ts'
import { assertNoCoin } from './coin.ts'
import { withFeeTokens } from './feeTokens.ts'

export const listTokenTransactionsEndpoint = listEndpoint({
  path: '/v1/tokens/{token}/transactions',
  summary: 'Transactions in which a token did more than pay the fee.',
  description:
    'Those with at least one log of the token beside the Transfer that closes a transaction with its fee. A transaction that only paid in the token is not one of them.',
  params: { token: p.token },
  filters: {
    feePayer: p.described(p.address, 'Account that paid the fee.'),
    feeToken: p.described(p.token, 'Token the fee was paid in.'),
    ...bounds,
  },
  include: ['feeToken', 'token', 'totalCount'],
  item: transactionSchema,
  meta: { token: s.optional(tokenSummarySchema) },
  errors: ['token_not_found'],
  list: async (call, services: ReadServices) => {
    const { chainId, path, filters, include, page } = call
    const { token } = path
    assertNoCoin(token)
    const { postgres, state } = readsOf(services, chainId)
    const { feePayer, feeToken } = filters
    const found = await listTokenTransactions(
      postgres,
      state,
      { token, feePayer, feeToken },
      readBounds(filters),
      page,
    )
    const asked = include.has('token') ? [token] : []
    const name = (await services.tokenNames.read(chainId, asked, page.signal)).get(token)
    return {
      ...found,
      rows: await withFeeTokens(services, call, found.rows, feeTokenOf),
      meta: name ? { token: presentTokenSummary(token, name) } : {},
    }
  },
  present: ({ row, feeToken }, _include, { chainId }) =>
    presentTransaction(row, { receipt: false, feeToken }, chainId),
})
