// Goal: a live query tells every block once, takes back what was orphaned, resumes without a gap, and shares its work.
// Method: the recorded chain appended and reverted under real streams, read by an event-stream parser of its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { describeWithShared } from '../support/shared.ts'
import { type ChainApi, openChainApi } from './support/chainApi.ts'
import { type LiveClient, type LiveEvent, openStream } from './support/eventStream.ts'
import { readOracle } from './support/oracle.ts'

const recording = 'tempo-dev-2k'
const hashesSql = 'SELECT hash FROM txs ORDER BY idx'

const of = (events: readonly LiveEvent[], name: string) => events.filter(({ event }) => event === name)
const blocksOf = (events: readonly LiveEvent[], name = 'result'): number[] =>
  of(events, name).flatMap(({ data }) => data.blocks.map((block: { num: number }) => block.num))
const results = (count: number) => (events: readonly LiveEvent[]) => of(events, 'result').length >= count

describeWithShared('live SQL', () => {
  let batches: EncodedBatch[]
  const oracle = readOracle(recording)
  let clients: LiveClient[] = []
  const open: ChainApi[] = []
  beforeAll(() => {
    batches = recordedBatches(recording, 1)
  })
  afterAll(async () => {
    for (const api of open) await api.close()
  })

  /** A chain whose head is at `tip`, with `final` blocks in ClickHouse. */
  async function chainAt(tip: number, final: number): Promise<ChainApi> {
    const api = await openChainApi()
    open.push(api)
    await api.append(batches.slice(0, tip + 1))
    await api.finalize(final)
    await api.fillClickHouse()
    return api
  }

  const urlOf = (api: ChainApi, sql: string, more = '') =>
    `${api.server.origin}/v1/indexer/query?live=true&sql=${encodeURIComponent(sql)}${more}`

  async function connect(api: ChainApi, sql: string, lastEventId?: string, more = ''): Promise<LiveClient> {
    const client = await openStream(urlOf(api, sql, more), lastEventId)
    clients.push(client)
    await client.until((events) => events.length > 0 || lastEventId !== undefined)
    return client
  }

  async function closeClients(api: ChainApi): Promise<void> {
    for (const client of clients) client.close()
    clients = []
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
  }

  const hashesOf = (block: number) =>
    oracle.transactions.filter((tx) => tx.blockNumber === block).map((tx) => [tx.hash])

  test('every block comes once, with its own rows, and says where the stream stands', async () => {
    const api = await chainAt(30, 20)
    const client = await connect(api, hashesSql)
    expect(client.events[0]).toMatchObject({
      event: 'progress',
      data: { ok: true, block: 30, finalized: 20 },
    })
    await api.append(batches.slice(31, 36))
    const events = await client.until(results(5))
    expect(blocksOf(events)).toEqual([31, 32, 33, 34, 35])
    for (const { data } of of(events, 'result')) {
      const [block] = data.blocks
      expect(data).toMatchObject({ ok: true, columns: ['hash'], engine: 'postgres', truncated: false })
      expect(data.rows).toEqual(hashesOf(block.num))
      expect(block.hash).toBe(oracle.blocks[block.num]?.['hash'])
    }
    expect(events.every(({ data }) => typeof data.ok === 'boolean')).toBe(true)
    await api.finalize(33)
    await client.until((seen) => of(seen, 'finalized').length > 0)
    expect(of(client.events, 'finalized')).toEqual([
      { event: 'finalized', id: undefined, data: { ok: true, finalized: 33 } },
    ])
    await closeClients(api)
  })

  test('aggregates are of each block', async () => {
    const api = await chainAt(30, 20)
    const client = await connect(
      api,
      'SELECT count(*) AS n, max(b.num) AS num FROM txs t JOIN blocks b ON b.num = t.block_num',
    )
    await api.append(batches.slice(31, 36))
    const events = await client.until(results(5))
    expect(of(events, 'result').map(({ data }) => data.rows)).toEqual(
      [31, 32, 33, 34, 35].map((block) => {
        const count = hashesOf(block).length
        return [[`${count}`, count === 0 ? null : `${block}`]]
      }),
    )
    await closeClients(api)
  })

  test('a revert retracts what it orphaned, and the blocks that replace it follow', async () => {
    const api = await chainAt(30, 20)
    const client = await connect(api, hashesSql)
    await api.append(batches.slice(31, 36))
    await client.until(results(5))
    await api.revertTo(32)
    await api.append(batches.slice(33, 37))
    const events = await client.until(results(9))
    expect(events.map(({ event }) => event)).toEqual([
      'progress',
      ...Array(5).fill('result'),
      'retract',
      ...Array(4).fill('result'),
    ])
    expect(of(events, 'retract')[0]?.data).toEqual({
      ok: true,
      blocks: [33, 34, 35].map((num) => ({ num, hash: oracle.blocks[num]?.['hash'] })),
    })
    expect(blocksOf(events)).toEqual([31, 32, 33, 34, 35, 33, 34, 35, 36])
    await closeClients(api)
  })

  test('a client that comes back hears what it missed: results, and the retraction of what it had', async () => {
    const api = await chainAt(30, 20)
    const first = await connect(api, hashesSql)
    await api.append(batches.slice(31, 35))
    const seen = await first.until(results(4))
    await closeClients(api)
    await api.append(batches.slice(35, 37))
    await api.revertTo(33)
    await api.append(batches.slice(34, 40))
    const again = await connect(api, hashesSql, seen.at(-1)?.id)
    const events = await again.until((all) => blocksOf(all).at(-1) === 39)
    // 35 and 36 came and went while it was away; what it had, 34, is retracted.
    expect(blocksOf(events)).toEqual([34, 35, 36, 37, 38, 39])
    expect(blocksOf(events, 'retract')).toEqual([34, 35, 36])
    expect(events[0]?.event).toBe('retract')
    await closeClients(api)
  })

  test('a client that reconnects within seconds is served from what is kept, in the middle of a commit too', async () => {
    const api = await chainAt(30, 20)
    const steady = await connect(api, hashesSql)
    const wide = recordedBatches(recording, 31)[1]
    if (wide) await api.append([wide])
    const all = await steady.until(results(31))
    const middle = of(all, 'result')[9]
    const again = await connect(api, hashesSql, middle?.id)
    const events = await again.until(results(21))
    expect(blocksOf(events)).toEqual(Array.from({ length: 21 }, (_, index) => 41 + index))
    await api.append(batches.slice(62, 63))
    await steady.until(results(32))
    await again.until(results(22))
    expect(again.events.at(-1)).toEqual(steady.events.at(-1))
    await closeClients(api)
  })

  test('ids that are not ours, or of a place far behind, are told as a gap', async () => {
    const api = await chainAt(30, 20)
    for (const id of ['nonsense', 'c.12', 'p.999.31']) {
      const client = await connect(api, hashesSql, id)
      const events = await client.until((all) => of(all, 'progress').length > 0)
      expect(events.map(({ event }) => event)).toEqual(['lagged', 'progress'])
      expect(events[0]?.data).toMatchObject({ ok: true, skipped: 0 })
    }
    await closeClients(api)
  })

  test('ClickHouse streams what became final and is there, and never retracts', async () => {
    const api = await chainAt(30, 20)
    const client = await connect(api, 'SELECT hash FROM txs ORDER BY idx', undefined, '&engine=clickhouse')
    expect(client.events[0]).toMatchObject({ event: 'progress', id: 'c.20', data: { block: 20 } })
    await api.append(batches.slice(31, 36))
    await api.revertTo(33)
    await api.append(batches.slice(34, 36))
    await api.finalize(23)
    expect(of(client.events, 'result')).toEqual([])
    await api.fillClickHouse()
    const events = await client.until(results(3))
    expect(blocksOf(events)).toEqual([21, 22, 23])
    expect(of(events, 'result').map(({ data }) => data.rows)).toEqual([21, 22, 23].map(hashesOf))
    expect(of(events, 'retract')).toEqual([])
    const again = await connect(api, 'SELECT hash FROM txs ORDER BY idx', 'c.21', '&engine=clickhouse')
    expect(blocksOf(await again.until(results(2)))).toEqual([22, 23])
    await closeClients(api)
  })

  test('one execution per query and block serves every subscriber', async () => {
    let runs = 0
    const api = await openChainApi({
      wrapEngine: (engine) => ({
        ...engine,
        engine: engine.engine,
        close: () => engine.close(),
        run: (request) => {
          runs += 1
          return engine.run(request)
        },
      }),
    })
    open.push(api)
    await api.append(batches.slice(0, 21))
    const many = await Promise.all(Array.from({ length: 20 }, () => connect(api, hashesSql)))
    const other = await connect(api, 'SELECT num FROM blocks')
    const before = runs
    await api.append(batches.slice(21, 24))
    for (const client of [...many, other]) await client.until(results(3))
    expect(runs - before).toBe(6)
    const [one] = many
    for (const client of many) expect(client.events.slice(-3)).toEqual(one?.events.slice(-3))
    await closeClients(api)
  })

  test.each([
    ['SELECT 1', /reads no table/],
    ['SELECT num FROM blocks ORDER BY num DESC LIMIT 1', /LIMIT chooses among the rows of all blocks/],
    ['SELECT num FROM (SELECT num FROM blocks OFFSET 3) b', /OFFSET/],
    ['SELECT nonsense FROM blocks', /nonsense/],
    ['DROP TABLE blocks', /SELECT/],
  ])(
    '%s is refused with the reason before a byte is sent, and leaves nothing behind',
    async (sql, reason) => {
      const [api] = open
      if (!api) throw new Error('no chain')
      for (const engine of ['postgres', 'clickhouse']) {
        const answer = await api.get(
          `/v1/indexer/query?live=true&engine=${engine}&sql=${encodeURIComponent(sql)}`,
        )
        expect([answer.status, answer.body.ok, answer.body.error.code]).toEqual([422, false, 'sql_invalid'])
        expect(answer.body.error.message).toMatch(reason)
      }
      expect(api.live.size).toEqual({ queries: 0, clients: 0 })
    },
  )

  test('a block on which the query fails is told, and the stream goes on behind it', async () => {
    const api = await chainAt(30, 20)
    const client = await connect(api, 'SELECT 1 / (num - 32) AS x FROM blocks')
    await api.append(batches.slice(31, 34))
    const events = await client.until(results(2))
    expect(events.slice(1).map(({ event, data }) => [event, data.ok, data.blocks[0].num])).toEqual([
      ['result', true, 31],
      ['error', false, 32],
      ['result', true, 33],
    ])
    expect(events[2]?.data).toMatchObject({ error: { code: 'sql_failed' }, retrying: false })
    await closeClients(api)
  })

  test('the program says goodbye when it stops', async () => {
    const api = await openChainApi()
    await api.append(batches.slice(0, 3))
    const client = await connect(api, hashesSql)
    await api.close()
    await client.ended
    expect(client.events.at(-1)).toMatchObject({ event: 'closing', data: { ok: true } })
    clients = []
  })
})
