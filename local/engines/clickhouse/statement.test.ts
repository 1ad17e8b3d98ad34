import { describe, expect, test } from 'vitest'

import { assertReaderMayAsk, readStatement, rewriteProcessQueries } from './statement.ts'

/** Head, format and data of an INSERT. */
function insert(text: string) {
  const statement = readStatement(text)
  if (statement.kind !== 'insert') return statement.kind
  return [statement.head.trim(), statement.format, text.slice(statement.dataStart)]
}

describe('an INSERT with data', () => {
  test.each([
    ['INSERT INTO t VALUES (1, 2)', ['INSERT INTO t', 'Values', ' (1, 2)']],
    ['insert into d.t (a, b) values(1)', ['insert into d.t (a, b)', 'Values', '(1)']],
    ['INSERT INTO t FORMAT Native\n\n\nrest', ['INSERT INTO t', 'Native', '\n\nrest']],
    ['INSERT INTO t FORMAT Native', ['INSERT INTO t', 'Native', '']],
    [
      'INSERT INTO t (`values`, "format") FORMAT CSV \r\n1',
      ['INSERT INTO t (`values`, "format")', 'CSV', '1'],
    ],
    ['INSERT INTO t (format, values) FORMAT CSV 1', ['INSERT INTO t (format, values)', 'CSV', '1']],
    [
      '/* FORMAT x */ INSERT INTO t SETTINGS a = 1 FORMAT TSV\n',
      ['/* FORMAT x */ INSERT INTO t SETTINGS a = 1', 'TSV', ''],
    ],
    ['INSERT INTO `values` VALUES (1)', ['INSERT INTO `values`', 'Values', ' (1)']],
  ])('%j', (text, expected) => expect(insert(text)).toEqual(expected))

  test.each([
    'INSERT INTO t SELECT 1',
    'INSERT INTO t (a) SELECT 1 AS format FROM x FORMAT Null',
    'INSERT INTO t WITH 1 AS a SELECT a',
    `INSERT INTO t FROM INFILE 'x' FORMAT CSV`,
    'SELECT 1 FORMAT JSON',
    '',
  ])('%j is none', (text) => expect(insert(text)).toBe('other'))
})

test.each([
  ['SELECT 1', undefined],
  ['SELECT 1 FORMAT JSON', 'JSON'],
  ['SELECT 1 format JSONEachRow ;', 'JSONEachRow'],
  ['SELECT 1 FORMAT CSV SETTINGS max_threads = 1', 'CSV'],
  ['SELECT 1 AS format FROM t', undefined],
  ['SELECT 1 AS format', undefined],
  ['SELECT * FROM (SELECT 1 FORMAT JSON)', undefined],
  [`SELECT ' FORMAT JSON'`, undefined],
])('the FORMAT clause of %j', (sql, format) => {
  expect(readStatement(sql)).toMatchObject({ kind: 'other', format })
})

test('KILL QUERY never waits and sees the ids of the clients', () => {
  const sql = rewriteProcessQueries(`KILL QUERY WHERE query_id = 'query_id' AND user = 'SYNC' SYNC`)
  expect(sql).toMatch(/^KILL QUERY WHERE unhex\(extract\(query, .*\)\) = 'query_id' AND user = 'SYNC' ASYNC$/)
})

test('system.processes tells the ids of the clients', () => {
  expect(rewriteProcessQueries('SELECT query_id FROM system.processes p')).toMatch(
    /^SELECT query_id FROM \(SELECT \* REPLACE \(unhex\(.*\) AS query_id\) FROM system\.processes\) p$/,
  )
  const untouched = `SELECT 'system.processes', processes FROM t`
  expect(rewriteProcessQueries(untouched)).toBe(untouched)
})

test.each([
  `SELECT file('/etc/passwd')`,
  `SELECT FILE ('/etc/passwd')`,
  "SELECT `file`('/etc/passwd')",
  'SELECT "file" /* */ (x)',
  `SELECT * APPLY file FROM (SELECT '/etc/passwd')`,
  `SELECT arrayMap(file, ['/etc/passwd'])`,
  'SELECT * FROM system.tables',
  'SELECT * FROM "SYSTEM" . tables',
  'SELECT * FROM INFORMATION_SCHEMA.TABLES',
])('the reader may not ask %j', (sql) => expect(() => assertReaderMayAsk(sql)).toThrow(/ACCESS_DENIED/))

test.each([`SELECT 'file(x)'`, 'SELECT file_name FROM t', 'SELECT system FROM t'])(
  'the reader may ask %j',
  (sql) => expect(() => assertReaderMayAsk(sql)).not.toThrow(),
)
