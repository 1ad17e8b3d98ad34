/** GET /v1/transfers: token transfers; on Tempo those of TIP-20 tokens, elsewhere those of every ERC-20. */

import type { StoredRow } from '#store/lists/row.ts'
import { listTransfers } from '#store/queries/transfers.ts'
import { bounds, readBounds } from '../http/bounds.ts'
import { conflict } from '../http/endpoint.ts'
import { listEndpoint } from '../http/listEndpoint.ts'
import * as p from '../http/parameter.ts'
import * as s from '../http/schema.ts'
import { type AttributionNames, type MemoText, readMemo } from './present/memo.ts'
import { presentTokenAmount, tokenAmountSchema } from './present/token.ts'
import { type ReadServices, readsOf, type TokenName } from './services.ts'

const transferSchema = s.named('Transfer', {
  id: s.text({ description: 'Transaction hash, a dash, log index.' }),
  blockNumber: s.count,
  logIndex: s.count,
  timestamp: s.timestamp,
  transactionHash: s.hash,
  sender: s.address,
  recipient: s.address,
  sourceToken: tokenAmountSchema,
  memo: s.optional(s.text({ description: 'The memo as text; with `include=memo`.' })),
  attribution: s.optional(
    s.text({
      description: 'Name of the service that was paid, where the memo says so; with `include=memo`.',
    }),
  ),
})

export interface TransferServices extends ReadServices {
  readonly attributionNames: AttributionNames
}

export const listTransfersEndpoint = listEndpoint({
  path: '/v1/transfers',
  summary: 'Token transfers.',
  filters: {
    address: p.described(p.address, 'Sender or recipient. Not together with `sender` or `recipient`.'),
    sender: p.described(p.address, 'Exact sender.'),
    recipient: p.described(p.address, 'Exact recipient.'),
    token: p.described(p.token, 'Token contract.'),
    ...bounds,
  },
  include: ['memo', 'token', 'totalCount'],
  item: transferSchema,
  check: ({ address, sender, recipient }) =>
    address && (sender || recipient)
      ? conflict('address', '`address` excludes `sender` and `recipient`')
      : undefined,
  list: async ({ chainId, filters, page, include }, services: TransferServices) => {
    const { address, sender, recipient, token } = filters
    const { postgres, state, kind } = readsOf(services, chainId)
    const values = { address, sender, recipient, token, tip20: kind === 'tempo' }
    const found = await listTransfers(postgres, state, { values, ...readBounds(filters) }, page)
    const memoOf = (memo: string | null) =>
      include.has('memo') ? readMemo(memo, services.attributionNames) : {}
    const tokens = include.has('token') ? [...new Set(found.rows.map((row) => row.token))] : []
    const names = await services.tokenNames.read(chainId, tokens, page.signal)
    return {
      ...found,
      rows: found.rows.map((row) => ({ row, memo: memoOf(row.memo), name: names.get(row.token) })),
    }
  },
  present: presentTransfer,
})

interface Transfer {
  readonly row: StoredRow<'token_transfers'>
  readonly memo: MemoText
  readonly name: TokenName | undefined
}

function presentTransfer({ row, memo, name }: Transfer): s.Static<typeof transferSchema> {
  return {
    id: `${row.tx_hash}-${row.log_idx}`,
    blockNumber: Number(row.block_num),
    logIndex: row.log_idx,
    timestamp: s.isoSeconds(row.block_timestamp),
    transactionHash: row.tx_hash,
    sender: row.from,
    recipient: row.to,
    sourceToken: presentTokenAmount(row.token, `${row.amount}`, name),
    ...memo,
  }
}
