/**
 * GET /v1/transfers: on Tempo those of TIP-20 tokens, elsewhere those of every ERC-20 and of the
 * native coin.
 */

import { conflict } from '#http/endpoint.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { bounds, readBounds } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type AttributionNames, type MemoText, readMemo } from '#present/memo.ts'
import {
  anyAmountSchema,
  type KnownToken,
  presentCoinAmount,
  presentTokenAmount,
  tokenAmountSchema,
  unknownToken,
} from '#present/token.ts'
import { type FoldedTransfer, listFoldedTransfers } from '#store/read/foldedTransfers.ts'
import type { ListPage } from '#store/read/lists/readList.ts'
import { listAnyTransfers, listTransfers, type NativeTransfer } from '#store/read/transfers.ts'
import { type ReadServices, readsOf } from '../services.ts'

const transferSchema = s.named('Transfer', {
  id: s.text({ description: 'Transaction hash, a dash, log index; `value` where no log tells it.' }),
  blockNumber: s.count,
  logIndex: s.nullable(s.count),
  timestamp: s.timestamp,
  transactionHash: s.hash,
  sender: s.address,
  recipient: s.address,
  sourceToken: anyAmountSchema,
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
  summary: 'Transfers of tokens and of the native coin.',
  description:
    'The native coin is no token: `sourceToken.address` is null. From the block in `svc-native-from` on each of its movements is listed, internal ones too, as the chain logs them (EIP-7708); before it, the values of transactions that succeeded alone, with `logIndex` null. `include=crossToken` folds a payment in another token (paid into the exchange, taken out of it, passed on) into one row: the passing on, with `sourceToken` as paid and `destinationToken` as arrived. Filters look at the passing on.',
  filters: {
    address: p.described(p.address, 'Sender or recipient. Not together with `sender` or `recipient`.'),
    sender: p.described(p.address, 'Exact sender.'),
    recipient: p.described(p.address, 'Exact recipient.'),
    token: p.described(
      p.tokenOrNative,
      "Token contract, or `native` for the chain's own coin; without it both, but on Tempo, which has no coin.",
    ),
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
    const values = { address, sender, recipient, tip20: kind === 'tempo' }
    const bounds = readBounds(filters)
    const hasCoin = token === 'native' || (token === undefined && kind !== 'tempo')
    const asked = { values: token === 'native' ? values : { ...values, token }, ...bounds }
    // Only Tempo has payments in another token to fold.
    const found: FoundTransfers = hasCoin
      ? unfolded(await listAnyTransfers(postgres, state, asked, page, token === 'native' ? 'native' : 'both'))
      : include.has('crossToken')
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
        memo:
          include.has('memo') && transfer.row.token !== null
            ? readMemo(transfer.row.memo, services.attributionNames)
            : {},
        isNamed: include.has('token'),
        nameOf: (token: string) => names.get(token) ?? (include.has('token') ? unknownToken : undefined),
      })),
    }
  },
  present: presentTransfer,
})

/** A transfer of a token, folded or not, or of the coin. */
type FoundTransfer = FoldedTransfer | { readonly row: NativeTransfer; readonly crossToken: null }

type FoundTransfers = ListPage<FoundTransfer> & { readonly nativeFrom?: number | null }

type Transfer = FoundTransfer & {
  readonly memo: MemoText
  readonly isNamed: boolean
  nameOf(token: string): KnownToken | undefined
}

const unfolded = <Page extends ListPage<FoundTransfer['row']>>(page: Page) => ({
  ...page,
  rows: page.rows.map(
    (row): FoundTransfer => (row.token === null ? { row, crossToken: null } : { row, crossToken: null }),
  ),
})

function tokensOf({ row, crossToken }: FoundTransfer): readonly string[] {
  if (crossToken) return [crossToken.source.token, crossToken.destination.token]
  return row.token === null ? [] : [row.token]
}

function presentTransfer(transfer: Transfer): s.Static<typeof transferSchema> {
  const { row, crossToken, memo, isNamed, nameOf } = transfer
  const amountOf = ({ token, amount }: { readonly token: string; readonly amount: bigint }) =>
    presentTokenAmount(token, `${amount}`, nameOf(token))
  const source = crossToken?.source ?? row
  const isValueAlone = row.token === null && !row.is_logged
  return {
    id: `${row.tx_hash}-${isValueAlone ? 'value' : row.log_idx}`,
    blockNumber: Number(row.block_num),
    logIndex: isValueAlone ? null : row.log_idx,
    timestamp: s.isoSeconds(row.block_timestamp),
    transactionHash: row.tx_hash,
    sender: row.from,
    recipient: row.to,
    sourceToken: source.token === null ? presentCoinAmount(`${source.amount}`, isNamed) : amountOf(source),
    ...(crossToken && { destinationToken: amountOf(crossToken.destination) }),
    ...memo,
  }
}
