// Goal: what never changes is asked of a node once, what may change is never kept, and equal reads
// under way are one (API-13). Method: a node that counts and answers as it is told, behind a real
// server over a recorded chain of which the first 50 blocks are final.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Access, anonymous } from '#http/request/access.ts'
import { type FakeNode, type NodeAnswer, startNode } from '../../ingest/support/proxyNode.ts'
import { attachHistory, recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { door, node as nodeOf, openRpcApi, plainNode, type RpcApi } from '../support/rpcApi.ts'

const TIP = 60
const FINAL = 50
const hex = (value: number) => `0x${value.toString(16)}`

describe('reads', () => {
  let chain: ChainApi
  let node: FakeNode
  let api: RpcApi
  let head = TIP
  let answer: (block: unknown) => NodeAnswer | Promise<NodeAnswer>
  let asked: unknown[] = []
  let admitted = 0
  const access: Access = {
    identify: () => ({ ...anonymous, isOperator: false }),
    admit: () => {
      admitted++
      return { kind: 'admitted', headers: {} }
    },
  }
  const logged: object[] = []
  beforeAll(async () => {
    chain = await openChainApi()
    await chain.append(recordedBatches('tempo-dev-2k', 60).slice(0, 1))
    await chain.finalize(FINAL)
    const plain = plainNode(() => head)
    node = await startNode({
      call: (call) => {
        const { method, params } = call
        if (method !== 'eth_call' && method !== 'eth_gasPrice') return plain(call)
        asked.push(params[1])
        return answer(params[1])
      },
    })
    const { state, store } = chain
    const debug = (facts: object) => logged.push(facts)
    const log = { debug, info() {}, warn() {}, error() {}, fatal() {}, trace() {} }
    const stored = { state, postgres: store.postgres }
    api = await openRpcApi({
      urls: [node.url],
      stored,
      log: Object.assign(Object.create(null), log),
      server: { access },
    })
  })
  afterAll(async () => {
    await api.close()
    await node.close()
    await chain.close()
  })
  beforeEach(() => {
    head = TIP
    asked = []
    admitted = 0
    answer = (block) => ({ result: `0x${String(block).slice(2).padStart(4, '0')}` })
  })
  const callAt = (block: unknown, data = '0x') => api.call('eth_call', { data }, block)

  test('of the state of a final block are asked once, by its number', async () => {
    for (let turn = 0; turn < 3; turn++) expect((await callAt(hex(FINAL))).result).toBe('0x0032')
    expect(asked).toEqual([hex(FINAL)])
    await callAt(hex(FINAL), '0x01')
    await callAt(hex(FINAL - 1))
    expect(asked).toHaveLength(3)
  })

  test('of blocks that may still be replaced are asked each time', async () => {
    for (const block of [hex(FINAL + 1), hex(FINAL + 1), 'latest', 'latest', 'pending', 'pending'])
      await callAt(block, '0x02')
    expect(asked).toHaveLength(6)
  })

  test('of a tag follow the tag', async () => {
    head = 30
    answer = (block) => ({ result: block })
    head = 20
    const fresh = await openRpcApi({
      urls: [node.url],
      stored: { state: chain.state, postgres: chain.store.postgres },
    })
    const finalized = () => fresh.call('eth_call', { data: '0x03' }, 'finalized')
    expect((await finalized()).result).toBe(hex(18))
    expect((await finalized()).result).toBe(hex(18))
    head = 40
    expect((await finalized()).result).toBe(hex(38))
    expect(asked).toEqual([hex(18), hex(38)])
    await fresh.close()
  })

  test('that say nothing, or fail, are asked again', async () => {
    const nothing: NodeAnswer[] = [
      { result: null },
      { result: [] },
      { error: { code: 3, message: 'execution reverted' } },
    ]
    for (const [index, one] of nothing.entries()) {
      answer = () => one
      await callAt(hex(10), hex(index))
      answer = () => ({ result: '0x77' })
      expect((await callAt(hex(10), hex(index))).result).toBe('0x77')
    }
  })

  test('that are equal and under way are one, and the one that leaves ends none of the others', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    answer = async () => {
      await held
      return { result: '0x9' }
    }
    const leaving = new AbortController()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] })
    const headers = { 'content-type': 'application/json' }
    const { signal } = leaving
    const first = fetch(api.url, { method: 'POST', headers, body, signal }).catch(() => null)
    await expect.poll(() => asked.length).toBe(1)
    const others = Array.from({ length: 20 }, () => api.call('eth_gasPrice'))
    // Admission is the last thing that a call waits for before it joins.
    await expect.poll(() => admitted).toBe(21)
    leaving.abort()
    await first
    release()
    for (const one of await Promise.all(others)) expect(one.result).toBe('0x9')
    expect(asked).toHaveLength(1)
    expect((await api.call('eth_gasPrice')).result).toBe('0x9')
    expect(asked).toHaveLength(2)
  })

  test('are logged by method, never with what was asked for', async () => {
    logged.length = 0
    await callAt(hex(10), '0xfeedbeef')
    await api.call('eth_getBlockByNumber', hex(10), false)
    await api.call('eth_feedbeef')
    expect(logged).toMatchObject([
      { method: 'eth_call', source: 'node' },
      { method: 'eth_getBlockByNumber', source: 'store' },
      { method: 'unknown', source: 'refused' },
    ])
    expect(JSON.stringify(logged)).not.toContain('feedbeef')
  })
})

test('the state below a gap is asked each time, until what lies between is held', async () => {
  const chain = await openChainApi({ headFrom: 20 })
  onTestFinished(() => chain.close())
  const [low, between, top] = recordedBatches('tempo-dev-2k', 10)
  if (!low || !between || !top) throw new Error('three batches')
  await chain.append([top])
  await chain.finalize(25)
  const plain = plainNode(() => 29)
  const asked: unknown[] = []
  const { url } = await nodeOf({
    call: (call) => {
      if (call.method !== 'eth_call') return plain(call)
      asked.push(call.params[1])
      return { result: '0x1' }
    },
  })
  const { state, store } = chain
  const api = await door({ urls: [url], stored: { state, postgres: store.postgres } })
  const attach = async (batch: typeof low) => {
    await attachHistory(store, batch)
    await state.refresh()
  }
  const askTwice = async (block: number) => {
    asked.length = 0
    for (let turn = 0; turn < 2; turn++) await api.call('eth_call', { data: '0x' }, hex(block))
    return asked.length
  }
  await attach(low)
  expect([await askTwice(5), await askTwice(15), await askTwice(20)]).toEqual([2, 2, 1])
  await attach(between)
  expect([await askTwice(5), await askTwice(15), await askTwice(20)]).toEqual([1, 1, 0])
})
