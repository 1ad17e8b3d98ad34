// Goal: tables by signature open no way around the gates, whatever their names and columns are
// called.

import { beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '#primitives.ts'
import { gateClickHouse } from '#query/clickhouse/gate.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { gatePostgres, loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import type { Catalog } from '#query/relations/catalog.ts'
import { catalogOf } from '../support/catalogs.ts'
import { readCorpus } from '../support/corpus.ts'

/** Names that mean something to the engines. */
const signatures = [
  'pg_authid(address indexed rolname, string rolpassword, uint256 xmin)',
  'numbers(uint256 indexed number, bytes file, string url)',
  'event system(uint8 tables, (string[] version, bytes query)[] columns) as users',
  'function pg_read_file(string path, bytes ctid)',
]

const gates = {
  postgres: (sql: string, catalog: Catalog) => gatePostgres(sql, catalog, 100).sql,
  clickhouse: (sql: string, catalog: Catalog) => gateClickHouse(sql, catalog, 100).sql,
}

describe.each(['postgres', 'clickhouse'] as const)('the gate of %s', (engine: Engine) => {
  const plain = catalogOf(engine, 'chain_1_sql')
  let decoded: Catalog
  beforeAll(async () => {
    await loadPostgresGrammar()
    decoded = bindDecoded(plain, await readSignatures(signatures, async () => 0))
  })

  const isRefused = (sql: string, catalog: Catalog): boolean => {
    try {
      gates[engine](sql, catalog)
      return false
    } catch {
      return true
    }
  }
  // A name of the corpus may now be a table; what it stands for then is the table, never what the
  // engine has.
  const escapes = /"?chain_1_sql"?\.|`chain_1_sql`\./

  it.each(readCorpus(`attacks.${engine}.txt`))('refuses as before: $sql', ({ sql }) => {
    if (!isRefused(sql, plain) || isRefused(sql, decoded)) return
    const sent = gates[engine](sql, decoded)
    expect(sent).toMatch(escapes)
    expect(sent).not.toMatch(/FROM\s+(?:pg_authid|numbers|users|pg_read_file)\b/i)
  })

  it('calls none of the functions that decode by a name of the user’s', () => {
    for (const call of [
      'word_uint(topic1)',
      'abi_string(data)',
      'chain_1_sql.abi_uint(topic1)',
      'abi_json(topic1, data)',
    ])
      expect(isRefused(`SELECT ${call} FROM logs`, decoded)).toBe(true)
  })
})
