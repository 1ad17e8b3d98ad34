import { describe, expect, it } from 'vitest'
import { catalogOf } from '#test/query/support/catalogs.ts'
import { readCorpus } from '#test/query/support/corpus.ts'
import { UserQueryError } from '../UserQueryError.ts'
import { gateClickHouse } from './gate.ts'

const catalog = catalogOf('clickhouse', 'chain_1_sql')
const printed = (sql: string) => gateClickHouse(sql, catalog, 11).sql
const refused = (sql: string): UserQueryError => {
  try {
    printed(sql)
  } catch (error) {
    if (error instanceof UserQueryError) return error
    throw error
  }
  throw new Error(`was let through: ${sql}`)
}

describe('the attack corpus', () => {
  it.each(readCorpus('attacks.clickhouse.txt'))('refuses $sql', ({ sql }) => {
    expect(refused(sql).status).toBe(422)
  })
})

describe('the honest corpora', () => {
  it.each([...readCorpus('honest.both.txt'), ...readCorpus('honest.clickhouse.txt')])(
    'print $sql',
    ({ sql }) => {
      expect(printed(sql)).toMatch(/\S/)
    },
  )
})

/** The printed text without the column lists of the relations. */
const short = (sql: string) => printed(sql).replace(/\(SELECT [^()]*? FROM (`\w+`\.`\w+`)\)/g, '$1')

describe('printing', () => {
  it('names every source itself and qualifies every column, so that no alias can shadow one', () => {
    expect(short("SELECT lower(hex(address)) AS address FROM logs WHERE address < '0xAB'")).toBe(
      "SELECT lowerUTF8(hex(t1.`address`)) AS `address` FROM `chain_1_sql`.`logs` AS t1 WHERE (concat(t1.`address`, '') < unhex('ab')) LIMIT 11",
    )
  })

  it('writes brackets around every operator but keeps runs of one level flat', () => {
    expect(short('SELECT 1 + 2 - 3 % 4, NOT 1 = 2 OR 3 = 4 AND 5 = 6')).toBe(
      "SELECT accurateCast((1 + 2 - accurateCast(modulo(toInt64(3), toInt64(4)), 'Int32')), 'Int32') AS `?column?`, ((NOT (1 = 2)) OR ((3 = 4) AND (5 = 6))) AS `?column? 2` LIMIT 11",
    )
  })

  it('escapes texts and names', () => {
    expect(short(`SELECT E'it''s \\\\ \\'quoted\\'' AS "a\`b"`)).toBe(
      "SELECT 'it\\'s \\\\ \\'quoted\\'' AS `a\\`b` LIMIT 11",
    )
  })

  it('gives constants the type of what they are compared with', () => {
    expect(short("SELECT 1 FROM txs WHERE input = '0x' AND calls = '0xab'")).toContain(
      "(t1.`input` = unhex('')) AND (t1.`calls` = '0xab')",
    )
    expect(short("SELECT 1 FROM blocks WHERE timestamp > '2026-01-01'")).toContain(
      "(t1.`timestamp` > parseDateTimeBestEffort('2026-01-01', 'UTC'))",
    )
  })

  it('makes whole numbers past 64 bits of text, since the engine would read floats', () => {
    expect(short('SELECT 18446744073709551616')).toContain("toUInt256('18446744073709551616')")
  })

  it('lets ORDER BY and LIMIT after a set operation mean all of it', () => {
    expect(short('SELECT 1 AS x UNION SELECT 2 ORDER BY x DESC LIMIT 3')).toBe(
      'SELECT t1.`x` AS `x` FROM ((SELECT 1 AS `x`) UNION DISTINCT (SELECT 2 AS `?column?`)) AS t1 ORDER BY t1.`x` DESC NULLS FIRST LIMIT 3',
    )
  })

  it('shows only the blocks that are covered', () => {
    const bounded = catalogOf('clickhouse', 'chain_1_sql', [
      { from: 0, to: 3 },
      { from: 7, to: 5_000_000_000 },
    ])
    const { sql, relations } = gateClickHouse('SELECT count(*) FROM Logs', bounded, 11)
    expect(sql).toContain(
      'FROM `chain_1_sql`.`logs` WHERE (`block_num` BETWEEN 0 AND 3) OR (`block_num` BETWEEN 7 AND 5000000000)) AS t1',
    )
    expect(relations).toEqual(['logs'])
    expect(gateClickHouse('SELECT 1 FROM logs', catalogOf('clickhouse', 's', []), 11).sql).toContain(
      'WHERE false',
    )
  })
})

describe('what the columns hold', () => {
  const types = (sql: string) =>
    gateClickHouse(sql, catalog, 11).columns.map(({ type }) => `${type.scalar}${type.isArray ? '[]' : ''}`)

  it('follows bytes through everything that keeps them', () => {
    const sql = `SELECT data, substring(data, 1, 4), any(data), argMax(data, block_num), if(log_idx = 0, data, NULL),
      coalesce(topic1, ''), data || '0xab', groupArray(data), arrayMap(x -> substring(x, 1, 2), [data]), max(x.d)
      FROM logs, (SELECT data AS d FROM logs UNION ALL SELECT input FROM txs) x GROUP BY data, block_num, log_idx, topic1`
    const bytes = 'bytes'
    expect(types(sql)).toEqual([bytes, bytes, bytes, bytes, bytes, bytes, bytes, 'bytes[]', 'bytes[]', bytes])
  })

  it('knows text, truth values and numbers from them', () => {
    expect(
      types("SELECT hex(data), toString(data), data = '0xab', length(data), 'x', count(*) FROM logs"),
    ).toEqual(['text', 'text', 'bool', 'int', 'text', 'bigint'])
  })
})

describe('refusals', () => {
  it('say where, what and what to do instead', () => {
    expect(refused('SELECT 1\nFROM lgs')).toMatchObject({ code: 'sql_invalid', line: 2, column: 6 })
    expect(refused('SELECT blocknum FROM logs')).toMatchObject({ hint: 'did you mean block_num?' })
    expect(refused('SELECT block_num FROM logs a, logs b')).toMatchObject({ hint: 'write table.column' })
    expect(refused("SELECT 1 FROM logs WHERE address = '0xabc'")).toMatchObject({
      code: 'sql_invalid',
      column: 36,
    })
  })

  it.each([
    ['a chain of operators', `SELECT 1${'+1'.repeat(28_000)}`],
    ['parentheses', `SELECT ${'('.repeat(3_000)}1${')'.repeat(3_000)}`],
    ['signs', `SELECT ${'- '.repeat(3_000)}1`],
    ['NOTs', `SELECT ${'NOT '.repeat(3_000)}1`],
    ['casts', `SELECT 1${'::Int8'.repeat(5_000)}`],
    ['subscripts', `SELECT x${'[1]'.repeat(5_000)} FROM logs`],
    ['IS NULLs', `SELECT 1${' IS NULL'.repeat(5_000)}`],
    ['types', `SELECT 1::${'Array('.repeat(3_000)}Int8${')'.repeat(3_000)}`],
    ['sub-selects', `SELECT ${'(SELECT '.repeat(100)}1${')'.repeat(100)}`],
    ['unions', `SELECT 1${' UNION ALL SELECT 1'.repeat(100)}`],
    ['lambdas', `SELECT arrayMap(${'x -> arrayMap('.repeat(1_000)}`],
    ['constants', `SELECT 1 IN (1${',1'.repeat(25_000)})`],
    ['CASE', `SELECT ${'CASE WHEN 1 THEN '.repeat(1_000)}`],
    ['names that double', `SELECT ${names(40)}`],
    ['subjects that double', `SELECT ${doubled(12)}`],
    ['arrays that double', `SELECT ${'('.repeat(40)}1${' < ANY (ARRAY[2]::bigint[]))'.repeat(40)}`],
    ['comparisons that grow', `SELECT ${'('.repeat(4)}1${` < ANY (ARRAY[1${',1'.repeat(90)}]))`.repeat(4)}`],
    ['bounds that double', `SELECT ${'('.repeat(40)}1${' BETWEEN SYMMETRIC 1 AND 2)'.repeat(40)}`],
    ['text over 64 KiB', `SELECT '${'x'.repeat(70_000)}'`],
    ['a NUL', 'SELECT \u0000 1'],
    ['a comment without end', 'SELECT 1 /* '],
    ['a quote without end', "SELECT 'x"],
    ['nothing', ' '],
    ['only a comment', '-- SELECT 1'],
    ['a name that is itself', 'SELECT a + 1 AS a'],
  ])('stop a flood: %s', (_, sql) => {
    expect(refused(sql).status).toBe(422)
  })
})

/** `1 AS n0, n0 + n0 AS n1, …`: written out, the last has 2 to the n terms. */
function names(count: number): string {
  return Array.from({ length: count }, (_, n) =>
    n === 0 ? '1 AS n0' : `n${n - 1} + n${n - 1} AS n${n}`,
  ).join(', ')
}

/** `CASE CASE … WHEN 1 THEN 1 … END`: the subject is written once per branch. */
function doubled(depth: number): string {
  const branches = 'WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 WHEN 4 THEN 4'
  return depth === 0 ? '1' : `CASE ${doubled(depth - 1)} ${branches} END`
}
