// Goal: whatever an endpoint bears (batches, room, long calls, long answers), its calls pass, and
// ingest comes first. Method: nodes of a few lines with such bounds, behind a real server.
import { describe, expect, test } from 'vitest'
import { fullTest } from '../../support/breadth.ts'
import { answersWith, door, node, plainNode } from '../support/rpcApi.ts'

describe('an endpoint', () => {
  test('that takes no batches gets calls one by one', async () => {
    const single = await node({
      call: plainNode(() => 9, answersWith('eth_gasPrice', { result: '0x2a' })),
      request: (calls, response) => {
        if (!Array.isArray(calls)) return false
        response.writeHead(413).end('batches have at most one call')
        return true
      },
    })
    const api = await door({ urls: [single.url] })
    const batch = Array.from({ length: 5 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_gasPrice' }))
    expect(JSON.parse((await api.send(JSON.stringify(batch))).text)).toEqual(
      batch.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x2a' })),
    )
  })

  test('with more to say than one answer holds is told so to the call', async () => {
    const wordy = await node({
      call: plainNode(() => 9),
      request: (calls, response) => {
        const { method, id }: { method?: string; id?: unknown } = Object(calls)
        if (method !== 'eth_getProof') return false
        response.end(`{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(17 * 1024 * 1024)}"}`)
        return true
      },
    })
    const api = await door({ urls: [wordy.url] })
    const { status, text } = await api.send(
      '{"jsonrpc":"2.0","id":7,"method":"eth_getProof","params":["0x1",[],"0x5"]}',
    )
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32005, message: 'the call or its answer is too large' },
      },
    ])
  })

  fullTest('may take longer than ingest would wait for it', async () => {
    const slow = await node({
      call: async (call) => {
        if (call.method !== 'eth_getProof') return plainNode(() => 9)(call)
        await new Promise((resolve) => setTimeout(resolve, 17_000))
        return { result: '0x2a' }
      },
    })
    const api = await door({ urls: [slow.url] })
    expect((await api.call('eth_getProof', '0x1', [], '0x5')).result).toBe('0x2a')
  })
})

test('clients take at most half of what ingest found a node to bear', async () => {
  let under = 0
  let most = 0
  const waiting: (() => void)[] = []
  const busy = await node({
    call: async (call) => {
      if (call.method !== 'eth_getProof') return plainNode(() => 9)(call)
      most = Math.max(most, ++under)
      await new Promise<void>((resolve) => waiting.push(resolve))
      under--
      return { result: {} }
    },
  })
  const api = await door({ urls: [busy.url] })
  const asked = Array.from({ length: 10 }, (_, index) => api.call('eth_getProof', `0x${index}`, [], '0x5'))
  const all = Promise.all(asked)
  const release = setInterval(() => waiting.shift()?.(), 5)
  expect((await all).map(({ result }) => result)).toEqual(asked.map(() => ({})))
  clearInterval(release)
  // Ingest begins with four places.
  expect(most).toBe(2)
})

test('relayUrls carry the calls of clients alone, and their cost is told apart', async () => {
  const forIngest = await node({ call: plainNode(() => 9) })
  const forClients = await node({ call: plainNode(() => 9, answersWith('eth_gasPrice', { result: '0x2a' })) })
  const api = await door({ urls: [forIngest.url], relayUrls: [forClients.url] })
  expect((await api.call('eth_gasPrice')).result).toBe('0x2a')
  expect(forIngest.requests).toBe(0)
  expect(api.relay.status()).toMatchObject({
    isApart: true,
    endpoints: [{ head: 9, cost: { calls: expect.any(Number) } }],
  })
  expect(api.source.endpoints()[0]?.cost.calls).toBe(0)
})
