// Goal: rows on their way into the embedded ClickHouse arrive byte for byte, none run as SQL, none
// twice.
/**
 * Rows on their way into the embedded engine: every byte arrives, none is run as SQL, none twice.
 */

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'

import { bytesOf, createTable, openTestClickHouse, request, rowsOf, type TestClickHouse } from './clients.ts'

let clickhouse: TestClickHouse
beforeAll(async () => {
  clickhouse = await openTestClickHouse()
})

describe('inserts', () => {
  test('rows with empty lines, quotes and statements in them arrive unchanged', async () => {
    const table = await createTable(clickhouse, 'texts')
    const texts = ['\n\n', `"hello\n\ndrop table ${table};\n"`, `'); DROP TABLE ${table}; --`, '\\N', '\0']
    for (const format of ['JSONEachRow', 'JSONCompactEachRow'] as const) {
      const values = texts.map((bytes, n) => (format === 'JSONEachRow' ? { n, bytes } : [n, bytes]))
      await clickhouse.admin.insert({ table, values, format })
    }
    const csv = texts.map((text, n) => `${n},"${text.replaceAll('"', '""')}"\n`).join('')
    await clickhouse.admin.insert({
      table,
      values: Readable.from([csv], { objectMode: false }),
      format: 'CSV',
    })
    const rows = await rowsOf<{ bytes: string; copies: string }>(
      clickhouse.admin,
      `SELECT n, bytes, count() AS copies FROM ${table} GROUP BY n, bytes ORDER BY n`,
    )
    expect(rows.map((row) => row.bytes)).toEqual(texts)
    expect(rows.map((row) => Number(row.copies))).toEqual(texts.map(() => 3))
  })

  test.each(['Native', 'RowBinary'])('random bytes in %s arrive unchanged', async (format) => {
    const table = await createTable(clickhouse, `bytes_${format.toLowerCase()}`)
    const copy = await createTable(clickhouse, `copy_${format.toLowerCase()}`)
    await clickhouse.admin.command({
      query: `INSERT INTO ${table} SELECT number, concat(unhex('0a0a'), randomString(50), unhex('0a0a3b')) FROM numbers(20000)`,
    })
    const bytes = await bytesOf(clickhouse.admin, `SELECT * FROM ${table} ORDER BY n FORMAT ${format}`)
    expect(bytes.includes('\n\n')).toBe(true)
    await clickhouse.admin.exec({
      query: `INSERT INTO ${copy} (n, bytes) FORMAT ${format}`,
      values: Readable.from([bytes]),
    })
    const digest = (name: string) =>
      rowsOf(clickhouse.admin, `SELECT count() AS rows, sum(cityHash64(*)) AS hash FROM ${name}`)
    expect(await digest(copy)).toEqual(await digest(table))
  })

  test('inline VALUES may hold expressions and empty lines', async () => {
    const table = await createTable(clickhouse, 'inline')
    await clickhouse.admin.command({
      query: `INSERT INTO ${table} VALUES (1, 'a\n\nb'), (1 + 1, upper('c'))`,
    })
    expect(await rowsOf(clickhouse.admin, `SELECT bytes FROM ${table} ORDER BY n`)).toEqual([
      { bytes: 'a\n\nb' },
      { bytes: 'C' },
    ])
  })

  test('columns left out get their defaults', async () => {
    const table = await createTable(clickhouse, 'defaults', `n UInt64, bytes String DEFAULT 'none'`)
    await clickhouse.admin.insert({ table, values: [{ n: 1 }], format: 'JSONEachRow' })
    await clickhouse.admin.insert({ table, values: [{ n: 2 }], format: 'JSONEachRow', columns: ['n'] })
    const rows = await rowsOf(clickhouse.admin, `SELECT bytes FROM ${table}`)
    expect(rows).toEqual([{ bytes: 'none' }, { bytes: 'none' }])
  })

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('a %s body is unpacked', async (coding, compress) => {
    const table = await createTable(clickhouse, `packed_${coding}`)
    const rows = randomBytes(3_000).toString('hex').replace(/(..)/g, '1\t$1\n')
    const query = encodeURIComponent(`INSERT INTO ${table} FORMAT TSV`)
    const headers = { 'Content-Encoding': coding }
    const answer = await request(clickhouse, `query=${query}`, {
      method: 'POST',
      headers,
      body: compress(rows),
    })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(await rowsOf(clickhouse.admin, `SELECT count() AS rows FROM ${table}`)).toEqual([{ rows: 3_000 }])
    const broken = await request(clickhouse, `query=${query}`, {
      method: 'POST',
      headers,
      body: 'not packed at all',
    })
    expect([broken.status, broken.headers.get('x-clickhouse-exception-code')]).toEqual([400, '271'])
  })

  test('a batch that comes again with its token is written once, in as many blocks as it takes', async () => {
    const settings = 'SETTINGS non_replicated_deduplication_window = 1000'
    const table = await createTable(clickhouse, 'tokens', 'n UInt64, bytes String', settings)
    const query = `SELECT number AS n, toString(number) AS bytes FROM numbers(300000) FORMAT Native`
    const bytes = await bytesOf(clickhouse.admin, query)
    const write = (token: string) =>
      clickhouse.admin.exec({
        query: `INSERT INTO ${table} FORMAT Native`,
        values: Readable.from([bytes]),
        clickhouse_settings: { insert_deduplication_token: token, min_insert_block_size_rows: '10000' },
      })
    const count = () => rowsOf(clickhouse.admin, `SELECT count() AS rows FROM ${table}`)
    await write('one')
    await write('one')
    expect(await count()).toEqual([{ rows: 300_000 }])
    await write('two')
    expect(await count()).toEqual([{ rows: 600_000 }])
  })

  test('an insert without rows, into nothing, or cut off writes nothing', async () => {
    const table = await createTable(clickhouse, 'nothing')
    await clickhouse.admin.insert({ table, values: [], format: 'JSONEachRow' })
    await expect(
      clickhouse.admin.insert({ table: `${table}_not`, values: [{ n: 1 }], format: 'JSONEachRow' }),
    ).rejects.toMatchObject({ code: '60' })
    const cut = new AbortController()
    const body = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from('1\ta\n'))
        setImmediate(() => cut.abort())
      },
    })
    const query = encodeURIComponent(`INSERT INTO ${table} FORMAT TSV`)
    const sent = request(clickhouse, `query=${query}`, {
      method: 'POST',
      body,
      signal: cut.signal,
      duplex: 'half',
    })
    await expect(sent).rejects.toThrow()
    expect(await rowsOf(clickhouse.admin, `SELECT count() AS rows FROM ${table}`)).toEqual([{ rows: 0 }])
  })
})
