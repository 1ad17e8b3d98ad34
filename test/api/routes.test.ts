// Goal: every read refuses what it does not accept in the words and statuses of the specification,
// answers what its own OpenAPI document says, and tells how fresh it is. Method: requests to a real
// server over the recorded chain.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { fullTest } from '../support/breadth.ts'
import { type ChainApi, openChainApi } from './support/chainApi.ts'
import { documentedReads, type ResponseCheck, responseCheck } from './support/openapi.ts'
import { type Oracle, readOracle } from './support/oracle.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const absent = `0x${'12'.repeat(32)}`
const account = `0x${'12'.repeat(20)}`

let api: ChainApi
let oracle: Oracle
let check: ResponseCheck
beforeAll(async () => {
  oracle = readOracle(recording)
  api = await openChainApi({
    server: {
      freshness: {
        read: () => ({ indexedBlock: api.state.tip, finalizedBlock: api.state.finalized, headBlock: 125 }),
        waitForBlock: (_chain, _block, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    },
  })
  await api.append(recordedBatches(recording, 10))
  await api.finalize(100)
  check = await responseCheck(api)
})
afterAll(() => api.close())

describe('reads that are refused', () => {
  const refusals: [string, number, string, string?][] = [
    ['/v1/blocks?limit=4', 400, 'query_invalid', 'limit'],
    ['/v1/blocks?limit=201', 400, 'query_invalid', 'limit'],
    ['/v1/blocks?order=up', 400, 'query_invalid', 'order'],
    ['/v1/blocks?page=0', 400, 'query_invalid', 'page'],
    ['/v1/blocks?page=1001&limit=10', 400, 'query_invalid', 'page'],
    ['/v1/blocks?page=1&cursor=x', 422, 'parameter_conflict', 'page'],
    ['/v1/blocks?address=1', 400, 'query_invalid', 'address'],
    ['/v1/blocks?chainId=7', 400, 'chain_id_unsupported', 'chainId'],
    ['/v1/blocks/banana', 400, 'block_invalid', 'block'],
    ['/v1/blocks/-1', 400, 'block_invalid', 'block'],
    ['/v1/blocks/2026-13-01T00:00:00Z', 400, 'block_invalid', 'block'],
    ['/v1/blocks/0xzz', 400, 'block_invalid', 'block'],
    ['/v1/blocks/123', 404, 'block_not_found'],
    ['/v1/blocks/0X7B', 404, 'block_not_found'],
    ['/v1/blocks/99999999999999999999999', 404, 'block_not_found'],
    [`/v1/blocks/${absent}`, 404, 'block_not_found'],
    ['/v1/blocks/1960-01-01T00:00:00Z', 404, 'block_not_found'],
    ['/v1/transactions?sender=0x12', 400, 'query_invalid', 'sender'],
    [`/v1/transactions?address=${account}&sender=${account}`, 422, 'parameter_conflict', 'address'],
    [`/v1/transactions?address=${account}&recipient=${account}`, 422, 'parameter_conflict', 'address'],
    ['/v1/transactions?status=failed', 400, 'query_invalid', 'status'],
    ['/v1/transactions?blockNumber.from=9&blockNumber.to=8', 422, 'range_invalid', 'blockNumber.from'],
    [
      '/v1/transactions?timestamp.from=2026-02-02T00:00:00Z&timestamp.to=2026-02-01T00:00:00Z',
      422,
      'range_invalid',
      'timestamp.from',
    ],
    ['/v1/transactions?timestamp.from=yesterday', 400, 'query_invalid', 'timestamp.from'],
    ['/v1/transactions?include=logs', 400, 'query_invalid', 'include'],
    ['/v1/transactions/0x12', 400, 'transaction_invalid', 'transactionHash'],
    [`/v1/transactions/${absent}`, 404, 'transaction_not_found'],
    [`/v1/transactions/${absent}?include=totalCount`, 400, 'query_invalid', 'include'],
    ['/v1/transfers?token=pathUSD', 400, 'query_invalid', 'token'],
    [`/v1/transfers?address=${account}&sender=${account}`, 422, 'parameter_conflict', 'address'],
    ['/v1/transfers?include=logs', 400, 'query_invalid', 'include'],
    ['/ready?scope=everything', 400, 'query_invalid', 'scope'],
  ]

  test.each(refusals)('%s is %i %s', async (path, status, code, name) => {
    const { status: given, body, headers } = await api.get(path)
    expect([given, body.error.code]).toEqual([status, code])
    expect(body.requestId).toBe(headers.get('svc-request-id'))
    expect(headers.get('cache-control')).toBe('no-store')
    if (name) expect(body.error.details[0].path.at(-1)).toBe(name)
  })

  test('cursors are of one list: another filter, order or chain begins anew and says so', async () => {
    const { body } = await api.get('/v1/transactions?limit=5')
    const head = (await api.get('/v1/transactions?limit=5&order=asc')).body.data
    for (const cursor of [body.nextCursor, 'forged', `${body.nextCursor}A`]) {
      const other = await api.get(`/v1/transactions?limit=5&order=asc&cursor=${encodeURIComponent(cursor)}`)
      expect(other.body.data).toEqual(head)
      expect(other.body.meta).toMatchObject({ cursorReset: true, totalCountCapped: false })
      expect(check('/v1/transactions', other)).toEqual([])
    }
  })
})

describe('reads and what is written of them', () => {
  test.each(documentedReads)('%s answers as its document says: %s', async (template, path) => {
    expect(check(template, await api.get(path))).toEqual([])
  })

  test('the examples of the reference name what is there', async () => {
    const { body: document } = await api.get('/openapi.json')
    const exampleOf = (path: string) => document.paths[path].get.parameters[0].schema.examples[0]
    const hash = exampleOf('/v1/transactions/{transactionHash}')
    const final = oracle.transactions.filter((tx) => tx.blockNumber <= 100)
    expect(final.map((tx) => tx.hash)).toContain(hash)
    for (const path of [
      '/v1/receipts/{transaction}',
      '/v1/addresses/{address}/activities',
      '/v1/tokens/{token}/transactions',
    ]) {
      const { status } = await api.get(path.replace(/\{\w+\}/, exampleOf(path)))
      expect([path, status]).toEqual([path, 200])
    }
  })
})

describe('what reads carry', () => {
  test('every answer with chain data says how fresh it is', async () => {
    for (const path of [
      '/v1/blocks',
      '/v1/blocks/5',
      '/v1/transactions',
      '/v1/transfers',
      '/v1/indexer/query?sql=SELECT+1',
    ]) {
      const { headers } = await api.get(path)
      expect([
        headers.get('svc-indexed-block'),
        headers.get('svc-finalized-block'),
        headers.get('svc-lag-blocks'),
      ]).toEqual([`${lastBlock}`, '100', '3'])
    }
    expect((await api.get(`/v1/blocks?minBlock=${lastBlock}`)).status).toBe(200)
  })

  test('a mined transaction may be kept for a day once it is final, and not before', async () => {
    const [final, recent] = [100, 121].map((block) =>
      oracle.transactions.find((tx) => tx.blockNumber >= block),
    )
    const cacheOf = async (hash: string | undefined) =>
      (await api.get(`/v1/transactions/${hash}`)).headers.get('cache-control')
    expect(final?.blockNumber).toBe(100)
    expect(await cacheOf(final?.hash)).toBe('private, max-age=86400, stale-while-revalidate=604800')
    expect(await cacheOf(recent?.hash)).toBe('no-store')
  })

  test('a pending transaction comes from the node, with null for what a block would tell', async () => {
    const [tempo] = oracle.transactions.filter(
      (tx) => tx.rpc['type'] === '0x76' && tx.rpc['calls'].length > 1,
    )
    if (!tempo) throw new Error('the recording has no batch of calls')
    const pending = {
      ...tempo.rpc,
      hash: absent,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
      blockTimestamp: null,
      validBefore: '0xffffffffffffffff',
    }
    api.nodeAnswers.set(absent, pending)
    const { status, body, headers } = await api.get(`/v1/transactions/${absent}?include=receipt`)
    const mined = (await api.get(`/v1/transactions/${tempo.hash}`)).body
    api.nodeAnswers.delete(absent)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const { feeToken: _paid, ...fields } = mined
    expect(body).toEqual({
      ...fields,
      ...(tempo.rpc['feeToken'] && { feeToken: tempo.rpc['feeToken'] }),
      id: absent,
      hash: absent,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
      timestamp: null,
      recipient: tempo.rpc['calls'][0].to,
      validBefore: null,
      meta: { rpc: pending },
    })
  })

  test('numbers of 64 bits leave with all their digits, alone and in lists', async () => {
    const [tx] = oracle.transactions
    const { postgres, schema } = api.store
    const wide = '9223372036854775807'
    const change = (nonce: string, gas: string) =>
      postgres.pool.query(
        `UPDATE ${schema}.txs SET nonce = $1, gas_limit = $2, cumulative_gas_used = $2 WHERE hash = $3`,
        [nonce, gas, Buffer.from(`${tx?.hash}`.slice(2), 'hex')],
      )
    const found = await api.get(`/v1/transactions/${tx?.hash}?include=receipt`)
    const { nonce, gas } = found.body
    await change('9007199254740993', wide)
    const textOf = async (path: string) => (await fetch(api.server.origin + path)).text()
    const texts = await Promise.all([
      textOf(`/v1/transactions/${tx?.hash}?include=receipt`),
      textOf('/v1/transactions?limit=5&order=asc&include=receipt'),
    ])
    await change(`${nonce}`, `${gas}`)
    for (const text of texts) {
      expect(text).toContain('"nonce":9007199254740993,')
      expect(text).toContain(`"gas":${wide},`)
      expect(text).toContain(`"cumulativeGasUsed":${wide},`)
    }
  })

  test('a list is fresh for seconds, and a client that holds it already gets 304', async () => {
    const first = await fetch(`${api.server.origin}/v1/transfers`)
    const tag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toBe('private, max-age=10, stale-while-revalidate=30')
    await first.arrayBuffer()
    const again = await fetch(`${api.server.origin}/v1/transfers`, { headers: { 'if-none-match': tag } })
    expect(again.status).toBe(304)
  })
})

describe('reads of a chain that is not there', () => {
  test('nothing is held yet: lists are empty lower bounds, blocks are not found', async () => {
    const api = await openChainApi()
    afterAll(() => api.close())
    const list = await api.get('/v1/transfers?include=totalCount')
    expect(list.body).toEqual({
      data: [],
      nextCursor: null,
      meta: { totalCount: 0, totalCountCapped: true },
    })
    expect((await api.get('/v1/blocks/latest')).status).toBe(404)
    const ready = await api.get('/ready')
    expect([ready.status, ready.body.ready]).toEqual([503, false])
    expect((await api.get('/health')).body).toEqual({ ok: true })
  })

  fullTest('a database that does not answer is 502, and tells nothing of itself', async () => {
    const api = await openChainApi()
    onTestFinished(() => api.close())
    await api.append(recordedBatches(recording, 10).slice(0, 1))
    const away = openPostgres({
      url: 'postgres://millrace:hidden@127.0.0.1:1/nowhere',
      applicationName: 'test',
      log: silentLogger,
    })
    const { chains } = api.services
    const reads = chains.get(api.chainId)
    if (!reads) throw new Error('no chain')
    const broken = await openChainApi({
      services: { chains: new Map([[api.chainId, { ...reads, postgres: away }]]) },
      server: { chains: [api.chainId] },
    })
    onTestFinished(() => broken.close())
    for (const path of [
      '/v1/blocks',
      '/v1/blocks/5',
      '/v1/transactions',
      `/v1/transactions/${absent}`,
      '/v1/transfers',
    ]) {
      const { status, body } = await broken.get(path)
      expect([path, status, body.error.code]).toEqual([path, 502, 'upstream_error'])
      expect(JSON.stringify(body)).not.toMatch(/hidden|nowhere|127\.0\.0\.1/)
    }
    expect((await broken.get('/openapi.json')).body.openapi).toBe('3.1.0')
    await away.close()
  })
})

describe('the program about itself', () => {
  test('/ready waits for a block, and health turns when the program stops', async () => {
    const api = await openChainApi()
    afterAll(() => api.close())
    const batches = recordedBatches(recording, 10)
    const waiting = api.get('/ready?minBlock=15')
    await api.append(batches.slice(0, 2))
    expect(await waiting).toMatchObject({ status: 200, body: { ready: true } })
    const never = api.get('/ready?minBlock=500')
    const metrics = await api.get('/metrics')
    expect(metrics.headers.get('content-type')).toContain('text/plain')
    expect(metrics.body).toContain('millrace_http_request_seconds')
    expect((await api.get('/status')).body.chains[0]).toMatchObject({
      chainId: api.chainId,
      stores: { postgres: { tip: 19, coverage: [{ from: 0, to: 19 }] } },
    })
    api.shutdown.abort()
    expect(await never).toMatchObject({ status: 503, body: { ready: false } })
    expect((await api.get('/health')).body).toEqual({ ok: false, reason: 'the program is stopping' })
    expect((await api.get('/ready')).status).toBe(503)
  })
})
