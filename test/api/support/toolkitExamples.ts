/** Example endpoints, one of each kind, for the tests of the HTTP toolkit. */

import { command, conflict, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { bounds } from '#http/request/bounds.ts'
import { dataPageRules, type ListPage, type ListResult, webhookPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'

export interface Row {
  readonly number: number
  readonly memo: string | null
}

/** The rows that the examples need. */
export interface Rows {
  readonly rows: { list(page: ListPage): Promise<ListResult<Row>> }
}

const row = s.named('Row', { id: s.text(), number: s.count, memo: s.optional(s.text()) })

export const listRows = listEndpoint({
  path: '/v1/rows',
  summary: 'List rows, newest first.',
  filters: { address: p.address, sender: p.address, status: p.oneOf('success', 'reverted'), ...bounds },
  include: ['memo', 'totalCount'],
  item: row,
  check: ({ address, sender }) =>
    address && sender ? conflict('address', '`address` excludes `sender`') : undefined,
  list: ({ page }, { rows }: Rows) => rows.list(page),
  present: ({ number, memo }, include) => ({
    id: `${number}`,
    number,
    ...(include.has('memo') && memo !== null && { memo }),
  }),
})

/** Takes no `page`, has one order, and belongs to its caller. */
export const listOwnRows = listEndpoint({
  path: '/v1/own/rows',
  summary: 'List own rows.',
  item: row,
  pages: { ...webhookPageRules, modes: 'cursorOnly' },
  owned: true,
  list: ({ page }, { rows }: Rows) => rows.list(page),
  present: ({ number }) => ({ id: `${number}`, number }),
})

const listWebhooks = listEndpoint({
  path: '/v1/hooks',
  summary: 'List with the rules of webhook lists.',
  item: row,
  pages: { ...dataPageRules, ...webhookPageRules },
  chain: 'none',
  list: ({ page }, { rows }: Rows) => rows.list(page),
  present: ({ number }) => ({ id: `${number}`, number }),
})

export const readRow = endpoint({
  path: '/v1/rows/{number}',
  summary: 'Read one row.',
  params: { number: p.blockNumber },
  response: row,
  errors: ['block_not_found'],
  read: async ({ path }, _services: Rows) => {
    if (path.number > 100) throw new ApiError('block_not_found')
    return { number: path.number }
  },
  present: ({ number }) => ({ id: `${number}`, number }),
  cache: ({ number }) => (number === 99 ? 'none' : 'mined'),
})

const createThing = command({
  method: 'POST',
  path: '/v1/things',
  summary: 'Create a thing.',
  body: s.object({ name: s.text({ minLength: 1 }), tags: s.optional(s.array(s.text())) }),
  status: 201,
  response: s.object({ name: s.text() }),
  run: ({ body }, _services: object) => body,
  present: ({ name }) => ({ name }),
})

const removeThing = command({
  method: 'DELETE',
  path: '/v1/things/{name}',
  summary: 'Remove a thing.',
  params: { name: p.text(20) },
  response: s.object({ name: s.text() }),
  run: ({ path }, _services: object) => path.name,
  present: (name) => ({ name }),
})

export const readText = rawEndpoint({
  path: '/text',
  summary: 'Read long text.',
  produces: { 'text/plain': null },
  answer: (_call, _services: object) => ({
    kind: 'bytes',
    contentType: 'text/plain; charset=utf-8',
    body: 'x'.repeat(20_000),
    cache: 'feed',
  }),
})

const callNode = rawEndpoint({
  method: 'POST',
  path: '/rpc/{chain}',
  summary: 'Call a node.',
  chain: 'path',
  body: s.json('A JSON-RPC request.'),
  produces: { 'application/json': s.json('A JSON-RPC response.') },
  errorFields: { ok: false },
  answer: ({ chainId, body }, _services: object) => ({
    kind: 'bytes',
    contentType: 'application/json',
    body: JSON.stringify({ chainId, body }),
  }),
})

/** Fails in the way its path says. */
export const fail = endpoint({
  path: '/v1/fails/{how}',
  summary: 'Fail.',
  params: { how: p.oneOf('down', 'defect', 'present', 'limited') },
  response: s.object({ required: s.text() }),
  read: async ({ path }, _services: object) => path.how,
  present: (how): { required: string } => {
    if (how === 'down') throw Object.assign(new Error('secret host:5432'), { code: 'ECONNREFUSED' })
    if (how === 'limited')
      throw new ApiError('rate_limit_exceeded', undefined, { headers: { 'retry-after': '7' } })
    if (how === 'defect') throw new Error('select secret from table')
    return JSON.parse('{}')
  },
  cache: 'none',
})

/** Its rows never end. */
export const endlessRows: Rows = {
  rows: {
    list: async ({ limit, wantTotal }) => ({
      rows: Array.from({ length: limit }, (_, number) => ({ number, memo: `memo ${number}` })),
      next: [limit],
      ...(wantTotal && { totalCount: 20_000 }),
    }),
  },
}

export const examples = [
  listRows,
  listOwnRows,
  listWebhooks,
  readRow,
  createThing,
  removeThing,
  readText,
  callNode,
  fail,
]
