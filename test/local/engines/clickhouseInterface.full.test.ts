// Goal: the unmodified client and plain HTTP work on the embedded ClickHouse.
import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  bytesOf,
  createTable,
  isQueryRunning,
  openTestClickHouse,
  request,
  rowsOf,
  stillAt,
  type TestClickHouse,
  wholeAnswers,
} from './clients.ts'
import { until } from './programs.ts'

let clickhouse: TestClickHouse
beforeAll(async () => {
  clickhouse = await openTestClickHouse()
})

describe('queries', () => {
  test('ping answers, with and without a query', async () => {
    expect(await clickhouse.admin.ping()).toEqual({ success: true })
    expect(await clickhouse.admin.ping({ select: true })).toEqual({ success: true })
  })

  test('parameters arrive as they were given', async () => {
    const text = `it's \\ a\ttab, \n\n an empty line; {x:String} and 'quotes'`
    const answer = await clickhouse.admin.query({
      query: 'SELECT {text:String} AS text, {list:Array(UInt64)} AS list, {none:Nullable(String)} AS none',
      query_params: { text, list: [1, 2], none: null },
      format: 'JSONEachRow',
    })
    expect(await answer.json()).toEqual([{ text, list: ['1', '2'].map(Number), none: null }])
  })

  test('parameters may fill a long URL', async () => {
    const text = 'x'.repeat(200_000)
    const answer = await clickhouse.admin.query({
      query: 'SELECT length({text:String}) AS length',
      query_params: { text },
      format: 'JSONEachRow',
    })
    expect(await answer.json()).toEqual([{ length: 200_000 }])
  })

  test('an acknowledged insert is on disk', async () => {
    const sql = `SELECT name FROM system.merge_tree_settings WHERE name LIKE 'fsync_%' AND value = '1' ORDER BY name`
    const rows = await rowsOf(clickhouse.admin, sql)
    expect(rows).toEqual([{ name: 'fsync_after_insert' }, { name: 'fsync_part_directory' }])
  })

  test('a GET reads and cannot write', async () => {
    const read = await request(clickhouse, `query=${encodeURIComponent('SELECT 1 FORMAT CSV')}`)
    expect([read.status, await read.text()]).toEqual([200, '1\n'])
    expect(read.headers.get('x-clickhouse-format')).toBe('CSV')
    expect(read.headers.get('x-clickhouse-query-id')).toMatch(/^[0-9a-f-]{36}$/)
    const write = await request(
      clickhouse,
      `query=${encodeURIComponent(`CREATE DATABASE ${clickhouse.tables}_get`)}`,
    )
    expect([write.status, write.headers.get('x-clickhouse-exception-code')]).toEqual([403, '164'])
  })

  test('the database of the request is the one tables are looked up in', async () => {
    await createTable(clickhouse, 'looked_up')
    const found = await request(clickhouse, `database=${clickhouse.tables}`, {
      method: 'POST',
      body: 'SELECT count() FROM looked_up',
    })
    expect(await found.text()).toBe('0\n')
  })

  test('settings and roles hold for their request alone', async () => {
    const options = {
      query: `SELECT getSetting('max_threads') AS n, currentRoles() AS roles`,
      format: 'JSONEachRow',
    } as const
    const changed = await clickhouse.admin.query({
      ...options,
      role: 'api_role',
      clickhouse_settings: { max_threads: 1, readonly: '1' },
    })
    expect(await changed.json()).toEqual([{ n: 1, roles: ['api_role'] }])
    const next = await Promise.all(Array.from({ length: 8 }, () => clickhouse.admin.query(options)))
    for (const answer of next)
      expect(await answer.json()).toEqual([{ n: expect.not.closeTo(1), roles: ['admin', 'api_role'] }])
    await createTable(clickhouse, 'after_readonly')
  })

  test.each([0, 4_000_000_000])(
    'an answer that is held back, with %i bytes of it in memory, is the same and fails as well',
    async (bufferSize) => {
      const { ask, bytesFrom } = wholeAnswers(clickhouse)
      const held = `&buffer_size=${bufferSize}`
      for (const rows of [0, 1, 100_000]) {
        const sql = `SELECT number AS n, toString(number) AS word, repeat('x', 200) AS "long""name" FROM numbers(${rows})`
        const whole = await bytesFrom(sql)
        expect(whole.length).toBeGreaterThan(rows * 200)
        expect((await bytesFrom(sql, held)).equals(whole)).toBe(true)
      }
      const late = await ask('SELECT number, throwIf(number = 90000) FROM numbers(100000)', held)
      expect([late.status, late.headers.get('x-clickhouse-exception-code')]).toEqual([500, '395'])
      const large = await ask(
        'SELECT number FROM numbers(1000000)',
        `${held}&max_result_bytes=1000000&result_overflow_mode=throw`,
      )
      expect(large.headers.get('x-clickhouse-exception-code')).toBe('396')
      const unread = await ask('SELECT 1', '&buffer_size=many')
      expect([unread.status, await unread.text()]).toEqual([400, expect.stringMatching(/buffer_size/)])
    },
  )

  test.each(['gzip', 'zstd'])('an answer can be compressed with %s', async (coding) => {
    const answer = await request(clickhouse, 'enable_http_compression=1', {
      method: 'POST',
      headers: { 'Accept-Encoding': coding },
      body: 'SELECT number FROM numbers(100000) FORMAT TSV',
    })
    expect(answer.headers.get('content-encoding')).toBe(coding)
    expect((await answer.text()).length).toBe(588_890)
  })

  test.each([
    'JSON',
    'JSONCompact',
    'CSVWithNames',
    'RowBinaryWithNamesAndTypes',
    'Parquet',
    'Native',
    'TSV',
  ])('%s comes as one document however many blocks it took', async (format) => {
    const sql = (settings: string) => `SELECT number AS n FROM numbers(5000) FORMAT ${format} ${settings}`
    const blocks = await bytesOf(clickhouse.admin, sql('SETTINGS max_block_size = 1000'))
    const rows = await bytesOf(clickhouse.admin, sql(''))
    if (format === 'CSVWithNames' || format === 'TSV') expect(blocks).toEqual(rows)
    if (format.startsWith('JSON')) expect(JSON.parse(blocks.toString()).rows).toBe(5_000)
    expect(blocks.length).toBeGreaterThan(5_000)
  })
})

describe('errors', () => {
  test.each([
    ['SELEC 1', '62', 'SYNTAX_ERROR'],
    ['SELECT * FROM no_such_table', '60', 'UNKNOWN_TABLE'],
    ['SELECT no_such_column', '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT sleep(3) SETTINGS max_execution_time = 1', '159', 'TIMEOUT_EXCEEDED'],
    ['SELECT throwIf(1)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
  ])('%s carries its code', async (query, code, type) => {
    await expect(clickhouse.admin.query({ query })).rejects.toMatchObject({ code, type })
    await expect(clickhouse.admin.command({ query })).rejects.toMatchObject({ code, type })
  })

  test.each([
    'SELECT 1; SELECT 2',
    'SELECT 1; DROP DATABASE x; garbage',
    'SELECT 1 /* ; */ ;\n\n-- comment\nSELECT 2',
    'SET max_threads = 1; SELECT 1',
  ])('stacked statements are refused: %j', async (query) => {
    await expect(clickhouse.admin.command({ query })).rejects.toMatchObject({ code: '62' })
  })

  test('a stacked statement does not run, not even in front of a broken one', async () => {
    const table = await createTable(clickhouse, 'still_there')
    for (const query of [
      `SELECT 1; DROP TABLE ${table}`,
      `DROP TABLE ${table}; garbage`,
      `INSERT INTO ${table} SELECT 1, ''; SELECT 1`,
    ]) {
      await expect(clickhouse.admin.command({ query })).rejects.toMatchObject({ code: '62' })
    }
    expect(await rowsOf(clickhouse.admin, `SELECT count() AS rows FROM ${table}`)).toEqual([{ rows: 0 }])
  })

  test('an error in the middle of a stream reaches the client with its code', async () => {
    const query =
      'SELECT number, throwIf(number = 2000000) AS n FROM numbers(4000000) SETTINGS max_block_size = 5000'
    const answer = await clickhouse.admin.query({ query, format: 'JSONEachRow' })
    await expect(answer.json()).rejects.toMatchObject({ code: '395' })
  })

  test('a stream that broke never ends as if it were whole', async () => {
    await expect(
      bytesOf(clickhouse.admin, 'SELECT throwIf(number = 2000000) FROM numbers(4000000) FORMAT Native'),
    ).rejects.toThrow()
    const compressed = await request(clickhouse, 'enable_http_compression=1', {
      method: 'POST',
      headers: { 'Accept-Encoding': 'gzip' },
      body: 'SELECT number, throwIf(number = 2000000) FROM numbers(4000000) FORMAT TSV',
    })
    await expect(compressed.text()).rejects.toThrow()
  })

  test('a wrong password, a session and a body beyond its limit are refused', async () => {
    const { clickhouseUrl } = clickhouse.engine
    const stranger = await fetch(`${clickhouseUrl}/?query=SELECT%201`, {
      headers: { 'X-ClickHouse-User': 'millrace' },
    })
    expect([stranger.status, stranger.headers.get('x-clickhouse-exception-code')]).toEqual([401, '516'])
    expect((await request(clickhouse, 'query=SELECT%201&session_id=a')).status).toBe(501)
    const large = await request(clickhouse, '', { method: 'POST', body: Buffer.alloc(17 * 1024 * 1024, ' ') })
    expect([large.status, large.headers.get('x-clickhouse-exception-code')]).toEqual([413, '290'])
  })
})

describe('running queries', () => {
  const isRunning = (queryId: string) => isQueryRunning(clickhouse, queryId)
  const endless = 'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))'

  test('a query ends when its client goes', async () => {
    const leave = new AbortController()
    const query_id = 'left|1|2'
    const asked = clickhouse.admin.query({ query: endless, query_id, abort_signal: leave.signal })
    await until(() => isRunning(query_id))
    leave.abort()
    await expect(asked).rejects.toThrow()
    await until(async () => !(await isRunning(query_id)))
  })

  test('a stream ends when its client goes in the middle', async () => {
    const query_id = 'left|stream'
    const query =
      'SELECT number, sleepEachRow(0.0001) FROM numbers(100000000) SETTINGS max_block_size = 1000, function_sleep_max_microseconds_per_block = 0'
    const answer = await clickhouse.admin.query({ query, query_id, format: 'JSONEachRow' })
    await once(answer.stream(), 'data')
    answer.close()
    await until(async () => !(await isRunning(query_id)))
  })

  test('KILL QUERY finds a query by the id its client gave, and SYNC does not hang', async () => {
    const query_id = 'batch|from|to'
    const asked = clickhouse.admin.query({ query: endless, query_id })
    const failed = expect(asked).rejects.toMatchObject({ code: '394' })
    await until(() => isRunning(query_id))
    await clickhouse.admin.command({
      query: 'KILL QUERY WHERE query_id = {id:String} SYNC',
      query_params: { id: query_id },
    })
    await failed
    await until(async () => !(await isRunning(query_id)))
  })

  test('a stream nobody reads stops the engine, not the memory', async () => {
    const query =
      'SELECT number, randomString(600) AS bytes FROM numbers(300000) SETTINGS max_block_size = 1000'
    const answer = await clickhouse.admin.exec({ query: `${query} FORMAT RowBinary`, query_id: 'unread' })
    const readRows = async () => {
      const sql = `SELECT read_rows FROM system.processes WHERE query_id = 'unread'`
      const [row] = await rowsOf<{ read_rows: string }>(clickhouse.admin, sql)
      return Number(row?.read_rows)
    }
    // The engine goes on while buffers between it and us fill, then stands still.
    expect(await stillAt(readRows)).toBeLessThan(100_000)
    let bytes = 0
    for await (const chunk of answer.stream) bytes += chunk.length
    expect(bytes).toBe(300_000 * (8 + 2 + 600))
  })

  test('an id is refused while it runs', async () => {
    const query_id = 'twice'
    const leave = new AbortController()
    const asked = clickhouse.admin
      .query({ query: endless, query_id, abort_signal: leave.signal })
      .catch(() => {})
    await until(() => isRunning(query_id))
    await expect(clickhouse.admin.query({ query: 'SELECT 1', query_id })).rejects.toMatchObject({
      code: '216',
    })
    leave.abort()
    await asked
  })

  test('the server answers while scalar subqueries are slow', async () => {
    const slow = clickhouse.admin.query({
      query: 'SELECT (SELECT sleep(3)), number FROM numbers(10)',
      format: 'JSONEachRow',
    })
    let done = false
    const finished = slow
      .then((answer) => answer.json())
      .finally(() => {
        done = true
      })
    await rowsOf(clickhouse.admin, 'SELECT 1 AS one')
    expect(done).toBe(false)
    await finished
  })

  test('more queries than lanes wait their turn', async () => {
    const answers = Array.from({ length: 40 }, (_, n) =>
      rowsOf(clickhouse.admin, `SELECT ${n} AS n, sleep(0.05)`),
    )
    const rows = await Promise.all(answers)
    expect(rows.map(([row]) => Reflect.get(Object(row), 'n'))).toEqual(
      Array.from({ length: 40 }, (_, n) => n),
    )
  })
})
