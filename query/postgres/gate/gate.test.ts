import { beforeAll, describe, expect, it } from 'vitest'
import { catalogOf } from '#test/query/support/catalogs.ts'
import { readCorpus } from '#test/query/support/corpus.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import { gatePostgres, loadPostgresGrammar } from './gate.ts'
import { EXPRESSIONS_BYTES_MAX } from './growth.ts'

const catalog = catalogOf('postgres', 'chain_1_sql')
const printed = (sql: string) => gatePostgres(sql, catalog, 11).sql
const refused = (sql: string): UserQueryError => {
  try {
    printed(sql)
  } catch (error) {
    if (error instanceof UserQueryError) return error
    throw error
  }
  throw new Error(`was let through: ${sql}`)
}

beforeAll(() => loadPostgresGrammar())

describe('the attack corpus', () => {
  it.each(readCorpus('attacks.postgres.txt'))('refuses $sql', ({ sql }) => {
    expect(refused(sql).status).toBe(422)
  })
})

describe('the honest corpus', () => {
  it.each([...readCorpus('honest.both.txt'), ...readCorpus('honest.postgres.txt')])(
    'prints $sql',
    ({ sql }) => {
      expect(printed(sql)).toMatch(/\S/)
    },
  )
})

/** The printed text without the column lists of the relations. */
const short = (sql: string) =>
  printed(sql).replace(/\( SELECT .*? FROM (chain_1_sql\.\w+)( WHERE [^)]*)? \)/g, '$1$2')

describe('rewrites', () => {
  it('turns 0x constants into bytes, so that indexes serve them', () => {
    const digits = 'ABcd'.repeat(10)
    expect(short(`SELECT 1 FROM logs WHERE address = '0x${digits}'`)).toBe(
      `SELECT 1 FROM chain_1_sql.logs AS logs WHERE address = '\\x${digits.toLowerCase()}'::bytea LIMIT 11`,
    )
  })

  it('reads ANY of patterns as each of them', () => {
    for (const patterns of ["'{a%, b%}'", "ARRAY['a%', 'b%']"])
      expect(short(`SELECT 1 FROM txs WHERE calls->>'to' LIKE ANY (${patterns})`)).toContain(
        "calls ->> 'to' LIKE 'a%' OR calls ->> 'to' LIKE 'b%'",
      )
  })

  it('takes 0x for empty bytes in a comparison and for characters elsewhere', () => {
    expect(short("SELECT '0x' || encode(data, 'hex') FROM logs WHERE data = '0x'")).toBe(
      "SELECT '0x' || encode(data, 'hex') FROM chain_1_sql.logs AS logs WHERE data = E'\\\\x'::bytea LIMIT 11",
    )
  })

  it('leaves text as text where the other side is text', () => {
    expect(short("SELECT '0xab'::text, calls->>'to' = '0xab' FROM txs")).toContain(
      "'0xab'::text, (calls ->> 'to') = '0xab'",
    )
  })

  it('puts a relation in place of its name, within the blocks that are covered', () => {
    const bounded = catalogOf('postgres', 'chain_1_sql', [
      { from: 0, to: 3 },
      { from: 7, to: 5_000_000_000 },
    ])
    const { sql, relations } = gatePostgres('SELECT count(*) FROM Logs l', bounded, 11)
    expect(sql).toContain(
      'FROM chain_1_sql.logs WHERE block_num BETWEEN 0 AND 3 OR block_num BETWEEN 7 AND 5000000000',
    )
    expect(sql).toMatch(/\) AS l LIMIT 11$/)
    expect(relations).toEqual(['logs'])
  })

  it('shows nothing of a relation that is covered nowhere', () => {
    expect(gatePostgres('SELECT 1 FROM logs', catalogOf('postgres', 's', []), 11).sql).toContain(
      'WHERE false',
    )
  })

  it('keeps a LIMIT that is smaller than the cap and lowers one that is larger', () => {
    expect(short('SELECT 1 LIMIT 3')).toBe('SELECT 1 LIMIT 3')
    expect(short('SELECT 1 LIMIT 300')).toBe('SELECT 1 LIMIT 11')
    expect(short('SELECT 1 UNION SELECT 2')).toBe('SELECT 1 UNION SELECT 2 LIMIT 11')
  })

  it('lets a CTE shadow a relation only where it is in scope', () => {
    const sql = 'WITH logs AS (SELECT * FROM logs) SELECT * FROM logs'
    expect(short(sql)).toBe(
      'WITH logs AS (SELECT * FROM chain_1_sql.logs AS logs) SELECT * FROM logs LIMIT 11',
    )
  })
})

describe('refusals', () => {
  it('say where, what and what to do instead', () => {
    expect(refused("SELECT 1\nFROM lgs WHERE x = '€'")).toMatchObject({
      code: 'sql_invalid',
      line: 2,
      column: 6,
      message: 'there is no table "lgs"',
      hint: 'did you mean logs?',
    })
  })

  it('count characters, not bytes', () => {
    expect(refused("SELECT '€€', pg_sleep(1)")).toMatchObject({ line: 1, column: 14 })
    expect(refused("SELECT '€€' frmo x y")).toMatchObject({ code: 'sql_invalid', line: 1, column: 18 })
  })

  it('name the column nearest to a misspelt one', () => {
    expect(refused('SELECT blocknum FROM logs')).toMatchObject({ hint: 'did you mean logs.block_num?' })
  })

  it('refuse a 0x constant with half a byte', () => {
    expect(refused("SELECT 1 FROM logs WHERE address = '0xabc'")).toMatchObject({ code: 'sql_invalid' })
  })

  const level = (of: string, from: string) => `SELECT ${of} AS x FROM (${from}) AS t`
  const levels = (count: number, of: string, from = 'SELECT hash AS x FROM blocks') =>
    Array.from({ length: count }).reduce<string>((inner) => level(of, inner), from)
  const long = 'SELECT data AS x FROM logs'
  const asCtes = `WITH ${[1, 2, 3, 4].map((n) => `c${n} AS (SELECT concat(x, x, x, x) AS x FROM ${n === 1 ? `(${long}) t` : `c${n - 1}`})`).join(', ')} SELECT x FROM c4`

  it.each([
    ['sub-selects', levels(10, 'x || x || x || x || x || x')],
    [
      'sub-selects whose values are only counted',
      `SELECT length(x) FROM (${levels(9, 'x||x||x||x||x||x')}) t`,
    ],
    ['CTEs', asCtes],
    ['columns by *', `SELECT x || x FROM (SELECT * FROM (${levels(9, 'x || x || x || x || x || x')}) a) b`],
    ['names given to columns', `SELECT y FROM (${levels(10, 'x || x || x || x || x || x')}) AS a(y)`],
    [
      'conditions',
      `SELECT 1 FROM (${levels(6, 'x || x || x || x', long)}) t WHERE length(x || x || x || x) > 1`,
    ],
    ['sub-selects in expressions', level(`(SELECT ${Array(40).fill('x').join(' || ')})`, long)],
    [
      'documents',
      levels(6, "jsonb_build_object('a', x, 'b', x, 'c', x, 'd', x)", 'SELECT calls AS x FROM txs'),
    ],
    ['arrays', levels(6, 'ARRAY[x, x, x, x]', long)],
    ['separators', level('array_to_string(ARRAY[x, x, x], x)', long)],
    ['texts of bytes of texts', level(`x${'::text::bytea'.repeat(12)}`, long)],
    [
      'what aggregates collect',
      `SELECT ${Array(6).fill('x').join(' || ')} FROM (SELECT string_agg(data::text, '') AS x FROM logs) t`,
    ],
    [
      'UNION',
      `SELECT 'x'::text UNION ALL ${levels(10, 'x || x || x || x || x || x', 'SELECT hash::text AS x FROM blocks')}`,
    ],
  ])('bound the memory of values that grow over %s', (_, sql) => {
    expect(refused(sql)).toMatchObject({
      code: 'sql_refused',
      message: `values of this SELECT can grow beyond ${EXPRESSIONS_BYTES_MAX} bytes`,
    })
  })

  it.each([
    ['a long line', `SELECT concat(${Array(90).fill("hash, ','").slice(0, 45).join(', ')}) FROM blocks`],
    [
      'parts of long values',
      levels(3, 'x||x||x||x||x||x||x||x', 'SELECT substring(data, 1, 32) AS x FROM logs'),
    ],
    ['levels that pass values on', levels(10, "lower(x) || '!'", 'SELECT data::text AS x FROM logs')],
    ['some long values', 'SELECT data || data || topic1 || data AS x, concat(data, address) FROM logs'],
    ['eight collected values', `SELECT ${Array(8).fill('array_agg(num)').join(', ')} FROM blocks`],
    [
      'collected texts in a line',
      "SELECT x || ',' || y FROM (SELECT string_agg(hash::text, ',') AS x, string_agg(miner::text, ',') AS y FROM blocks) t",
    ],
    [
      'CASEs within each other',
      `SELECT ${'CASE WHEN num = 1 THEN num ELSE '.repeat(60)}1${' END'.repeat(60)} FROM blocks`,
    ],
  ])('leave %s alone', (_, sql) => {
    expect(short(sql)).toContain('SELECT')
  })

  it.each([
    'substring(data::text, address::text)',
    'substring(data::text FROM address::text)',
    "substring(data::text FROM address::text FOR '#')",
    "substring(data::text SIMILAR address::text ESCAPE '#')",
    'substr(data::text, lower(address))',
    "substring(data::text, '0x.*')",
    'data::text SIMILAR TO address::text',
    'data::text ~ address::text',
    'data::text LIKE address::text',
    "data::text LIKE (SELECT 'a')",
    'split_part(data::text, address::text, 1)',
    'translate(data::text, address::text, topic1::text)',
    'btrim(data::text, address::text)',
    'ltrim(data::text, address::text)',
    'rtrim(data::text, address::text)',
    "replace(data::text, address::text, '')",
    "regexp_replace(data::text, 'a', 'b')",
    "regexp_match(data::text, 'a')",
    "regexp_split_to_array(data::text, 'a')",
    "string_to_array(data::text, 'a')",
    "calls::jsonb @? '$.a'",
    "jsonb_path_exists(calls::jsonb, '$.a')",
  ])('take no pattern of a row, and none that is not bounded: %s', (expression) => {
    expect(refused(`SELECT ${expression} FROM logs, txs`)).toMatchObject({ code: 'sql_refused' })
  })

  // The server alone knows the type of such a column; for a text it has no such operator.
  it('ask the server for a number where a text would be a pattern', () => {
    expect(short('SELECT substring(x, y) FROM (SELECT data AS x, topic1 AS y FROM logs) t')).toContain(
      '"substring"(x, CAST(+ y AS int4))',
    )
  })

  it.each([
    ['a chain of operators', `SELECT 1${'+1'.repeat(28_000)}`],
    ['a chain hidden behind an escaped quote', `SELECT E'\\''${'+1'.repeat(28_000)}`],
    ['a chain hidden in a comment', `SELECT 1 -- '\n${'+1'.repeat(28_000)}`],
    ['a chain hidden in a dollar quote', `SELECT $$'$$||$$'$$${'||1'.repeat(15_000)}`],
    ['parentheses', `SELECT ${'('.repeat(3_000)}1${')'.repeat(3_000)}`],
    ['casts', `SELECT 1${'::int'.repeat(1_900)}`],
    ['sub-selects', `SELECT ${'(SELECT '.repeat(100)}1${')'.repeat(100)}`],
    ['unions', `SELECT 1${' UNION ALL SELECT 1'.repeat(100)}`],
    ['constants', `SELECT 1 IN (1${',1'.repeat(25_000)})`],
    ['text over 64 KiB', `SELECT '${'x'.repeat(70_000)}'`],
    ['a NUL', 'SELECT \u0000 1'],
    ['half a surrogate pair', "SELECT '\ud800'"],
    ['nothing', ' '],
    ['only a comment', '-- SELECT 1'],
  ])('stop a flood: %s', (_, sql) => {
    expect(refused(sql).status).toBe(422)
  })
})
