// Goal: `a.b` is a column of what `a` names or refused, for every kind of source and in every place
// of a query. To Postgres it is a call of the function `b` where `a` has no such column, whatever
// the query itself calls `b`.
import { beforeAll, describe, expect, it } from 'vitest'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { gatePostgres, loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import type { Catalog } from '#query/relations/catalog.ts'
import { catalogOf } from '../support/catalogs.ts'

/** Each calls its one column `own`, and itself `x`. */
const sources: Readonly<Record<string, string>> = {
  'a function': 'unnest(ARRAY[1]) AS x(own)',
  'a function by its alias': 'unnest(ARRAY[1]) AS own, LATERAL (SELECT own.own) AS x',
  'a JSON function': "jsonb_array_elements_text('[1]'::jsonb) AS x(own)",
  'functions side by side': 'unnest(ARRAY[1], ARRAY[2]) AS x(own, other)',
  'a function with ordinality': 'unnest(ARRAY[1]) WITH ORDINALITY AS x(own)',
  VALUES: '(VALUES (1)) AS x(own)',
  'a sub-select': '(SELECT 1 AS own) AS x',
  LATERAL: 'logs AS l, LATERAL (SELECT l.block_num AS own) AS x',
  'a table': 'logs AS x(own)',
  'a decoded table': 'transfer AS x(own)',
  'a CTE': 'given AS x',
  'a join': '(logs AS l JOIN txs AS t ON true) AS x(own)',
  'a join with a common column': '(logs AS l JOIN txs AS t USING (block_num)) AS x(own)',
  'a set operation': '(SELECT 1 AS own UNION SELECT 2) AS x',
}

const places: Readonly<Record<string, (path: string, from: string) => string>> = {
  'the list': (path, from) => `SELECT ${path} FROM ${from}`,
  'a cast': (path, from) => `SELECT (${path})::text FROM ${from}`,
  'a call': (path, from) => `SELECT concat(${path}) FROM ${from}`,
  'a subscript': (path, from) => `SELECT (array_agg(${path}))[1] FROM ${from}`,
  WHERE: (path, from) => `SELECT 1 FROM ${from} WHERE ${path} IS NULL`,
  'GROUP BY': (path, from) => `SELECT count(*) FROM ${from} GROUP BY ${path}`,
  HAVING: (path, from) => `SELECT count(*) FROM ${from} HAVING max(${path}) IS NULL`,
  'ORDER BY': (path, from) => `SELECT 1 FROM ${from} ORDER BY ${path}`,
  'DISTINCT ON': (path, from) => `SELECT DISTINCT ON (${path}) 1 FROM ${from}`,
  'an aggregate': (path, from) => `SELECT count(*) FILTER (WHERE ${path} IS NULL) FROM ${from}`,
  'a window': (path, from) => `SELECT count(*) OVER (ORDER BY ${path}) FROM ${from}`,
  'a named window': (path, from) => `SELECT count(*) OVER w FROM ${from} WINDOW w AS (PARTITION BY ${path})`,
  'a sub-select': (path, from) => `SELECT (SELECT ${path}) FROM ${from}`,
  EXISTS: (path, from) => `SELECT 1 FROM ${from} WHERE EXISTS (SELECT FROM logs WHERE ${path} IS NULL)`,
  LATERAL: (path, from) => `SELECT 1 FROM ${from}, LATERAL (SELECT ${path}) AS z`,
  'a function in FROM': (path, from) => `SELECT 1 FROM ${from}, unnest(ARRAY[${path}]) AS z`,
  ON: (path, from) => `SELECT 1 FROM ${from} JOIN logs AS z ON ${path} IS NULL`,
  VALUES: (path, from) => `SELECT 1 FROM ${from}, LATERAL (VALUES (${path})) AS z`,
  'a CTE of a sub-select': (path, from) =>
    `SELECT (WITH c AS (SELECT ${path} AS q) SELECT c.q FROM c) FROM ${from}`,
  'a set operation': (path, from) => `SELECT 1 FROM ${from} UNION SELECT ${path} FROM ${from}`,
}

const names = ['pg_sleep', 'ts_stat', 'current_setting', 'pg_relation_filepath', 'regclass', 'length', 'text']
const spellings = (name: string) => [
  name,
  name.toUpperCase(),
  `"${name}"`,
  `U&"\\${hex(name)}${name.slice(1)}"`,
]
const hex = (name: string) => name.charCodeAt(0).toString(16).padStart(4, '0')

let catalog: Catalog

beforeAll(async () => {
  await loadPostgresGrammar()
  const signatures = ['Transfer(address indexed from, address indexed to, uint256 value)']
  catalog = bindDecoded(catalogOf('postgres', 'chain_1_sql'), await readSignatures(signatures, async () => 0))
})

const withGiven = (sql: string) => `WITH given AS (SELECT 1 AS own) ${sql}`
const gate = (sql: string) => gatePostgres(sql, catalog, 11).sql

/** Makes the name one that the query gives itself. */
const decoy = (name: string) => `(VALUES (1)) AS decoy("${name}")`

describe.each(Object.entries(sources))('%s', (_, source) => {
  it.each(Object.entries(places))('gives its own column, and nothing else, in %s', (_, place) => {
    expect(gate(withGiven(place('x.own', source)))).toMatch(/LIMIT 11$/)
    expect(() => gate(withGiven(place('x.pg_sleep', `${decoy('pg_sleep')}, ${source}`)))).toThrow(
      /there is no column/,
    )
  })

  it('gives no function or type of any name, in any spelling', () => {
    for (const name of names)
      for (const spelt of spellings(name))
        expect(() => gate(withGiven(`SELECT x.${spelt} FROM ${decoy(name)}, ${source}`))).toThrow(
          /there is no column/,
        )
  })
})

describe('a name', () => {
  it.each([
    ['of another SELECT', 'SELECT (SELECT 1 FROM logs AS y) FROM txs AS x WHERE y.block_num = 1'],
    ['on the left, without LATERAL', 'SELECT 1 FROM logs AS x, (SELECT x.block_num) AS y'],
    ['on the right', 'SELECT 1 FROM LATERAL (SELECT x.block_num) AS y, logs AS x'],
    ['hidden by the name of a join', 'SELECT l.block_num FROM (logs AS l JOIN txs AS t ON true) AS x'],
    [
      'on the left of a join, in its ON',
      'SELECT 1 FROM logs AS x, txs AS y JOIN blocks AS z ON x.block_num = 1',
    ],
    ['in FROM, in a CTE of the same SELECT', 'WITH c AS (SELECT x.block_num) SELECT 1 FROM logs AS x, c'],
    ['of an operand, behind a set operation', 'SELECT 1 FROM logs x UNION SELECT 2 ORDER BY x.block_num'],
    ['hidden by an alias', 'SELECT logs.block_num FROM logs AS x'],
    ['twice on one level', 'SELECT x.block_num FROM logs AS x, txs AS x'],
    ['that Postgres gives itself', 'VALUES (1) ORDER BY "*SELECT*".column1'],
    ['that is given to no sub-select', 'SELECT unnamed_subquery.own FROM (SELECT 1 AS own)'],
  ])('%s names nothing', (_, sql) => {
    expect(() => gate(sql)).toThrow(/there is no/)
  })

  it.each([
    [
      'of a nearer source',
      'SELECT (SELECT x.pg_sleep FROM unnest(ARRAY[1]) AS x) FROM (VALUES (1)) AS x(pg_sleep)',
    ],
    ['that the alias took away', 'SELECT x.block_num FROM logs AS x(pg_sleep), (VALUES (1)) AS v(block_num)'],
    ['of a column that a CTE renamed', 'WITH c(own) AS (SELECT 1 AS pg_sleep) SELECT c.pg_sleep FROM c'],
    [
      'of a merged column that was renamed',
      'SELECT x.block_num FROM (logs JOIN txs USING (block_num)) AS x(own)',
    ],
    ['that a 0x constant takes away', `SELECT x."?column?" FROM (SELECT '0xab') AS x`],
    ['of a system column', 'SELECT x.ctid, 1 AS ctid FROM logs AS x'],
  ])('%s is no column', (_, sql) => {
    expect(() => gate(sql)).toThrow(/there is no column/)
  })

  it.each([
    ['a schema in front', 'SELECT chain_1_sql.logs.block_num FROM logs'],
    ['brackets', 'SELECT (x).pg_sleep FROM unnest(ARRAY[1]) AS x(pg_sleep)'],
    ['brackets and a star', 'SELECT (x).* FROM unnest(ARRAY[1]) AS x(pg_sleep)'],
    ['a name of Postgres', 'SELECT 1 FROM logs AS "*VALUES*"'],
  ])('%s is refused', (_, sql) => {
    expect(() => gate(sql)).toThrow(expect.objectContaining({ code: 'sql_refused' }))
  })

  it('is found where Postgres gives it', () => {
    for (const sql of [
      'VALUES (1) ORDER BY "*VALUES*".column1',
      'SELECT x.column1 FROM (VALUES (1)) AS x',
      'SELECT x.x FROM generate_series(1, 2) AS x',
      'SELECT generate_series.generate_series FROM generate_series(1, 2)',
      "SELECT x.value FROM jsonb_array_elements('[]'::jsonb) AS x",
      'SELECT x.ordinality FROM unnest(ARRAY[1]) WITH ORDINALITY AS x',
      'SELECT x.count, x.max FROM (SELECT count(*), max(block_num) FROM logs) AS x',
      "SELECT x.bytea FROM (SELECT '0xab') AS x",
      'SELECT x.block_num FROM (SELECT (SELECT block_num FROM logs LIMIT 1)) AS x',
      'SELECT a.block_num, c.n FROM (logs AS a JOIN txs AS b USING (block_num)) JOIN (SELECT 1 AS n) AS c ON true',
    ])
      expect(gate(sql)).toMatch(/LIMIT 11$/)
  })

  it('is told by place, with the columns there are', () => {
    expect(() => gate('SELECT 1,\n x.block FROM (SELECT num FROM blocks) AS x')).toThrow(
      expect.objectContaining({
        code: 'sql_invalid',
        line: 2,
        column: 2,
        message: 'there is no column "block" in "x"',
        hint: 'columns of x: num',
      }),
    )
  })
})
