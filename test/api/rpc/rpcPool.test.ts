// Goal: many nodes answer like one honest one. Method: nodes of a few lines that lag, fail, lie low
// or talk of their provider, behind a real server; what a client gets is compared with what the
// best of them says.
import { describe, expect, test } from 'vitest'
import type { NodeAnswer, NodeCall } from '../../ingest/support/proxyNode.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { few, share } from '../../support/breadth.ts'
import { answersWith, door, node, plainNode } from '../support/rpcApi.ts'
import { HEAD, threeNodes, troubled, troubles } from './support/poolNodes.ts'

describe('trouble of a provider moves a call on and is never shown', () => {
  const gas = answersWith('eth_gasPrice', { result: '0x2a' })
  test.each(share(troubles, 6))('%s', async (_title, tell) => {
    const bad = await node(troubled(tell))
    const good = await node({ call: plainNode(() => 9, gas) })
    const both = await door({ urls: [bad.url, good.url] })
    for (let turn = 0; turn < 3; turn++)
      expect(await both.call('eth_gasPrice')).toEqual({ jsonrpc: '2.0', id: 1, result: '0x2a' })
    const alone = await door({ urls: [bad.url] })
    const lone = await alone.send('{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}')
    expect([lone.status, JSON.parse(lone.text).error.code]).toEqual([502, 'upstream_error'])
    const batch = await alone.send(
      '[{"jsonrpc":"2.0","id":5,"method":"eth_gasPrice"},{"jsonrpc":"2.0","id":6,"method":"eth_chainId"}]',
    )
    expect(JSON.parse(batch.text)).toEqual([
      { jsonrpc: '2.0', id: 5, error: { code: -32603, message: 'internal error: no node answered' } },
      { jsonrpc: '2.0', id: 6, result: '0x1079' },
    ])
    expect(lone.text + batch.text).not.toMatch(/invoice|plan|upstream"|provider|authenticated|slow/)
  })
})

test('what a node says of a call itself passes unchanged, and costs the endpoint nothing', async () => {
  const error = { code: -32000, message: 'insufficient funds for gas * price + value: have 1 want 2' }
  const first = await node({ call: plainNode(() => 9, answersWith('eth_estimateGas', { error })) })
  const api = await door({ urls: [first.url] })
  for (let turn = 0; turn < 5; turn++) expect((await api.call('eth_estimateGas', {})).error).toEqual(error)
  expect(api.source.endpoints()[0]).toMatchObject({ state: 'healthy', lastFailure: null })
})

test('a failure that passes is not told, though no other node is there', async () => {
  let failures = 2
  const only = await node({
    call: plainNode(() => 9, answersWith('eth_gasPrice', { result: '0x2a' })),
    request: (calls, response) => {
      if (Object(calls).method !== 'eth_gasPrice' || failures-- <= 0) return false
      response.writeHead(503).end()
      return true
    },
  })
  const api = await door({ urls: [only.url] })
  expect((await api.call('eth_gasPrice')).result).toBe('0x2a')
})

test('a slow read is asked at a second endpoint, and the slow one is dropped', async () => {
  let dropped = 0
  const slow = await node({
    call: plainNode(() => 9),
    request: (calls, response) => {
      if (Object(calls).method !== 'eth_gasPrice') return false
      response.on('close', () => {
        dropped++
      })
      return true
    },
  })
  const good = await node({ call: plainNode(() => 8, answersWith('eth_gasPrice', { result: '0x2a' })) })
  const api = await door({ urls: [slow.url, good.url] })
  expect((await api.call('eth_gasPrice')).result).toBe('0x2a')
  await expect.poll(() => dropped).toBe(1)
})

test('a client that leaves ends its call', async () => {
  let asked = 0
  let dropped = 0
  const slow = await node({
    call: plainNode(() => 9),
    request: (calls, response) => {
      if (Object(calls).method !== 'eth_gasPrice') return false
      asked++
      response.on('close', () => {
        dropped++
      })
      return true
    },
  })
  const api = await door({ urls: [slow.url] })
  const leaving = new AbortController()
  const request = fetch(api.url, {
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}',
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  }).catch(() => {})
  await expect.poll(() => asked).toBe(1)
  leaving.abort()
  await request
  await expect.poll(() => dropped).toBe(1)
})

describe('one view', () => {
  const CALLS = few([400, 9_600], 1).reduce((sum, calls) => sum + calls, 0)
  test('no number goes back and no list is short, whoever answers', async () => {
    const { nodes, grow } = await threeNodes()
    const api = await door({ urls: nodes.map(({ url }) => url) })
    const random = seededRandom(3)
    let told = 0
    const see = (number: number) => {
      expect(number).toBeGreaterThanOrEqual(told)
      told = number
    }
    for (let turn = 0; turn < CALLS; turn++) {
      if (random() < 0.2) grow()
      const kind = random()
      if (kind < 0.25) see(Number((await api.call('eth_blockNumber')).result))
      else if (kind < 0.5)
        see(Number((await api.call('eth_getBlockByNumber', 'latest', false)).result.number))
      else if (kind < 0.6)
        expect(Number((await api.call('eth_call', {}, 'latest')).result)).toBeGreaterThanOrEqual(told)
      else if (kind < 0.7 && told > 0)
        expect(
          (await api.call('eth_getBlockByNumber', `0x${told.toString(16)}`, false)).result,
        ).not.toBeNull()
      else if (kind < 0.85) {
        const { result, error } = await api.call('eth_getLogs', {
          address: `0x${'11'.repeat(20)}`,
          fromBlock: '0x3de',
        })
        expect([turn, error]).toEqual([turn, undefined])
        expect(result.length).toBeGreaterThanOrEqual(told - 0x3de + 1)
        see(Number(result.at(-1).blockNumber))
      } else {
        const calls = ['eth_blockNumber', 'eth_getBlockByNumber', 'eth_blockNumber'].map((method, id) => ({
          jsonrpc: '2.0',
          id,
          method,
          params: method === 'eth_blockNumber' ? [] : ['latest', false],
        }))
        const { text } = await api.send(JSON.stringify(calls))
        expect([turn, text]).toEqual([turn, expect.not.stringContaining('"error":')])
        const answers: { result: { number?: string } }[] = JSON.parse(text)
        const heads = answers.map(({ result }) => Number(result.number ?? result))
        expect(new Set(heads).size).toBe(1)
        see(heads[0] ?? 0)
      }
    }
    expect(told).toBeGreaterThan(HEAD)
  })

  test('begins at the endpoint furthest on, and follows it where another stops', async () => {
    let head = HEAD
    const stuck = await node({ call: plainNode(() => HEAD - 20) })
    const best = await node({ call: plainNode(() => head) })
    const other = await node({ call: plainNode(() => head - 1) })
    const api = await door({ urls: [stuck.url, other.url, best.url] })
    expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
    head += 10
    await best.close()
    await expect
      .poll(async () => Number((await api.call('eth_blockNumber')).result), { interval: 100 })
      .toBe(HEAD + 9)
  })

  test('a block that nobody has is null where a node says null, and an error for logs', async () => {
    const { nodes, head } = await threeNodes()
    const api = await door({ urls: nodes.map(({ url }) => url) })
    const beyond = `0x${(head() + 5).toString(16)}`
    expect((await api.call('eth_getBlockByNumber', beyond, false)).result).toBeNull()
    const logs = await api.call('eth_getLogs', { fromBlock: '0x3e0', toBlock: beyond })
    expect(logs.error).toMatchObject({ code: -32000, message: expect.stringContaining('beyond') })
  })

  test('a safe or final block is the newest that two endpoints grant, and never older than told', async () => {
    const { nodes, grow, head } = await threeNodes()
    const api = await door({ urls: nodes.map(({ url }) => url) })
    for (const tag of ['safe', 'finalized'])
      expect(Number((await api.call('eth_getBlockByNumber', tag, false)).result.number)).toBe(head() - 5)
    await nodes[1]?.close()
    grow()
    expect(
      Number((await api.call('eth_getBlockByNumber', 'finalized', false)).result?.number ?? 0),
    ).toBeGreaterThanOrEqual(head() - 6)
  })

  test('a head that a reorganization made lower is told', async () => {
    let head = 50
    let branch = 'a'
    const only = await node({
      call: (call) => {
        const plain = plainNode(() => head)(call)
        const text = JSON.stringify(plain).replaceAll('0xaaaa', `0x${branch.repeat(4)}`)
        return JSON.parse(text)
      },
    })
    const api = await door({ urls: [only.url] })
    for (head = 45; head <= 50; head++) {
      expect(Number((await api.call('eth_getBlockByNumber', 'latest', false)).result.number)).toBe(head)
      await api.call('eth_blockNumber')
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    head = 47
    branch = 'b'
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(Number((await api.call('eth_blockNumber')).result)).toBe(47)
  })
})

describe('a call of a batch', () => {
  test('gets the newest state of a node that has no other, though its head is pinned', async () => {
    let head = 9
    const only = await node({
      call: plainNode(
        () => head,
        ({ method, params }) => {
          if (method !== 'eth_call') return undefined
          const [, block] = params
          return block === 'latest'
            ? { result: '0x2a' }
            : { error: { code: -32602, message: 'BlockOutOfRangeError: block height is 11 but requested 9' } }
        },
      ),
    })
    const api = await door({ urls: [only.url] })
    const batch = ['latest', undefined, '0x5'].map((block, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_call',
      params: block === undefined ? [{}] : [{}, block],
    }))
    head = 11
    const answers: { result?: unknown; error?: { code: number } }[] = JSON.parse(
      (await api.send(JSON.stringify(batch))).text,
    )
    expect(answers[0]?.result).toBe('0x2a')
    expect(answers[2]?.error?.code).toBe(-32602)
  })
})

test('what is named by its hash is found at the one node that has its branch', async () => {
  const hash = `0x${'5b'.repeat(32)}`
  const with1 = (call: NodeCall): NodeAnswer | undefined => {
    const [first] = call.params
    if (call.method === 'eth_getLogs') return { result: [{ blockHash: hash }] }
    if (call.method === 'eth_getBlockByHash')
      return { result: first === hash ? { number: '0x9', hash } : null }
    return call.method === 'eth_getBlockReceipts' ? { result: [] } : undefined
  }
  const without = (call: NodeCall): NodeAnswer | undefined => {
    if (call.method === 'eth_getBlockByHash') return { result: null }
    if (call.method === 'eth_getLogs') return { error: { code: -32000, message: 'unknown block' } }
    return undefined
  }
  const nodes = [
    await node({ call: plainNode(() => 9, without) }),
    await node({ call: plainNode(() => 9, with1) }),
    await node({ call: plainNode(() => 9, without) }),
  ]
  for (const order of [nodes, nodes.toReversed()]) {
    const api = await door({ urls: order.map(({ url }) => url) })
    expect((await api.call('eth_getBlockByHash', hash, false)).result).toEqual({ number: '0x9', hash })
    expect((await api.call('eth_getLogs', { blockHash: hash })).result).toEqual([{ blockHash: hash }])
    const unknown = `0x${'77'.repeat(32)}`
    expect((await api.call('eth_getBlockByHash', unknown, false)).result).toBeNull()
    expect((await api.call('eth_getLogs', { blockHash: unknown })).error).toEqual({
      code: -32000,
      message: 'unknown block',
    })
  }
})

test('ranges and values of a log filter are bounded, in words that clients cut ranges by', async () => {
  const only = await node({ call: plainNode(() => 50_000) })
  const api = await door({ urls: [only.url] })
  const wide = await api.call('eth_getLogs', { fromBlock: '0x0', toBlock: '0x4e20' })
  expect(wide.error).toMatchObject({ code: -32005, data: { from: '0x0', to: '0x270f', limit: 10_000 } })
  const many = await api.call('eth_getLogs', {
    address: Array.from({ length: 1_001 }, () => `0x${'11'.repeat(20)}`),
  })
  expect(many.error.code).toBe(-32602)
  for (const filter of [
    5,
    { fromBlock: '0x5', toBlock: '0x4' },
    { address: '0x1' },
    { topics: [[5]] },
    { fromBlock: 'now' },
  ])
    expect((await api.call('eth_getLogs', filter)).error.code).toBe(-32602)
})
