// Goal: a live query tells every block once, takes back what was orphaned, resumes without a gap,
// and shares its work.
// Method: the recorded chain appended and reverted under real streams, read by an event-stream
// parser of its own.
// Invariant: I10.
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { QueryRequest, QueryResult, UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { recordedBatches, recordedRuns } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type LiveClient, type LiveEvent, openStream } from '../support/eventStream.ts'
import { readOracle } from '../support/oracle.ts'

const recording = 'tempo-dev-2k'
/** The first block of every test. */
const tip = 30
const final = 20
const hashesSql = 'SELECT hash FROM txs ORDER BY block_num, idx'
const transfersSql = 'SELECT "to", amount FROM transfer ORDER BY block_num, log_idx'
const transfersOf = (block: number) => transfersSql.replace('ORDER', `WHERE block_num = ${block} ORDER`)
const transferSignature = `&signature=${encodeURIComponent('event Transfer(address indexed from, address indexed to, uint256 amount)')}`

const of = (events: readonly LiveEvent[], name: string) => events.filter(({ event }) => event === name)
const blocksOf = (events: readonly LiveEvent[], name = 'result'): number[] =>
  of(events, name).flatMap(({ data }) => (data.blocks ?? []).map(({ num }) => num))
const results = (count: number) => (events: readonly LiveEvent[]) => of(events, 'result').length >= count

let batches: EncodedBatch[]
let api: ChainApi
const oracle = readOracle(recording)
let clients: LiveClient[] = []
/** Stands between the API and the engines; a test that counts or breaks queries replaces it. */
let run: (engine: UserQueryEngine, request: QueryRequest) => Promise<QueryResult>
beforeAll(async () => {
  batches = recordedBatches(recording, 1)
  api = await openChainApi({
    wrapEngine: (engine) => ({
      engine: engine.engine,
      run: (request) => run(engine, request),
      stream: (request) => engine.stream(request),
      explain: (request) => engine.explain(request),
      ...{ assertReady: (request) => engine.assertReady(request), close: () => engine.close() },
    }),
  })
  await api.append(recordedRuns(recording)(0, tip))
  await api.finalize(final)
  await api.fillClickHouse()
})
beforeEach(async () => {
  run = (engine, request) => engine.run(request)
  if (api.state.tip > tip) await api.revertTo(tip)
})
afterEach(() => closeClients())
afterAll(() => api.close())

const urlOf = (sql: string, more = '') =>
  `${api.server.origin}/v1/indexer/query?live=true&sql=${encodeURIComponent(sql)}${more}`

async function connect(sql: string, lastEventId?: string, more = ''): Promise<LiveClient> {
  const client = await openStream(urlOf(sql, more), lastEventId)
  clients.push(client)
  await client.until((events) => events.length > 0 || lastEventId !== undefined)
  return client
}

async function closeClients(): Promise<void> {
  for (const client of clients) client.close()
  clients = []
  await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
}

const hashesOf = (block: number) =>
  oracle.transactions.filter((tx) => tx.blockNumber === block).map((tx) => [tx.hash])

describe('live SQL', () => {
  test('every block comes once, with its own rows, and says where the stream stands', async () => {
    const client = await connect(hashesSql)
    expect(client.events[0]).toMatchObject({
      event: 'progress',
      data: { ok: true, block: 30, finalized: 20 },
    })
    await api.append(batches.slice(31, 36))
    const events = await client.until(results(5))
    expect(blocksOf(events)).toEqual([31, 32, 33, 34, 35])
    for (const { data } of of(events, 'result')) {
      const [block] = data.blocks ?? []
      if (!block) throw new Error('a result without its block')
      expect(data).toMatchObject({ ok: true, columns: ['hash'], engine: 'postgres', truncated: false })
      expect(data.rows).toEqual(hashesOf(block.num))
      expect(block.hash).toBe(oracle.blocks[block.num]?.['hash'])
    }
    expect(events.every(({ data }) => typeof data.ok === 'boolean')).toBe(true)
  })

  test('aggregates of one block each come with it', async () => {
    const client = await connect(
      'SELECT b.num, count(t.hash) AS n FROM blocks b LEFT JOIN txs t ON b.num = t.block_num GROUP BY b.num',
    )
    await api.append(batches.slice(31, 36))
    const events = await client.until(results(5))
    expect(of(events, 'result').map(({ data }) => data.rows)).toEqual(
      [31, 32, 33, 34, 35].map((block) => [[`${block}`, `${hashesOf(block).length}`]]),
    )
  })

  test.each([
    ['an aggregate', 'SELECT count(*) AS n FROM txs'],
    [
      'a count for each minute',
      "SELECT date_trunc('minute', block_timestamp) AS minute, count(*) AS n FROM txs GROUP BY 1 ORDER BY 1",
    ],
    ['DISTINCT', 'SELECT DISTINCT address FROM logs'],
    ['another order', 'SELECT hash FROM txs ORDER BY hash'],
    ['a window', 'SELECT num, sum(tx_count) OVER (ORDER BY num) AS total FROM blocks'],
    ['LIMIT', 'SELECT num FROM blocks ORDER BY num DESC LIMIT 2'],
    ['balances, which many blocks make', 'SELECT count(*) FROM token_balances', 'clickhouse'],
  ])('%s is told whole again with live=true, as asked once', async (_, sql, engine = 'postgres') => {
    const client = await connect(sql, undefined, `&engine=${engine}`)
    await api.append(batches.slice(31, 36))
    const path = `/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`
    const now = async () => (await api.get(path)).body.rows
    await client.until((events) => events.length > 0)
    const lastRows = () => of(client.events, 'result').at(-1)?.data.rows
    await expect.poll(async () => isDeepStrictEqual(lastRows(), await now())).toBe(true)
    for (const { event, data } of client.events) {
      expect([event, data.reset]).toEqual(['result', true])
      expect(data).not.toHaveProperty('blocks')
    }
    expect(api.live.size).toMatchObject({ queries: 1, clients: 1 })
  })

  test('whole answers run one at a time, and hold up no rows of new blocks', async () => {
    for (const more of [1, 2, 3]) await connect(`SELECT count(*) + ${more} AS n FROM blocks`)
    const rows = await connect('SELECT num FROM blocks')
    const held = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    run = async (engine, request) => {
      if (!request.sql.startsWith('SELECT count')) return engine.run(request)
      most = Math.max(most, ++running)
      await held.promise
      running -= 1
      return engine.run(request)
    }
    await api.append(batches.slice(31, 36))
    expect(blocksOf(await rows.until(results(5)))).toEqual([31, 32, 33, 34, 35])
    await expect.poll(() => running).toBe(1)
    expect(most).toBe(1)
    held.resolve()
    for (const client of clients.slice(0, 3)) await client.until(results(2))
    expect(most).toBe(1)
  })
})

describe('live SQL after a revert or an absence', () => {
  test('a revert retracts what it orphaned, and the blocks that replace it follow', async () => {
    const client = await connect(hashesSql)
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
  })

  test('a client that comes back hears what it missed: results, and the retraction of what it had', async () => {
    const first = await connect(hashesSql)
    await api.append(batches.slice(31, 35))
    const seen = await first.until(results(4))
    await closeClients()
    await api.append(batches.slice(35, 37))
    await api.revertTo(33)
    await api.append(batches.slice(34, 40))
    const again = await connect(hashesSql, seen.at(-1)?.id)
    const events = await again.until((all) => blocksOf(all).at(-1) === 39)
    // 35 and 36 came and went while it was away; what it had, 34, is retracted.
    expect(blocksOf(events)).toEqual([34, 35, 36, 37, 38, 39])
    expect(blocksOf(events, 'retract')).toEqual([34, 35, 36])
    expect(events[0]?.event).toBe('retract')
  })

  test('a client that reconnects within seconds is served from what is kept, in the middle of a commit too', async () => {
    const steady = await connect(hashesSql)
    const wide = recordedBatches(recording, 31)[1]
    if (wide) await api.append([wide])
    const all = await steady.until(results(31))
    const middle = of(all, 'result')[9]
    const again = await connect(hashesSql, middle?.id)
    const events = await again.until(results(21))
    expect(blocksOf(events)).toEqual(Array.from({ length: 21 }, (_, index) => 41 + index))
    await api.append(batches.slice(62, 63))
    await steady.until(results(32))
    await again.until(results(22))
    expect(again.events.at(-1)).toEqual(steady.events.at(-1))
  })
})

describe('live SQL that many ask, that is refused, fails or is large', () => {
  test('one execution per query and block serves every subscriber', async () => {
    let runs = 0
    run = (engine, request) => {
      runs += 1
      return engine.run(request)
    }
    const many = await Promise.all(Array.from({ length: 20 }, () => connect(hashesSql)))
    const other = await connect('SELECT num FROM blocks')
    const before = runs
    await api.append(batches.slice(31, 34))
    for (const client of [...many, other]) await client.until(results(3))
    expect(runs - before).toBe(6)
    const [one] = many
    for (const client of many) expect(client.events.slice(-3)).toEqual(one?.events.slice(-3))
  })

  test.each([
    ['SELECT 1', /reads no table/],
    ['SELECT nonsense FROM blocks', /nonsense/],
    ['DROP TABLE blocks', /SELECT/],
  ])(
    '%s is refused with the reason before a byte is sent, and leaves nothing behind',
    async (sql, reason) => {
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
    const client = await connect('SELECT 1 / (num - 32) AS x FROM blocks')
    await api.append(batches.slice(31, 34))
    const events = await client.until(results(2))
    expect(events.slice(1).map(({ event, data }) => [event, data.ok, data.blocks?.[0]?.num])).toEqual([
      ['result', true, 31],
      ['error', false, 32],
      ['result', true, 33],
    ])
    expect(events[2]?.data).toMatchObject({ error: { code: 'sql_failed' }, retrying: false })
  })

  test('a frame larger than what a client may leave unread arrives whole, also while catching up', async () => {
    const sql = 'SELECT a.data AS x, b.data AS y, a.topic0, b.topic1, a.tx_hash FROM logs a, logs b'
    const first = await connect(sql, undefined, '&limit=2000')
    const { id } = first.events[0] ?? {}
    await api.append(batches.slice(31, 61))
    const all = await first.until(results(30))
    const large = of(all, 'result').filter(({ data }) => JSON.stringify(data).length > 300_000)
    expect(large.length).toBeGreaterThan(1)
    await closeClients()
    const again = await connect(sql, id, '&limit=2000')
    const withoutTime = ({ data: { query_time_ms: _, ...data } }: LiveEvent) => data
    expect(of(await again.until(results(30)), 'result').map(withoutTime)).toEqual(
      of(all, 'result').map(withoutTime),
    )
  })

  test('live=snapshot sends the whole result whenever it changed, and nothing to who has it', async () => {
    const sql = 'SELECT num FROM blocks ORDER BY num DESC LIMIT 2'
    const url = urlOf(sql).replace('live=true', 'live=snapshot')
    const client = await openStream(url)
    clients.push(client)
    await client.until(results(1))
    await api.append(batches.slice(31, 32))
    await client.until(results(2))
    await api.revertTo(30)
    const events = await client.until(results(3))
    expect(events.map(({ data }) => data.rows)).toEqual([
      [['30'], ['29']],
      [['31'], ['30']],
      [['30'], ['29']],
    ])
    expect(events.every(({ data }) => data.ok && data.reset)).toBe(true)
    const again = await openStream(url, events.at(-1)?.id)
    clients.push(again)
    await api.append(batches.slice(31, 32))
    expect((await again.until(results(1))).map(({ data }) => data.rows)).toEqual([[['31'], ['30']]])
  })

  test('1,000 requests that are refused leave nothing behind', async () => {
    const sql = ['SELECT 1', 'SELECT x FROM blocks', 'SELECT y FROM blocks LIMIT 1', 'nonsense']
    for (let round = 0; round < 50; round++)
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          api.get(`/v1/indexer/query?live=true&sql=${encodeURIComponent(sql[index % 4] ?? '')}`),
        ),
      )
    expect(api.live.size).toEqual({ queries: 0, clients: 0 })
    expect((await api.get('/v1/indexer/query?sql=SELECT+1+AS+one')).body.rows).toEqual([[1]])
  })
})

describe('live SQL while stores begin, lag and go away', () => {
  test('a store that goes away is told once; when it is back nothing was left out', async () => {
    let away = false
    const refusal = new UserQueryError('sql_unavailable', 'Postgres cannot be reached')
    run = (engine, request) => (away ? Promise.reject(refusal) : engine.run(request))
    const client = await connect(hashesSql)
    away = true
    await api.append(batches.slice(31, 34))
    await client.until((events) => of(events, 'error').length > 0)
    away = false
    const events = await client.until(results(3))
    expect(blocksOf(events)).toEqual([31, 32, 33])
    expect(of(events, 'error').map(({ id, data }) => [id, data.ok, data.retrying])).toEqual([
      [undefined, false, true],
    ])
  })

  test('a stream that begins before the chain does hears its first block', async () => {
    const empty = await openChainApi()
    const url = new URL(urlOf('SELECT num FROM blocks'))
    const client = await openStream(empty.server.origin + url.pathname + url.search)
    await empty.append(batches.slice(0, 2))
    expect(blocksOf(await client.until(results(2)))).toEqual([0, 1])
    client.close()
    await empty.close()
  })

  // Those below move what the tests above share.
  test('ClickHouse streams what became final and is there, and never retracts', async () => {
    const client = await connect(hashesSql, undefined, '&engine=clickhouse')
    const transfers = await connect(transfersSql, undefined, `&engine=clickhouse${transferSignature}`)
    expect(client.events[0]).toMatchObject({
      event: 'progress',
      id: `c.${api.state.chainId}.20`,
      data: { block: 20 },
    })
    await api.append(batches.slice(31, 36))
    await api.revertTo(33)
    await api.append(batches.slice(34, 36))
    const relational = await connect(hashesSql)
    await api.finalize(23)
    const [told] = of(await relational.until((events) => of(events, 'finalized').length > 0), 'finalized')
    expect(told).toEqual({ event: 'finalized', id: undefined, data: { ok: true, finalized: 23 } })
    expect(of(client.events, 'result')).toEqual([])
    await api.fillClickHouse()
    const events = await client.until(results(3))
    expect(blocksOf(events)).toEqual([21, 22, 23])
    expect(of(events, 'result').map(({ data }) => data.rows)).toEqual([21, 22, 23].map(hashesOf))
    expect(of(events, 'retract')).toEqual([])
    const decoded = of(await transfers.until(results(3)), 'result').map(({ data }) => data.rows)
    const held = [21, 22, 23].map((block) =>
      api
        .get(`/v1/indexer/query?sql=${encodeURIComponent(transfersOf(block))}${transferSignature}`)
        .then(({ body }) => body.rows),
    )
    expect(decoded).toEqual(await Promise.all(held))
    expect(decoded.flat().length).toBeGreaterThan(0)
    const again = await connect(hashesSql, `c.${api.state.chainId}.21`, '&engine=clickhouse')
    expect(blocksOf(await again.until(results(2)))).toEqual([22, 23])
  })

  test('who begins anew while ClickHouse lacks final blocks is told of them when they are there', async () => {
    const to = api.state.coverage('clickhouse').at(-1)?.to ?? -1
    await api.finalize(27)
    const client = await connect(hashesSql, `c.${api.state.chainId}.99`, '&engine=clickhouse')
    const [lagged, progress] = await client.until((events) => of(events, 'progress').length > 0)
    expect(lagged).toMatchObject({ event: 'lagged', data: { from: 0, to } })
    expect(progress).toMatchObject({
      event: 'progress',
      id: `c.${api.state.chainId}.${to}`,
      data: { block: to },
    })
    await api.fillClickHouse()
    const missed = Array.from({ length: 27 - to }, (_, index) => to + 1 + index)
    expect(blocksOf(await client.until(results(missed.length)))).toEqual(missed)
    await api.append(batches.slice(31, 36))
    await api.finalize(29)
    await api.fillClickHouse()
    expect(blocksOf(await client.until(results(missed.length + 2)))).toEqual([...missed, 28, 29])
  })

  test('the program says goodbye when it stops', async () => {
    const client = await connect(hashesSql)
    api.shutdown.abort()
    await client.ended
    expect(client.events.at(-1)).toMatchObject({ event: 'closing', data: { ok: true } })
  })
})
