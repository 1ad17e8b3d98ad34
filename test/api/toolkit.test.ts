// Goal: what every endpoint gets from the toolkit without asking: strict parameters, the envelope on every error,
// request ids, caching, HEAD and OPTIONS. Method: example endpoints behind a real socket.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bounds, readBounds } from '#api/http/bounds.ts'
import { command, conflict, endpoint } from '#api/http/endpoint.ts'
import { ApiError } from '#api/http/errors.ts'
import { listEndpoint } from '#api/http/listEndpoint.ts'
import type { ListPage, ListResult } from '#api/http/pagination.ts'
import * as p from '#api/http/parameter.ts'
import { rawEndpoint } from '#api/http/rawEndpoint.ts'
import * as s from '#api/http/schema.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

interface Row {
  readonly number: number
  readonly memo: string | null
}
interface Rows {
  readonly rows: { list(page: ListPage): Promise<ListResult<Row>> }
}

const listRows = listEndpoint({
  path: '/v1/rows',
  summary: 'Rows.',
  filters: { address: p.address, sender: p.address, status: p.oneOf('success', 'reverted'), ...bounds },
  include: ['memo', 'totalCount'],
  item: s.named('Row', { id: s.text(), number: s.count, memo: s.optional(s.text()) }),
  check: ({ address, sender }) =>
    address && sender ? conflict('address', '`address` excludes `sender`') : undefined,
  list: ({ page, filters }, { rows }: Rows) => {
    readBounds(filters)
    return rows.list(page)
  },
  present: (row, include) => ({
    id: `${row.number}`,
    number: row.number,
    ...(include.has('memo') && row.memo !== null && { memo: row.memo }),
  }),
})

const readRow = endpoint({
  path: '/v1/rows/{number}',
  summary: 'One row.',
  params: { number: p.blockNumber },
  response: s.named('Row', { id: s.text(), number: s.count, memo: s.optional(s.text()) }),
  errors: ['block_not_found'],
  read: async ({ path }, _services: Rows) => {
    if (path.number > 100) throw new ApiError('block_not_found')
    return { number: path.number }
  },
  present: ({ number }) => ({ id: `${number}`, number }),
  cache: 'mined',
})

const createThing = command({
  method: 'POST',
  path: '/v1/things',
  summary: 'Creates a thing.',
  body: s.object({ name: s.text({ minLength: 1 }), tags: s.optional(s.array(s.text())) }),
  status: 201,
  response: s.object({ name: s.text() }),
  run: ({ body }, _services: object) => body,
  present: ({ name }) => ({ name }),
})

const readText = rawEndpoint({
  path: '/text',
  summary: 'Text.',
  produces: { 'text/plain': null },
  answer: (_call, _services: object) => ({
    kind: 'bytes',
    contentType: 'text/plain',
    body: 'x'.repeat(5000),
    cache: 'feed',
  }),
})

const fails = endpoint({
  path: '/v1/fails/{how}',
  summary: 'Fails.',
  params: { how: p.text(20) },
  response: s.object({}),
  read: async ({ path }): Promise<object> => {
    if (path.how === 'down') throw Object.assign(new Error('secret host:5432'), { code: 'ECONNREFUSED' })
    throw new Error('select secret from table')
  },
  present: () => ({}),
  cache: 'none',
})

let server: RunningServer
beforeAll(async () => {
  const rows = {
    list: async ({ limit }: ListPage) => ({
      rows: Array.from({ length: limit }, (_, number) => ({ number, memo: 'm' })),
      next: [limit],
      totalCount: 20_000,
    }),
  }
  server = await startServer([listRows, readRow, createThing, readText, fails], { rows })
})
afterAll(() => server.app.close())

test('a list answers with the envelope', async () => {
  const response = await fetch(`${server.origin}/v1/rows?include=memo,totalCount&limit=5`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    data: [{ id: '0', number: 0, memo: 'm' }, {}, {}, {}, {}],
    nextCursor: expect.any(String),
    meta: { totalCount: 10_000, totalCountCapped: true },
  })
})

const failures = [
  ['GET', '/v1/rows?nonsense=1', 400, 'query_invalid'],
  ['GET', '/v1/rows?limit=4', 400, 'query_invalid'],
  ['GET', '/v1/rows/x', 400, 'block_invalid'],
  ['GET', '/v1/rows/500', 404, 'block_not_found'],
  ['GET', '/v1/rows?cursor=zz&page=1', 422, 'parameter_conflict'],
  ['GET', '/nothing', 404, 'not_found'],
  ['DELETE', '/v1/rows/5', 405, 'method_not_allowed'],
  ['GET', '/%zz', 400, 'request_invalid'],
  ['GET', '/v1/fails/down', 502, 'upstream_error'],
  ['GET', '/v1/fails/other', 500, 'internal_error'],
] as const

test.each(failures)('%s %s is %i %s in the envelope', async (method, path, status, code) => {
  const response = await fetch(server.origin + path, { method })
  const body = await response.json()
  expect(response.status).toBe(status)
  expect(body).toMatchObject({ error: { code }, requestId: response.headers.get('svc-request-id') })
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(JSON.stringify(body)).not.toContain('secret')
})
