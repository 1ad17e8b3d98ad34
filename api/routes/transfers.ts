/**
 * GET /v1/transfers: token transfers; on Tempo those of TIP-20 tokens, elsewhere those of every
 * ERC-20.
 */

import { conflict } from '#http/endpoint.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { bounds, readBounds } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type AttributionNames, type MemoText, readMemo } from '#present/memo.ts'
import { type KnownToken, presentTokenAmount, tokenAmountSchema, unknownToken } from '#present/token.ts'
import { type FoldedTransfer, listFoldedTransfers } from '#store/read/foldedTransfers.ts'
import type { ListPage } from '#store/read/lists/readList.ts'
import { listTransfers } from '#store/read/transfers.ts'
import { type ReadServices, readsOf } from '../services.ts'

const transferSchema = s.named('Transfer', {
  id: s.text({ description: 'Transaction hash, a dash, log index.' }),
  blockNumber: s.count,
  logIndex: s.count,
  timestamp: s.timestamp,
  transactionHash: s.hash,
  sender: s.address,
  recipient: s.address,
  sourceToken: tokenAmountSchema,
  destinationToken: s.optional(tokenAmountSchema),
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
  description:
    '`include=crossToken` folds a payment in another token (paid into the exchange, taken out of it, passed on) into one row: the passing on, with `sourceToken` as paid and `destinationToken` as arrived. Filters look at the passing on.',
  filters: {
    address: p.described(p.address, 'Sender or recipient. Not together with `sender` or `recipient`.'),
    sender: p.described(p.address, 'Exact sender.'),
    recipient: p.described(p.address, 'Exact recipient.'),
    token: p.described(p.token, 'Token contract.'),
    ...bounds,
  },
  include: ['crossToken', 'memo', 'token', 'totalCount'],
  item: transferSchema,
  check: ({ address, sender, recipient }) =>
    address && (sender || recipient)
      ? conflict('address', '`address` excludes `sender` and `recipient`')
      : undefined,
  list: async ({ chainId, filters, page, include }, services: TransferServices) => {
    const { address, sender, recipient, token } = filters
    const { postgres, state, kind } = readsOf(services, chainId)
    const values = { address, sender, recipient, token, tip20: kind === 'tempo' }
    const asked = { values, ...readBounds(filters) }
    const found = include.has('crossToken')
      ? await listFoldedTransfers(postgres, state, asked, page)
      : unfolded(await listTransfers(postgres, state, asked, page))
    const names = await services.tokenNames.read(
      chainId,
      include.has('token') ? [...new Set(found.rows.flatMap(tokensOf))] : [],
      page.signal,
    )
    return {
      ...found,
      rows: found.rows.map((transfer) => ({
        ...transfer,
        memo: include.has('memo') ? readMemo(transfer.row.memo, services.attributionNames) : {},
        nameOf: (token: string) => names.get(token) ?? (include.has('token') ? unknownToken : undefined),
      })),
    }
  },
  present: presentTransfer,
})

interface Transfer extends FoldedTransfer {
  readonly memo: MemoText
  nameOf(token: string): KnownToken | undefined
}

const unfolded = (page: ListPage<FoldedTransfer['row']>): ListPage<FoldedTransfer> => ({
  ...page,
  rows: page.rows.map((row) => ({ row, crossToken: null })),
})

const tokensOf = ({ row, crossToken }: FoldedTransfer): readonly string[] =>
  crossToken ? [crossToken.source.token, crossToken.destination.token] : [row.token]

function presentTransfer({ row, crossToken, memo, nameOf }: Transfer): s.Static<typeof transferSchema> {
  const amountOf = ({ token, amount }: { readonly token: string; readonly amount: bigint }) =>
    presentTokenAmount(token, `${amount}`, nameOf(token))
  return {
    id: `${row.tx_hash}-${row.log_idx}`,
    blockNumber: Number(row.block_num),
    logIndex: row.log_idx,
    timestamp: s.isoSeconds(row.block_timestamp),
    transactionHash: row.tx_hash,
    sender: row.from,
    recipient: row.to,
    sourceToken: amountOf(crossToken?.source ?? row),
    ...(crossToken && { destinationToken: amountOf(crossToken.destination) }),
    ...memo,
  }
}
