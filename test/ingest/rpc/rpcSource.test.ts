// Goal: whatever a node does wrong, every range arrives complete and right, or a clear error says
// why not.
// Method: the real HTTP client against a recording served with faults; every block is proved
// against its header.
import { afterEach, describe, expect, test } from 'vitest'
import { fetchAhead } from '#ingest/lanes/fetchAhead.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { ByteBudget } from '../../../ingest/ByteBudget.ts'
import { createSource, type RpcSource, type RpcSourceOptions } from '../../../ingest/rpc/rpcSource.ts'
import { readRecording } from '../../chain/recordings.ts'
import { startReplay } from '../../chain/startReplay.ts'
import { few, fullTest } from '../../support/breadth.ts'
import { decodeAnswer } from '../support/decodeAnswer.ts'
import { forward, startNode } from '../support/proxyNode.ts'

const LAST = 122
const runtime = systemRuntime()
/** Waits are a fiftieth as long. */
const hurried = {
  ...runtime,
  clock: {
    ...runtime.clock,
    sleep: (ms: number, signal?: AbortSignal) => runtime.clock.sleep(ms / 50, signal),
  },
}
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function replay(...flags: string[]) {
  const server = await startReplay(...flags)
  closers.push(() => server.close())
  return server
}

async function node(behaviour: Parameters<typeof startNode>[0]) {
  const server = await startNode(behaviour)
  closers.push(() => server.close())
  return server
}

function source(urls: string | readonly string[], changes: Partial<RpcSourceOptions> = {}): RpcSource {
  const made = createSource({
    chainId: 42431,
    urls: [urls].flat(),
    finalityDepth: 8,
    runtime,
    log: silentLogger,
    batchBytesTarget: 300_000,
    ...changes,
  })
  closers.push(() => made.close())
  return made
}

/**
 * Reads all blocks of the recording through a source, again and again until a pass succeeds, as a
 * lane would.
 */
async function readAll(from: RpcSource, passes = 20) {
  const fetcher = { lane: 'history' as const, source: from, decode: decodeAnswer, failpoint: () => {} }
  const ahead = {
    windowMax: 4,
    batchBlocksMax: 50,
    batchBytesEstimate: 1_000_000,
    budget: new ByteBudget(50_000_000),
  }
  const hashes: string[] = []
  let receipts = 0
  for (let pass = 0; hashes.length <= LAST; pass++) {
    try {
      for await (const { batch } of fetchAhead(fetcher, { from: hashes.length, to: LAST }, ahead)) {
        hashes.push(...batch.refs.map(({ hash }) => hash))
        receipts += batch.receiptCounts.reduce((sum, count) => sum + count, 0)
      }
    } catch (error) {
      if (pass >= passes) throw error
    }
  }
  return { hashes, receipts }
}

const recorded = readRecording('tempo-dev-2k')
const expected = {
  hashes: recorded.map(({ block }) => String(Object(block).hash)),
  receipts: recorded.reduce((sum, { receipts }) => sum + Array.from(Object(receipts)).length, 0),
}

describe('the RPC source, at any endpoint', () => {
  const nodes: [string, string[]][] = [
    ['a well-behaved node', []],
    ['a slow node', ['--latency', '30', '--jitter', '40']],
    ['a node that answers 429', ['--fail-429', '0.1']],
    ['a node with few requests a second', ['--rate', '12']],
    ['a node that answers 503 in HTML', ['--fail-503', '0.3']],
    ['a node that drops connections', ['--drop', '0.3']],
    ['a node that cuts answers off', ['--truncate', '0.3']],
    ['a node that answers single calls with errors', ['--rpc-error', '0.02']],
    ['a node with limited ranges', ['--max-range', '10', '--max-logs', '100']],
    ['a node that lacks its newest blocks now and then', ['--missing', '0.3']],
    ['a node that gives receipts of another fork', ['--stale', '0.3']],
    ['a node whose head jumps back', ['--behind', '0.5']],
  ]
  test.each(few(nodes, 5))('%s is read completely and rightly', async (_title, flags) => {
    const server = await replay(...flags)
    expect(await readAll(source(server.url))).toEqual(expected)
  })

  test('a dead endpoint beside a living one is left out', async () => {
    const dead = await node({ call: () => ({ result: null }) })
    await dead.close()
    closers.pop()
    const server = await replay()
    const both = source([dead.url, server.url])
    expect(await readAll(both)).toEqual(expected)
    const [left, living] = both.endpoints()
    // On a busy machine its quarantine is over by now; it was never seen to answer.
    expect(['quarantined', 'unknown']).toContain(left?.state)
    expect(left?.lastFailure).not.toBeNull()
    expect(living?.state).toBe('healthy')
  })

  test('a request that is not answered in time is made at another endpoint too, and the late one dropped', async () => {
    const server = await replay()
    const stuck = { next: false, dropped: false }
    const straggler = await node({
      call: (call) => forward(server.url, call),
      request: (calls, response) => {
        if (!stuck.next || !Array.isArray(calls)) return false
        stuck.next = false
        response.on('close', () => {
          stuck.dropped = true
        })
        return true
      },
    })
    const both = source([straggler.url, server.url], { batchBlocksMax: 1 })
    await readAll(both)
    stuck.next = true
    expect(await readAll(both)).toEqual(expected)
    await expect.poll(() => stuck).toEqual({ next: false, dropped: true })
    expect(both.endpoints()[0]?.lastFailure).toBeNull()
  })

  fullTest('without eth_getBlockReceipts receipts are fetched one by one, and it is told', async () => {
    const server = await replay()
    const poor = await node({
      call: (call) =>
        call.method === 'eth_getBlockReceipts'
          ? { error: { code: -32601, message: 'Method not found' } }
          : forward(server.url, call),
    })
    const only = source(poor.url)
    expect(await readAll(only)).toEqual(expected)
    expect(only.notes.join()).toContain('eth_getBlockReceipts')
    expect(poor.calls.get('eth_getTransactionReceipt')).toBeGreaterThan(1_000)
  })

  test('without batches calls are sent one by one', async () => {
    const server = await replay()
    const plain = await node({
      call: (call) => forward(server.url, call),
      request: (calls, response) => {
        if (!Array.isArray(calls)) return false
        const error = { code: -32005, message: 'Batched requests are not supported by this server' }
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
        return true
      },
    })
    const only = source(plain.url)
    expect((await only.head()).head.number).toBe(LAST)
    expect(await readAll(only)).toEqual(expected)
    expect(only.notes.join()).toContain('no JSON-RPC batches')
  })

  test('batches are made shorter until the endpoint takes them', async () => {
    const server = await replay()
    let longest = 0
    const strict = await node({
      call: (call) => forward(server.url, call),
      request: (calls, response) => {
        const length = Array.isArray(calls) ? calls.length : 1
        if (length > 6) {
          const error = { code: -32010, message: 'The batch request was too large' }
          response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
          return true
        }
        longest = Math.max(longest, length)
        return false
      },
    })
    expect(await readAll(source(strict.url))).toEqual(expected)
    expect(longest).toBeGreaterThan(2)
  })

  fullTest(
    'an answer about several blocks that is too long is given up before it is read, and asked for in parts',
    async () => {
      const server = await replay()
      let tooLong = 0
      const wordy = await node({
        call: (call) => forward(server.url, call),
        request: (calls, response) => {
          if (!Array.isArray(calls) || calls.length <= 4) return false
          tooLong++
          response.setHeader('content-length', 13 * 1024 * 1024).write('[')
          return true
        },
      })
      expect(await readAll(source(wordy.url))).toEqual(expected)
      expect(tooLong).toBeGreaterThan(0)
    },
  )
})

describe('the RPC source and finality', () => {
  test('without a finalized tag the depth counts, with it the node does', async () => {
    const server = await replay('--finality', '3')
    const old = await node({
      call: (call) =>
        call.params[0] === 'finalized'
          ? { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } }
          : forward(server.url, call),
    })
    const byTag = await source(server.url).head()
    expect(byTag).toMatchObject({ finalized: LAST - 3, finalizedBy: { number: LAST - 3 } })
    const byDepth = source(old.url)
    const { head, finalized, finalizedBy } = await byDepth.head()
    expect([finalized, finalizedBy]).toEqual([LAST - 8, head])
    expect(byDepth.notes.join()).toContain('finalized')
  })

  test('finality never goes back, and a block below it comes only from a node that has reached it', async () => {
    const server = await replay('--finality', '3')
    const only = source(server.url)
    await only.head()
    await server.control('replay_set', { finality: 20 })
    await runtime.clock.sleep(30)
    expect((await only.head()).finalized).toBe(LAST - 3)
    expect(await only.blockRef(LAST - 4)).toBeNull()
    expect(await only.blockRef(LAST - 20)).toMatchObject({ number: LAST - 20 })
  })

  test.each([
    ['above finality', LAST],
    ['below it', LAST - 20],
  ])('a reference %s is asked for again when the only endpoint fails', async (_, number) => {
    const server = await replay('--finality', '3')
    let failures = 0
    const failing = await node({
      call: (call) =>
        call.params[0] === `0x${number.toString(16)}` && failures < 2 && ++failures
          ? { error: { code: -32603, message: 'internal error' } }
          : forward(server.url, call),
    })
    const only = source(failing.url)
    await only.head()
    expect(await only.blockRef(number)).toMatchObject({ number })
    expect(failures).toBe(2)
  })

  test('where endpoints disagree about a final block, the proved header above it decides (L31, L36)', async () => {
    const server = await replay('--finality', '3')
    const liar = await node({
      call: async (call) => {
        const answer = await forward(server.url, call)
        const lie = { '0x64': 'hash', '0x65': 'parentHash' }[String(call.params[0])]
        if (lie === undefined || !('result' in answer)) return answer
        return { result: { ...Object(answer.result), [lie]: `0x${'ab'.repeat(32)}` } }
      },
    })
    const both = source([server.url, liar.url])
    await both.head()
    const right = await source(server.url).blockRef(100)
    expect(await both.blockRef(100)).toEqual(right)
    // Two that agree outvote the third, wherever it stands.
    const third = await replay()
    const three = source([liar.url, server.url, third.url])
    await three.head()
    for (let nth = 0; nth < 3; nth++) expect(await three.blockRef(100)).toEqual(right)
    expect(three.endpoints().map(({ state }) => state)).toEqual(['quarantined', 'healthy', 'healthy'])
  })
})

describe('the RPC source and what is no longer there', () => {
  test('null for an old block, from one of several nodes behind an address, is not the end of history', async () => {
    const server = await replay()
    let nulls = 0
    const mixed = await node({
      call: async (call) => {
        if (call.method !== 'eth_getBlockByNumber') return await forward(server.url, call)
        if (call.params[0] === '0x1e' && ++nulls <= 8) return { result: null }
        if (!['latest', 'finalized', '0x12c'].includes(String(call.params[0])))
          return await forward(server.url, call)
        const answer = await forward(server.url, { ...call, params: ['latest', false] })
        return 'result' in answer ? { result: { ...Object(answer.result), number: '0x12c' } } : answer
      },
    })
    const only = source(mixed.url, { runtime: hurried, batchBlocksMax: 1 })
    await only.head()
    await expect(only.fetch({ from: 30, to: 30 })).rejects.toMatchObject({
      code: 'source_unavailable',
      remedy: 'retry',
    })
    expect((await only.fetch({ from: 30, to: 30 })).range.from).toBe(30)
  })

  test('a wrong chain or genesis stops with the name of the setting', async () => {
    const server = await replay()
    const wrong = source(server.url, { chainId: 4217 })
    await expect(wrong.head()).rejects.toMatchObject({ code: 'wrong_chain', remedy: 'stop' })
    await expect(wrong.head()).rejects.toThrow('RPC_URL')
    const other = source(server.url, { genesisHash: hash(`0x${'11'.repeat(32)}`) })
    await expect(other.fetch({ from: 1, to: 2 })).rejects.toThrow('genesis block')
    const second = await replay()
    const both = source([server.url, second.url], { chainId: 4217 })
    await expect(both.head()).rejects.toMatchObject({ code: 'wrong_chain', remedy: 'stop' })
  })

  test('pruned history is told with the first block that is left', async () => {
    const server = await replay()
    const pruned = await node({
      call: (call) => {
        const number = Number(call.params[0])
        if (/^eth_getBlock(ByNumber|Receipts)$/.test(call.method) && number > 0 && number < 77)
          return { error: { code: 4444, message: 'pruned history unavailable' } }
        return forward(server.url, call)
      },
    })
    const only = source(pruned.url, { runtime: hurried })
    const failed = only.fetch({ from: 30, to: 40 })
    await expect(failed).rejects.toMatchObject({ code: 'history_pruned', earliest: 77, remedy: 'stop' })
    await expect(failed).rejects.toThrow('START_BLOCK')
    expect((await only.fetch({ from: 77, to: 80 })).range.from).toBe(77)
    // Block 0 is often all that is kept below.
    expect((await only.fetch({ from: 0, to: 40 })).range).toEqual({ from: 0, to: 0 })
    await expect(only.fetch({ from: 1, to: 40 })).rejects.toMatchObject({
      code: 'history_pruned',
      earliest: 77,
      remedy: 'stop',
    })
  })

  test.each([
    ['says that they are pruned', { error: { code: 4444, message: 'pruned history unavailable' } }],
    ['answers null for them', { result: null }],
  ])(
    'an endpoint without old blocks, which %s, is no end of history beside one that has them',
    async (_, answer) => {
      const server = await replay()
      const pruned = await node({
        call: (call) =>
          call.method.startsWith('eth_getBlock') && Number(call.params[0]) < 77
            ? answer
            : forward(server.url, call),
      })
      expect(await readAll(source([pruned.url, server.url]), 1)).toEqual(expected)
    },
  )
})

describe('the RPC source at the head', () => {
  test('a new head ends the wait, and so does a replaced one', async () => {
    const server = await replay('--head', '100')
    const only = source(server.url)
    await only.head()
    const grown = only.waitForHead(100, 30_000)
    await server.control('replay_advance', 1)
    await grown
    expect((await only.head()).head.number).toBe(101)
    const before = (await only.head()).head.hash
    const replaced = only.waitForHead(101, 30_000)
    await server.control('replay_reorg', 1)
    await replaced
    expect((await only.head()).head.hash).not.toBe(before)
  })

  test('what a range costs is counted', async () => {
    const server = await replay()
    const only = source(server.url)
    await only.fetch({ from: 10, to: 12 })
    const cost = only.endpoints()[0]?.cost
    expect(cost?.requests).toBe(3)
    expect(cost?.receivedBytes).toBeGreaterThan(1_000)
  })
})
