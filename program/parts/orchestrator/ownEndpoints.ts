/**
 * Chain data for agents: which endpoints are tools, and how the server is asked for them. They
 * pass through the server's own door, so that a tool has no right that its caller lacks.
 */
import type { FastifyInstance } from 'fastify'
import { postIndexerQueryEndpoint } from '#api/routes/indexer/indexer.ts'
import { listBalancesEndpoint } from '#api/routes/tokens/balances.ts'
import { listTransfersEndpoint } from '#api/routes/transfers.ts'
import type { AskOwn } from '#orchestrator/mcp/chainTools.ts'
import type { Tool } from '#orchestrator/mcp/tool.ts'
import { chainTool } from '#orchestrator/mcp/tools.ts'
import { queryPriceOf } from '#query/price.ts'
import { jsonIn } from '#text/jsonIn.ts'

/** Rows of a tool's answer where its caller does not say: agents read all of them. */
const ROWS_DEFAULT = 50

const free = () => '0'
const readOnly = 'Free within the quota, and read-only.'

export const chainTools: readonly Tool[] = [
  chainTool({
    name: 'query_chain',
    title: 'Query the chain with SQL',
    description: `Runs one SELECT over verified blocks, transactions, receipts, logs and more of an indexed chain (tables blocks, txs, receipts, logs). ${readOnly} Bytes are written as '0x…'.`,
    endpoint: postIndexerQueryEndpoint,
    takes: ['sql', 'signature', 'chainId', 'engine', 'limit', 'timeout_ms', 'maxCost'],
    defaults: { limit: ROWS_DEFAULT },
    costOf: ({ rows_read: rows, query_time_ms: timeMs, bytes_read: bytes }) =>
      queryPriceOf({ rows: Number(rows ?? 0), timeMs: Number(timeMs ?? 0), bytes: Number(bytes ?? 0) }),
  }),
  chainTool({
    name: 'list_transfers',
    title: 'List token transfers',
    description: `Token transfers, the newest first; of an account, a token or a range of blocks where arguments say so. ${readOnly}`,
    endpoint: listTransfersEndpoint,
    takes: [
      ...['address', 'sender', 'recipient', 'token', 'blockNumber.from', 'blockNumber.to'],
      ...['include', 'chainId', 'limit', 'cursor'],
    ],
    defaults: { limit: ROWS_DEFAULT },
    costOf: free,
  }),
  chainTool({
    name: 'list_balances',
    title: 'List balances of an account',
    description: `What an account has of each token, most first, now or as of a block. ${readOnly}`,
    endpoint: listBalancesEndpoint,
    takes: ['address', 'atBlock', 'currency', 'verified', 'chainId', 'limit', 'cursor'],
    defaults: { limit: ROWS_DEFAULT },
    costOf: free,
  }),
]

export const askThrough =
  (server: () => FastifyInstance): AskOwn =>
  async ({ method, url, headers, remoteAddress, body, signal }) => {
    const {
      statusCode,
      headers: answered,
      body: text,
    } = await server().inject({
      ...{ method, url, headers, remoteAddress, signal },
      ...(body !== null && { payload: body }),
    })
    // A challenge to pay may be no JSON.
    return { status: statusCode, headers: answered, body: jsonIn(text) ?? null }
  }
