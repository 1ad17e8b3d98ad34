// Goal: clients that meet their quota back off and recover by themselves (API-13): viem, ethers and
// cast read the 429. Method: a door that admits a few calls a second, and clients that ask for more.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { retryAfter } from '#api/access/retryAfter.ts'
import { ApiError } from '#http/errors.ts'
import { type Access, anonymous } from '#http/request/access.ts'
import { type FakeNode, startNode } from '../../ingest/support/proxyNode.ts'
import { castBinary } from '../../support/cast.ts'
import { openRpcApi, plainNode, type RpcApi } from '../support/rpcApi.ts'

const WINDOW_MS = 1_000
const UNITS = 5
let node: FakeNode
let api: RpcApi
let refused = 0
let window = { sinceMs: 0, used: 0 }
const access: Access = {
  identify: () => ({ ...anonymous, isOperator: false }),
  admit: (_caller, _request, rule, units) => {
    const nowMs = performance.now()
    if (nowMs - window.sinceMs >= WINDOW_MS) window = { sinceMs: nowMs, used: 0 }
    window.used += units
    if (window.used <= UNITS) return { kind: 'admitted', headers: {} }
    refused++
    const leftMs = window.sinceMs + WINDOW_MS - nowMs
    throw new ApiError('rate_limit_exceeded', undefined, {
      headers: { 'Retry-After': retryAfter(rule, leftMs) },
    })
  },
}
beforeAll(async () => {
  const balance = `0x${'2a'.padStart(64, '0')}`
  node = await startNode({
    call: plainNode(
      () => 9,
      ({ method }) => (method === 'eth_call' ? { result: balance } : undefined),
    ),
  })
  api = await openRpcApi({ urls: [node.url], server: { access } })
})
afterAll(async () => {
  await api.close()
  await node.close()
})
beforeEach(() => {
  refused = 0
})

test('viem waits as long as it is told, and gets every answer', async () => {
  const client = createPublicClient({ transport: http(api.url) })
  for (let turn = 0; turn < 12; turn++) expect(await client.getChainId()).toBe(4217)
  expect(refused).toBeGreaterThan(0)
})

test('ethers gets every answer', async () => {
  const provider = new JsonRpcProvider(api.url, 4217, { staticNetwork: true, batchMaxCount: 1 })
  const heads = await Promise.all(Array.from({ length: 12 }, () => provider.send('eth_blockNumber', [])))
  expect(new Set(heads)).toEqual(new Set(['0x9']))
  expect(refused).toBeGreaterThan(0)
  provider.destroy()
})

test('cast gets its answer', async () => {
  const run = async () => (await promisify(execFile)(castBinary, ['chain-id', '--rpc-url', api.url])).stdout
  window = { sinceMs: performance.now() + WINDOW_MS, used: UNITS }
  expect((await run()).trim()).toBe('4217')
  expect(refused).toBeGreaterThan(0)
})
