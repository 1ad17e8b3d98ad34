// Goal: the bounds of live queries hold when many come at once, a place that a client makes up
// costs nothing, and blocks that a stream leaves out are told.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stranger } from '#api/access/callers.ts'
import { QUERIES_MAX } from '#api/live/LiveHub.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type LiveClient, type LiveEvent, openStream } from '../support/eventStream.ts'

let api: ChainApi
let batches: EncodedBatch[]
const clients: LiveClient[] = []
let executions = 0
/** Executions that wait for this, in the order in which they began. */
const held = Promise.withResolvers<undefined>()
const begun: string[] = []
/** Executions for clients that catch up wait for this; how many have begun, and how many at once. */
const past = { open: Promise.resolve(), to: -1, begun: 0, running: 0, runningMax: 0 }
beforeAll(async () => {
  batches = recordedBatches('tempo-dev-2k', 1)
  api = await openChainApi({
    wrapEngine: (engine) => ({
      engine: engine.engine,
      run: async (request) => {
        executions++
        if (request.sql.includes('held')) {
          begun.push(request.sql)
          await held.promise
        }
        if ((request.blocks?.[0]?.from ?? Number.POSITIVE_INFINITY) > past.to) return engine.run(request)
        past.begun++
        past.runningMax = Math.max(past.runningMax, ++past.running)
        await past.open
        return engine.run(request).finally(() => past.running--)
      },
      stream: (request) => engine.stream(request),
      explain: (request) => engine.explain(request),
      assertReady: (request) => engine.assertReady(request),
      close: () => engine.close(),
    }),
  })
  await api.append(batches.slice(0, 31))
})
afterAll(async () => {
  for (const client of clients) client.close()
  await api?.close()
})

const urlOf = (sql: string) =>
  `${api.server.origin}/v1/indexer/query?live=true&sql=${encodeURIComponent(sql)}`

async function connect(sql: string, lastEventId?: string): Promise<LiveClient> {
  const client = await openStream(urlOf(sql), lastEventId)
  clients.push(client)
  return client
}

/** Expects that the client holds nothing sure. */
async function expectForeign(id: string): Promise<void> {
  const events = await (await connect('SELECT num FROM blocks', id)).until((all) => all.length >= 2)
  expect(events.map(({ event }) => event).slice(0, 2)).toEqual(['lagged', 'progress'])
  expect(events[0]?.data).toMatchObject({ ok: true, foreign: true, from: 0, to: 30, skipped: 31 })
}

describe('bounds of live queries', () => {
  test('a place in no block of its commit is foreign, and told so at once', async () => {
    const [at] = (await (await connect('SELECT num FROM blocks')).until((events) => events.length > 0)).map(
      ({ id }) => id,
    )
    const seq = Number(at?.split('.')[2])
    const places = [`${seq}.3`, `${seq}.-1`, `${seq - 4}.2`, `${seq}.900`, `${seq - 1}.31`, '99999.12']
    for (const place of places) await expectForeign(`p.${api.state.chainId}.${place}`)
  })

  test('an id that this stream never gave is told as foreign', async () => {
    const { chainId } = api.state
    const ofOthers = [`c.${chainId}.12`, `p.${chainId + 1}.2.12`, 'p.2.12']
    for (const id of ['nonsense', 'x'.repeat(5_000), ...ofOthers]) await expectForeign(id)
  })

  test('a caller of many different queries keeps no other from its turn', async () => {
    const stop = new AbortController()
    const ask = (address: string, name: string) =>
      api.live.check(
        {
          caller: stranger(address, false),
          ...{ mode: 'blocks', engine: 'postgres', chainId: api.chainId, limit: 100, timeoutMs: 5_000 },
          ...{ sql: `SELECT num AS ${name} FROM blocks`, signatures: [] },
        },
        stop.signal,
      )
    const greedy = Array.from({ length: 8 }, (_, index) => ask('203.0.113.1', `held_${index}`))
    await expect.poll(() => begun).toHaveLength(1)
    const other = ask('203.0.113.2', 'held_other')
    await expect.poll(() => begun.at(-1)).toContain('held_other')
    expect(begun).toHaveLength(2)
    held.resolve(undefined)
    await Promise.all([...greedy, other])
    expect(begun).toHaveLength(9)
    stop.abort()
  })

  test('400 different queries at once are as many as the bound allows', async () => {
    for (const client of clients.splice(0)) client.close()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
    const stop = new AbortController()
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        fetch(urlOf(`SELECT num + ${index} AS n FROM blocks`), { signal: stop.signal }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(QUERIES_MAX)
    expect(statuses.filter((status) => status === 503)).toHaveLength(400 - QUERIES_MAX)
    expect(api.live.size.queries).toBe(QUERIES_MAX)
    stop.abort()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
  })

  test('200 clients that open one query at once are checked together, so its first block waits for none', async () => {
    executions = 0
    const stop = new AbortController()
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        fetch(urlOf('SELECT num, 1 AS shared FROM blocks'), { signal: stop.signal }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(api.live.size.queries).toBe(1)
    // Requests come in over some milliseconds, so a second check may begin before the first stream.
    expect(executions).toBeLessThan(10)
    stop.abort()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
  })
})

describe('live queries that catch up', () => {
  test('clients that catch up run one after another, and hold up nobody else (B7)', async () => {
    const sql = 'SELECT num, 7 AS shared FROM blocks'
    const shared = await connect(sql)
    const [now] = await shared.until((events) => events.length > 0)
    const seq = Number(now?.id?.split('.')[2])
    const gate = Promise.withResolvers<undefined>()
    Object.assign(past, { open: gate.promise, to: 30, begun: 0, runningMax: 0 })
    const late = await Promise.all(
      Array.from({ length: 20 }, () => connect(sql, `p.${api.state.chainId}.${seq - 10}.20`)),
    )
    await expect.poll(() => past.begun).toBe(1)

    await api.append(batches.slice(31, 32))
    const events = await shared.until((all) => all.some(({ event }) => event === 'result'))
    expect(events.find(({ event }) => event === 'result')?.data.blocks?.[0]?.num).toBe(31)
    expect(past).toMatchObject({ begun: 1, running: 1 })

    gate.resolve(undefined)
    for (const client of late) {
      const results = (all: readonly LiveEvent[]) => all.filter(({ event }) => event === 'result')
      const caughtUp = results(await client.until((all) => results(all).length === 11))
      expect(caughtUp.map(({ data }) => data.blocks?.[0]?.num)).toEqual(
        Array.from({ length: 11 }, (_, index) => 21 + index),
      )
    }
    expect(past.runningMax).toBe(1)
    for (const client of [shared, ...late]) client.close()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
  })

  test('blocks between two segments of the head are told as left out', async () => {
    const client = await connect('SELECT num FROM blocks')
    await client.until((events) => events.length > 0)
    await api.seal(40)
    await api.append(batches.slice(40, 42))
    const events = await client.until((all) => all.filter(({ event }) => event === 'result').length === 2)
    const told = events.filter(({ event }) => event !== 'progress' && event !== 'finalized')
    expect(told.map(({ event }) => event)).toEqual(['lagged', 'result', 'result'])
    expect(told[0]?.data).toMatchObject({ from: 32, to: 39, skipped: 8 })
    expect(told[1]?.data.blocks?.[0]?.num).toBe(40)
  })
})
