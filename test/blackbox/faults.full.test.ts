// Goal: the black box would see a deployment that breaks the contract. Method: a good API behind a
// proxy that breaks one rule at a time; the check that watches the rule must fail, and without a
// fault none does.
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import type { Json } from './apiDocument.ts'
import { runBlackbox } from './blackbox.ts'

interface Fault {
  /** Changes what is asked. */
  readonly request?: (url: URL, headers: Headers) => void
  /** Changes what is answered. */
  readonly response?: (answer: { status: number; headers: Headers; body: Json }) => void
}

const without = (name: string): Fault => ({ request: (url) => url.searchParams.delete(name) })
const withoutHeader = (name: string): Fault => ({ response: ({ headers }) => headers.delete(name) })
const withRows = (change: (row: Json) => void): Fault => ({
  response: ({ body }) => {
    for (const row of body?.data ?? []) change(row)
  },
})
const withHeader = (name: string, change: (value: string) => string): Fault => ({
  response: ({ headers }) => headers.set(name, change(headers.get(name) ?? '')),
})

/** Title, operation, the check that must fail, what it must say, the fault. */
const faults: readonly (readonly [string, string, string, RegExp, Fault])[] = [
  [
    'an unknown property',
    '/v1/blocks',
    'answers',
    /additional/,
    withRows((row) => Object.assign(row, { x: 1 })),
  ],
  [
    'a missing property',
    '/v1/blocks',
    'answers',
    /required/,
    withRows((row) => Reflect.deleteProperty(row, 'hash')),
  ],
  ['no request id', '/v1/blocks', 'answers', /svc-request-id/, withoutHeader('svc-request-id')],
  ['no freshness', '/v1/blocks', 'answers', /svc-lag-blocks/, withoutHeader('svc-lag-blocks')],
  ['no CORS', '/v1/blocks', 'answers', /its own too/, withoutHeader('access-control-allow-origin')],
  ['cursors ignored', '/v1/blocks', 'paging', /twice/, without('cursor')],
  ['pages ignored', '/v1/blocks', 'paging', /not the page of the walk/, without('page')],
  [
    'a silent reset',
    '/v1/blocks',
    'paging',
    /not told/,
    { response: ({ body }) => Reflect.deleteProperty(body ?? {}, 'meta') },
  ],
  ['a filter ignored', '/v1/transfers', 'filters', /sender=.* lets others through/, without('sender')],
  ['a bound ignored', '/v1/transfers', 'filters', /blockNumber.to=.* lets others/, without('blockNumber.to')],
  ['a total left out', '/v1/transfers', 'paging', /no total/, without('include')],
  ['unknown parameters taken', '/v1/blocks', 'bad input', /nonsense=1 answers 200/, without('nonsense')],
  ['limits not kept', '/v1/blocks', 'bad input', /limit=\S* answers 200/, without('limit')],
  ['weak tags', '/v1/blocks', 'transport', /no strong ETag/, withHeader('etag', (tag) => `W/${tag}`)],
  [
    'no 304',
    '/v1/blocks',
    'transport',
    /its own ETag answers 200/,
    { request: (_url, headers) => headers.delete('if-none-match') },
  ],
  [
    'errors stored',
    '/v1/blocks',
    'bad input',
    /may be stored/,
    withHeader('cache-control', () => 'max-age=60'),
  ],
]

describe('a deployment that breaks one rule', () => {
  let api: ChainApi
  let fault: Fault = {}
  const proxy = createServer(pass)
  let origin: string

  beforeAll(async () => {
    const freshness = {
      read: () => ({
        indexedBlock: api.state.tip,
        finalizedBlock: api.state.finalized,
        headBlock: api.state.tip,
      }),
      waitForBlock: async () => {},
    }
    api = await openChainApi({ server: { freshness } })
    await api.append(recordedBatches('tempo-dev-2k', 10))
    await api.finalize(122)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    proxy.close()
    await api.close()
  })

  function pass(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', api.server.origin)
    const headers = new Headers()
    for (const name of ['if-none-match', 'accept-encoding'])
      if (request.headers[name]) headers.set(name, String(request.headers[name]))
    // A list of encodings is what fetch sends by itself; one alone is what a check is about.
    if (headers.get('accept-encoding')?.includes(',')) headers.set('accept-encoding', 'identity')
    fault.request?.(url, headers)
    const upstream = sendRequest(url, { method: request.method, headers: Object.fromEntries(headers) })
    upstream.on('response', async (given) => {
      const bytes = await buffer(given)
      const isJson = given.headers['content-type']?.includes('json') && !given.headers['content-encoding']
      const body = isJson && bytes.length > 0 ? JSON.parse(`${bytes}`) : undefined
      const answer = { status: given.statusCode ?? 0, headers: headersOf(given), body }
      fault.response?.(answer)
      if (body !== undefined) answer.headers.delete('content-length')
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(body === undefined ? bytes : JSON.stringify(answer.body))
    })
    upstream.end()
  }

  test.each(['/v1/blocks', '/v1/transfers'])('without a fault %s passes', async (only) => {
    fault = {}
    const results = await runBlackbox(origin, { only })
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
  })

  test.each(faults)('%s', async (_title, path, check, words, broken) => {
    fault = broken
    const results = await runBlackbox(origin, { only: path })
    const told = results.filter((result) => result.operation === `GET ${path}` && result.check === check)
    expect(told.flatMap(({ failures }) => failures).join('\n')).toMatch(words)
  })
})

function headersOf({ headers }: IncomingMessage): Headers {
  const kept = Object.entries(headers).filter(([name]) => name !== 'connection' && name !== 'keep-alive')
  return new Headers(kept.map(([name, value]): [string, string] => [name, String(value)]))
}
