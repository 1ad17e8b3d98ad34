// Goal: an agent reads the chain by tools: answers with their block, digest and cost, refusals with
// what to do, and no right or quota that the caller lacks.
// Method: the protocol's own client, which checks answers against the tools' schemas, over a
// recorded chain.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/routes/index.ts'
import { ApiError } from '#http/errors.ts'
import { type AccessRequest, anonymous } from '#http/request/access.ts'
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { isRecord } from '#primitives.ts'
import { askThrough, chainTools } from '#program/parts/orchestrator/ownEndpoints.ts'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { type RunningServer, startServer } from '../api/support/toolkitServer.ts'
import { readBalances } from '../store/support/balanceOracle.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../store/support/followers.ts'
import { openDemo } from './support/demo.ts'
import { OWN, ownCalls } from './support/ownCalls.ts'
import { unrewarded } from './support/unrewarded.ts'

const recording = 'tempo-dev-2k'

let api: ChainApi
let server: RunningServer
let client: Client
let isSpent = false
const admitted: { scope: string | null; address: string; key: unknown }[] = []
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  api = await openChainApi()
  await api.append(recordedBatches(recording, 3))
  const callContracts = recordedCalls(recording, readBalances(recording))
  await followersOf(api.store, { callContracts }).settle()
  const { state } = api
  const demo = await openDemo((end) => void ends.push(end))
  const services = {
    ...api.services,
    ...demo.services,
    reviews: unrewarded(demo.catalog.app),
    publicOrigin: null,
    resultsKeptMs: 86_400_000,
    version: '1.2.3',
    chainTools,
    askOwn: askThrough(() => server.app),
  }
  server = await startServer([...endpoints, mcpEndpoint], services, {
    chains: [api.chainId],
    freshness: {
      read: () => ({
        indexedBlock: state.tip,
        finalizedBlock: state.finalized < 0 ? null : state.finalized,
        headBlock: state.tip,
        version: state.seq,
      }),
      waitForBlock: () => Promise.resolve(),
    },
    access: {
      identify: () => anonymous,
      admit: (_caller, { remoteAddress, headers }: AccessRequest, { scope }) => {
        admitted.push({ scope, address: remoteAddress, key: headers['svc-api-key'] })
        if (isSpent && scope === 'indexer:query') throw new ApiError('rate_limit_exceeded')
        return { kind: 'admitted', headers: {} }
      },
    },
  })
  client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'svc-api-key': 'a-key' } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.origin), { requestInit }))
})
afterAll(async () => {
  await client?.close()
  await server?.app.close()
  await api?.close()
  for (const end of ends) await end()
})

async function call(name: string, given: Readonly<Record<string, unknown>>) {
  const { structuredContent, isError } = await client.callTool({ name, arguments: given })
  expect(isError).toBeUndefined()
  if (!isRecord(structuredContent)) throw new Error(`${name} has no structured content`)
  return structuredContent
}

async function failure(name: string, given: Readonly<Record<string, unknown>>) {
  const { content, isError } = await client.callTool({ name, arguments: given })
  expect(isError).toBe(true)
  const [first] = Array.isArray(content) ? content : []
  return JSON.parse(first.text)
}

describe('chain data for agents', () => {
  it('is listed behind the tools of services, by the endpoints’ own parameters', async () => {
    expect(client.getServerVersion()).toEqual({ name: 'millrace', version: '1.2.3' })
    const { tools } = await client.listTools()
    expect(tools.slice(-3).map(({ name }) => name)).toEqual([
      'query_chain',
      'list_transfers',
      'list_balances',
    ])
    expect(tools.slice(-3).map(({ inputSchema }) => inputSchema.required ?? [])).toEqual([
      ['sql'],
      [],
      ['address'],
    ])
    for (const { annotations } of tools.slice(-3))
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false })
  })

  it('says the same as the API, with block, digest and cost', async () => {
    const found = await call('list_transfers', { limit: 5 })
    const { body } = await api.get('/v1/transfers?limit=5')
    expect(found).toMatchObject({
      block: { indexed: api.state.tip },
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      cost: { amount: '0', currency: 'USD' },
      data: { data: body.data },
    })
    const account = body.data[0].recipient
    const shouted = await call('list_transfers', { address: account.toUpperCase().replace('X', 'x') })
    const same = await api.get(`/v1/transfers?address=${account}&limit=50`)
    expect(shouted['data']).toMatchObject({ data: same.body.data })
    expect((await call('list_transfers', { address: account }))['digest']).toBe(shouted['digest'])
    const held = await api.get(`/v1/addresses/${account}/balances?limit=5`)
    expect(held.body.data.length).toBeGreaterThan(0)
    expect(await call('list_balances', { address: account, limit: 5 })).toMatchObject({
      block: { indexed: api.state.tip },
      data: { data: held.body.data },
    })
    const counted = await call('query_chain', { sql: 'SELECT count(*) AS n FROM blocks' })
    expect(counted).toMatchObject({
      block: { indexed: api.state.tip },
      data: { columns: ['n'], rows: [[`${api.state.tip + 1}`]] },
    })
    expect(counted['digest']).toBe(isRecord(counted['data']) && counted['data']['digest'])
    expect(counted['cost']).toMatchObject({ amount: expect.stringMatching(/^0\.\d{9}$/) })
  })

  it('is what a job’s own node gets, as a stranger of its own and by no connection', async () => {
    const buy = ownCalls(() => server.app)
    admitted.length = 0
    const found = await buy(`${OWN}/v1/transfers?limit=5`)
    const { body } = await api.get('/v1/transfers?limit=5')
    expect(found).toMatchObject({
      kind: 'answered',
      status: 200,
      contentType: 'application/json',
      paid: null,
    })
    expect(JSON.parse(`${found.kind === 'answered' && found.body}`)).toMatchObject({ data: body.data })
    const sql = JSON.stringify({ sql: 'SELECT count(*) AS n FROM blocks' })
    expect(await buy(`${OWN}/v1/indexer/query`, { method: 'POST', body: sql })).toMatchObject({ status: 200 })
    const addresses = new Set(admitted.map(({ address }) => address))
    expect([addresses.size, [...addresses].every((address) => address.startsWith('2001:db8:'))]).toEqual([
      2,
      true,
    ])
    expect(await buy(`${OWN}/v1/transfers?limit=5`, { bytesMax: 100 })).toMatchObject({
      code: 'answer_refused',
    })
    expect(await buy(`${OWN}/v1/transfers`, { deadlineMs: 0 })).toMatchObject({ code: 'deadline_passed' })
    expect(await buy('http://127.0.0.1:8081/v1/transfers')).toMatchObject({ kind: 'unknown' })
  })

  it('counts against its caller, as the same request would', async () => {
    admitted.length = 0
    await call('list_transfers', { limit: 5 })
    expect(admitted).toEqual([
      { scope: 'services:plan', address: '127.0.0.1', key: 'a-key' },
      { scope: 'data:read', address: '127.0.0.1', key: 'a-key' },
    ])
    isSpent = true
    expect(await failure('query_chain', { sql: 'SELECT 1 AS n FROM blocks' })).toMatchObject({
      error: { code: 'rate_limit_exceeded' },
      next_action: expect.stringMatching(/wait/i),
    })
    isSpent = false
  })

  it('tells what was wrong, and where', async () => {
    const sql = await failure('query_chain', { sql: 'SELECT num,\n nonsense FROM blocks' })
    expect(sql).toMatchObject({
      error: { code: 'sql_invalid', details: [{ line: 2 }] },
      next_action: expect.stringMatching(/SQL/),
    })
    expect((await failure('list_transfers', { nonsense: 1 })).error.code).toBe('body_invalid')
    expect((await failure('list_balances', { address: '0x12' })).error.code).toMatch(/_invalid$/)
    expect((await failure('list_transfers', { chainId: 999 })).error.code).toBe('chain_id_unsupported')
  })
})
