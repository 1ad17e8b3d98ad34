// Goal: a result is the same in every format and on both engines; each format is read back by a
// reader of another make (ClickHouse), long results come in pieces with their facts behind them,
// and what fails in the middle never looks whole.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acceptedFormat } from '#api/results/formats.ts'
import type { ResultEvent, UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { quoteIdentifier } from '#store/sql.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

const recording = 'tempo-dev-2k'

/** A value of every type of the value table, NULLs and what quotes are for. */
const everyType = `SELECT block_num, log_idx, address, topic3, data, is_virtual_forward, block_timestamp,
    CAST('340282366920938463463374607431768211456' AS numeric(78, 0)) AS amount,
    CASE WHEN log_idx = 1 THEN 'say "hi", you
there' WHEN log_idx = 2 THEN '' END AS words,
    CAST('2026-02-03' AS date) AS day, CAST(log_idx AS double precision) / 8 AS ratio,
    CAST(NULL AS int) AS nothing
  FROM logs WHERE block_num BETWEEN 5 AND 40 ORDER BY block_num, log_idx LIMIT 500`

let api: ChainApi
let tables = 0
beforeAll(async () => {
  api = await openChainApi()
  await api.append(recordedBatches(recording, 10))
  await api.finalize(122)
  await api.fillClickHouse()
})
afterAll(() => api?.close())

const urlOf = (sql: string, more = '') =>
  `${api.server.origin}/v1/indexer/query?sql=${encodeURIComponent(sql)}${more}`

describe('formats of a result', () => {
  describe.each(['postgres', 'clickhouse'])('on %s', (engine) => {
    test.each([
      ['ndjson', 'JSONEachRow'],
      ['csv', 'CSVWithNames'],
      ['arrow', 'ArrowStream'],
      ['parquet', 'Parquet'],
    ])('%s holds what JSON does', async (format, reader) => {
      const json = await api.get(urlOf(everyType, `&engine=${engine}`).slice(api.server.origin.length))
      expect([json.status, json.body.row_count, json.body.truncated]).toEqual([200, 500, false])
      const response = await fetch(urlOf(everyType, `&engine=${engine}&format=${format}`))
      const file = Buffer.from(await response.arrayBuffer())
      expect(response.headers.get('svc-result-digest')).toBe(json.body.digest)
      expect(response.headers.get('svc-column-types')).toBe(json.body.columnTypes.join(','))
      expect(response.headers.get('svc-row-count')).toBe('500')
      const isColumnar = format === 'arrow' || format === 'parquet'
      const rows = await readBack(file, reader, json.body.columns, json.body.columnTypes, isColumnar)
      expect(rows).toEqual(json.body.rows)
    })

    test('a long result comes in pieces, with its facts as trailers', async () => {
      // Above 4 MiB, which are held back.
      const sql = 'SELECT l.*, l.data AS again FROM logs l ORDER BY block_num, log_idx'
      const response = await open(urlOf(sql, `&engine=${engine}&limit=7000`))
      expect([response.statusCode, response.headers['content-length']]).toEqual([200, undefined])
      const body = JSON.parse((await readAll(response)).toString())
      expect([body.row_count, body.rows.length, body.truncated]).toEqual([7_000, 7_000, true])
      expect(response.trailers).toMatchObject({
        'svc-row-count': '7000',
        'svc-truncated': 'true',
        'svc-result-digest': body.digest,
        'svc-rows-read': `${body.rows_read ?? 'unknown'}`,
      })
      // The embedded ClickHouse does not tell; a server does in a header.
      if (engine === 'clickhouse') return expect([body.rows_read, body.bytes_read]).toEqual([null, null])
      expect(body.rows_read).toBeGreaterThanOrEqual(7_000)
      expect(body.bytes_read).toBeGreaterThan(1_000_000)
    })
  })
})

describe('exports of a result', () => {
  const pairs = 'SELECT a.log_idx AS one, b.block_num AS two FROM logs a CROSS JOIN logs b'

  test.each(['postgres', 'clickhouse'])(
    'an export of %s has more rows than an answer, and says what it left out',
    async (engine) => {
      for (const format of ['csv', 'ndjson']) {
        const response = await open(urlOf(pairs, `&engine=${engine}&format=${format}&limit=60000`))
        const lines = (await readAll(response)).toString().trimEnd().split('\n').length
        expect([response.statusCode, lines]).toEqual([200, format === 'csv' ? 60_001 : 60_000])
        const facts = { ...response.headers, ...response.trailers }
        expect(facts).toMatchObject({ 'svc-row-count': '60000', 'svc-truncated': 'true' })
      }
      for (const [format, reader] of [
        ['arrow', 'ArrowStream'],
        ['parquet', 'Parquet'],
      ] as const) {
        const response = await open(urlOf(pairs, `&engine=${engine}&format=${format}&limit=20000`))
        const file = await readAll(response)
        expect(await readBack(file, reader, ['one', 'two'], ['int', 'bigint'], true)).toHaveLength(20_000)
      }
    },
  )

  test('an export as JSON or live is refused, and so is its time for less', async () => {
    const refusal = async (more: string) => {
      const { status, body } = await api.get(urlOf(pairs, more).slice(api.server.origin.length))
      return [status, body.error.code, body.error.details[0].path]
    }
    expect(await refusal('&limit=10001')).toEqual([400, 'query_invalid', ['query', 'limit']])
    expect(await refusal('&limit=10001&live=true')).toEqual([400, 'query_invalid', ['query', 'limit']])
    expect(await refusal('&timeout_ms=30001')).toEqual([400, 'query_invalid', ['query', 'timeout_ms']])
    const over = await refusal('&format=csv&limit=1000001')
    expect(over[0]).toBe(400)
  })

  test.each(['postgres', 'clickhouse'])(
    'an export of %s ends with its reader, and the next one has its slot',
    async (engine) => {
      const ask = (sql: string, limit: number) =>
        open(urlOf(sql, `&engine=${engine}&format=csv&limit=${limit}`))
      // More than fits between the engine and a client that does not read.
      const left = await ask('SELECT a.*, b.data AS more FROM logs a CROSS JOIN logs b', 1_000_000)
      const before = await running(engine)
      left.destroy()
      // ClickHouse ends a query before its first byte leaves.
      expect(before).toBe(engine === 'postgres' ? 1 : 0)
      await expect.poll(() => running(engine)).toBe(0)
      const next = await ask(pairs, 200_000)
      expect((await readAll(next)).length).toBeGreaterThan(1_000_000)
      expect(next.trailers).toMatchObject({ 'svc-row-count': '200000' })
    },
  )

  /** Statements of the chain's analysts that the engine runs now. */
  async function running(engine: string): Promise<number> {
    const { postgres, clickhouse, chainId } = api.store
    if (engine === 'postgres') {
      const { rows } = await postgres.pool.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'millrace user query' AND state = 'active' AND datname = current_database()",
      )
      return Number(rows[0]?.n)
    }
    const answer = await clickhouse.query({
      query: `SELECT count() AS n FROM system.processes
        WHERE startsWith(query_id, 'user_query_') AND query LIKE '%chain_${chainId}_sql%'`,
      format: 'JSONEachRow',
    })
    const [row] = await answer.json<{ n: string }>()
    return Number(row?.n)
  }
})

describe('digests, tags and limits of a result', () => {
  test('equal results have equal digests on both engines, different ones different', async () => {
    const digest = async (sql: string, engine: string) =>
      (await fetch(urlOf(sql, `&engine=${engine}`)).then(readJson)).digest
    const first = await digest(everyType, 'postgres')
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await digest(everyType, 'clickhouse')).toBe(first)
    expect(await digest(everyType.replace('LIMIT 500', 'LIMIT 499'), 'postgres')).not.toBe(first)
  })

  test('a result that did not change is not sent again: 304 by a weak tag, whatever the query took', async () => {
    const ask = (sql: string, tag?: string, more = '') =>
      fetch(urlOf(sql, more), { headers: tag === undefined ? {} : { 'if-none-match': tag } })
    const count = 'SELECT count(*) AS n FROM blocks'
    for (const more of ['', '&engine=clickhouse', '&format=csv']) {
      const first = await ask(count, undefined, more)
      const tag = first.headers.get('etag') ?? ''
      expect(tag).toMatch(/^W\/"[\w-]+"$/)
      await first.arrayBuffer()
      const again = await ask(count, tag, more)
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, ''])
      const other = await ask('SELECT count(*) + 1 AS n FROM blocks', tag, more)
      expect([other.status, (await other.text()).length > 0]).toEqual([200, true])
    }
    const json = (await ask(count)).headers.get('etag')
    expect((await ask(count, undefined, '&format=csv')).headers.get('etag')).not.toBe(json)
  })

  test('an empty result is one in every format', async () => {
    const none = 'SELECT num, hash FROM blocks WHERE num < 0'
    const text = async (format: string) => (await fetch(urlOf(none, `&format=${format}`))).text()
    expect(await text('ndjson')).toBe('')
    expect(await text('csv')).toBe('num,hash\r\n')
    expect(JSON.parse(await text('json'))).toMatchObject({ ok: true, rows: [], row_count: 0 })
    for (const [format, reader] of [
      ['arrow', 'ArrowStream'],
      ['parquet', 'Parquet'],
    ]) {
      const file = Buffer.from(await (await fetch(urlOf(none, `&format=${format}`))).arrayBuffer())
      expect(await readBack(file, reader ?? '', ['num', 'hash'], ['bigint', 'bytes'], true)).toEqual([])
    }
  })

  test('an integer beyond 64 bits is refused where it would wrap', async () => {
    const sql = "SELECT toUInt64('18446744073709551615') AS wide FROM blocks LIMIT 1"
    const arrow = await fetch(urlOf(sql, '&engine=clickhouse&format=arrow'))
    expect([arrow.status, (await readJson(arrow)).error.message]).toEqual([
      422,
      expect.stringContaining('does not fit 64 signed bits'),
    ])
    const json = await fetch(urlOf(sql, '&engine=clickhouse')).then(readJson)
    expect(json.rows).toEqual([['18446744073709551615']])
  })

  test('Accept chooses, `format` decides, and a stream of events has none', async () => {
    const typeOf = async (more: string, accept: string) =>
      (await fetch(urlOf('SELECT num FROM blocks LIMIT 1', more), { headers: { accept } })).headers.get(
        'content-type',
      )
    expect(await typeOf('', 'text/csv;q=0.5, application/x-ndjson')).toContain('application/x-ndjson')
    expect(await typeOf('&format=csv', 'application/x-ndjson')).toContain('text/csv')
    expect(await typeOf('', 'text/html,*/*;q=0.8')).toContain('application/json')
    const live = await fetch(urlOf('SELECT num FROM blocks', '&live=true&format=csv'))
    expect([live.status, (await readJson(live)).error.code]).toEqual([400, 'query_invalid'])
    const posted = await fetch(`${api.server.origin}/v1/indexer/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/csv' },
      body: JSON.stringify({ sql: 'SELECT num FROM blocks ORDER BY num LIMIT 2' }),
    })
    expect(await posted.text()).toBe('num\r\n0\r\n1\r\n')
  })
})

describe('a result that breaks off', () => {
  test('an engine that fails in the middle leaves no whole answer', async () => {
    const other = await openChainApi({ wrapEngine: failingAfter(80) })
    try {
      await other.append(recordedBatches(recording, 10).slice(0, 1))
      for (const format of ['json', 'csv', 'arrow'])
        await expect(
          fetch(
            `${other.server.origin}/v1/indexer/query?sql=SELECT+1+AS+one+FROM+blocks&format=${format}`,
          ).then((response) => response.text()),
          format,
        ).rejects.toThrow()
    } finally {
      await other.close()
    }
  })

  test('a client that leaves gives the slot back', async () => {
    const sql = 'SELECT l.*, r.data AS more FROM logs l, logs r WHERE r.block_num = 20 ORDER BY r.log_idx'
    for (let round = 0; round < 6; round++) {
      const response = await open(urlOf(sql, '&limit=10000&timeout_ms=30000'))
      response.destroy()
      await once(response, 'close')
    }
    const { status } = await api.get('/v1/indexer/query?sql=SELECT+1+AS+one+FROM+blocks+LIMIT+1')
    expect(status).toBe(200)
  })
})

/** Writes the file into a table of ClickHouse and reads the table. */
async function readBack(
  file: Buffer,
  format: string,
  names: readonly string[],
  types: readonly string[],
  isColumnar: boolean,
): Promise<unknown[][]> {
  const { clickhouseUrl, clickhouseUsername, clickhousePassword } = api.store.access
  const table = `${api.store.database}.read_back_${++tables}`
  const columns = names.map((name, index) => {
    const type = isColumnar ? columnarTypes[types[index] ?? ''] : undefined
    return `${quoteIdentifier(name)} Nullable(${type ?? 'String'})`
  })
  const send = async (query: string, body: Buffer | string = '') => {
    const response = await fetch(`${clickhouseUrl}/?query=${encodeURIComponent(query)}`, {
      method: 'POST',
      headers: { 'x-clickhouse-user': clickhouseUsername, 'x-clickhouse-key': clickhousePassword },
      body: new Uint8Array(Buffer.from(body)),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
  }
  await send(`CREATE TABLE ${table} (${columns.join(', ')}) ENGINE = MergeTree ORDER BY tuple()`)
  const settings = 'SETTINGS input_format_json_read_numbers_as_strings = 1, max_insert_threads = 1'
  await send(`INSERT INTO ${table} ${settings} FORMAT ${format}`, file)
  const shown = names.map((name, index) => {
    const quoted = quoteIdentifier(name)
    if (!isColumnar) return quoted
    if (types[index] === 'bytes') return `concat('0x', lower(hex(${quoted})))`
    return types[index] === 'timestamp' ? `formatDateTime(${quoted}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')` : quoted
  })
  const text = await send(
    `SELECT ${shown.join(', ')} FROM ${table} FORMAT JSONCompactEachRow SETTINGS output_format_json_quote_64bit_integers = 1`,
  )
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).map((value: unknown, n: number) => asJson(value, types[n] ?? '')))
}

/** The types that columns must be read as; ClickHouse refuses to read a file whose types do not fit. */
const columnarTypes: Readonly<Record<string, string>> = {
  int: 'Int64',
  bigint: 'Int64',
  bool: 'Bool',
  float: 'Float64',
  timestamp: "DateTime64(3, 'UTC')",
  date: 'Date32',
}

/** The value as JSON of our own would have it. */
function asJson(value: unknown, type: string): unknown {
  if (value === null) return null
  if (type === 'int' || type === 'float') return Number(value)
  return type === 'bool' ? `${value}` === 'true' || value === true : value
}

const failingAfter =
  (batches: number) =>
  (engine: UserQueryEngine): UserQueryEngine => ({
    engine: engine.engine,
    run: (request) => engine.run(request),
    explain: (request) => engine.explain(request),
    assertReady: (request) => engine.assertReady(request),
    close: () => engine.close(),
    stream: async function* (): AsyncGenerator<ResultEvent> {
      const head = { engine: engine.engine, columns: ['x'], columnTypes: ['text' as const], relations: [] }
      yield { kind: 'head', head }
      for (let batch = 0; batch < batches; batch++)
        yield {
          kind: 'rows',
          rows: { count: 100, json: Buffer.from(`["${'x'.repeat(1_000)}"]\n`.repeat(100)) },
        }
      throw new UserQueryError('sql_failed', 'out of memory')
    },
  })

// biome-ignore lint/suspicious/noExplicitAny: a test reads any answer, and says in its expectations what it holds
const readJson = async (response: Response): Promise<any> => response.json()

async function open(url: string): Promise<IncomingMessage> {
  const [response] = await once(get(url), 'response')
  return response
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

describe('acceptedFormat', () => {
  test.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['text/csv', 'csv'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['application/vnd.apache.arrow.stream, application/json;q=0.9', 'arrow'],
    ['application/jsonl', 'ndjson'],
    ['text/csv;q=0, application/json', 'json'],
    ['image/png', 'json'],
  ])('%s is %s', (accept, format) => {
    expect(acceptedFormat(accept)).toBe(format)
  })
})
