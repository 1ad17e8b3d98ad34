// Goal: no listing, new or held since before, makes a service or its schemas larger than they may be.
// Method: documents of some KB that would become hundreds of MB; rows of an older program.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CatalogService } from '#orchestrator/catalog/service.ts'
import { findServices, listServices } from '#rows/catalog/catalogReads.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { freshDatabase } from '../support/engines.ts'
import { openCatalog, shop, type TestCatalog } from './support/catalog.ts'

const KIB = 1_024
const migration = new URL('../../sql/postgres/app/0015_bound_catalog.sql', import.meta.url)
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const post = (path: string, inputSchema: unknown, more: object = {}) => ({
  ...{ method: 'POST', path, inputSchema },
  ...more,
})

describe('an import', () => {
  let catalog: TestCatalog
  beforeAll(async () => {
    catalog = await openCatalog((end) => void ends.push(end))
  })
  const imported = async (endpoints: readonly object[]) => {
    const report = await catalog.importAs('a', [shop('one', { endpoints })])
    const [stored] = await findServices(catalog.app, ['one'])
    return {
      endpoints: (stored?.document as CatalogService | undefined)?.endpoints ?? [],
      problems: report.problems.map(({ path, message }) => `${path.join('.')}: ${message}`),
      stored,
    }
  }

  it.each([
    ['a long enum', { enum: [...Array(3_000).keys()].map((i) => `member ${i}`) }],
    ['a long default', { default: 'x'.repeat(40 * KIB) }],
    [
      'many names',
      { properties: Object.fromEntries([...Array(900).keys()].map((i) => [`n${i}`.padEnd(60), true])) },
    ],
    [
      'depth',
      {
        default: Array(100)
          .fill(0)
          .reduce((inner) => [inner], 'x'),
      },
    ],
  ])('drops a schema whose references write out %s again and again, and says so', async (_, large) => {
    const properties = Object.fromEntries(
      [...Array(100).keys()].map((i) => [`m${i}`, { $ref: '#/$defs/large' }]),
    )
    const found = await imported([post('/a', { properties, $defs: { large } })])
    expect(found.endpoints).toMatchObject([{ path: '/a' }])
    expect(found.endpoints[0]).not.toHaveProperty('inputSchema')
    expect(found.problems).toEqual([
      '0.endpoints.0.inputSchema: is left out: it has more than 65536 bytes, references written out',
    ])
  })

  it('keeps long texts of a schema, cut', async () => {
    const found = await imported([post('/a', { type: 'object', description: 'x'.repeat(200 * KIB) })])
    expect(found.problems).toEqual([])
    expect(bytesOf(found.endpoints)).toBeLessThan(3 * KIB)
  })

  it('keeps a service below 1 MiB: later endpoints lose their schemas, then themselves', async () => {
    const schema = { enum: ['x'.repeat(60 * KIB)] }
    const described = await imported([...Array(40).keys()].map((i) => post(`/${i}`, schema)))
    expect(bytesOf(described.stored?.document)).toBeLessThan(1_024 * KIB)
    expect(described.endpoints).toHaveLength(40)
    expect(described.endpoints.filter((each) => each.inputSchema)).toHaveLength(8)
    expect(described.problems).toHaveLength(32)
    expect(described.problems[0]).toMatch(
      /^0\.endpoints\.8\.inputSchema: is left out with its example: it makes/,
    )

    const aliases = [...Array(50).keys()].map((i) => `${i}`.padEnd(200, 'x'))
    const long = await imported(
      [...Array(200).keys()].map((i) => post(`/${i}`, undefined, { aliases, examples: aliases })),
    )
    expect(bytesOf(long.stored?.document)).toBeLessThan(1_024 * KIB)
    expect(long.endpoints.length).toBeGreaterThan(20)
    expect(long.problems).toHaveLength(200 - long.endpoints.length)
  })

  it.each(['\u0000', '\ud800'])('keeps no text that a database cannot hold: %j', async (text) => {
    const found = await imported([
      post('/a', { enum: [text] }),
      post('/b', { properties: { [text]: true } }),
      post('/c', { enum: ['\\u0000'] }, { inputExample: ['\\ud800'] }),
    ])
    expect(found.endpoints.map(({ path, inputSchema }) => [path, inputSchema !== undefined])).toEqual([
      ['/a', false],
      ['/b', false],
      ['/c', true],
    ])
    expect(found.problems).toHaveLength(2)
  })

  it('leaves lists what they show, without endpoints', async () => {
    await imported([post('/a', { enum: ['x'.repeat(60 * KIB)] }), post('/b', {})])
    const [listed] = await listServices(catalog.app, { after: null, limit: 10 })
    expect(listed).toMatchObject({ serviceId: 'one', endpointCount: 2, summary: { name: 'Shop one' } })
    expect(bytesOf(listed)).toBeLessThan(KIB)
  })
})

describe('a catalog of an older program', () => {
  let postgres: Postgres
  beforeAll(async () => {
    const database = await freshDatabase()
    postgres = openPostgres({ url: database.databaseUrl, applicationName: 'test', log: silentLogger })
    ends.push(async () => {
      await postgres.close()
      await database.drop()
    })
    await migrateApp(postgres)
    await postgres.pool.query(`
      ALTER TABLE app.catalog_entries DROP COLUMN summary, DROP COLUMN endpoint_count;
      INSERT INTO app.catalog_services (service_id, service_url, skeleton)
      SELECT id, 'https://' || id, id FROM unnest('{small,wide,long,many}'::text[]) id;
      INSERT INTO app.catalog_entries (source_id, external_id, service_id, is_shown, document, digest)
      SELECT 'old', id, id, true, jsonb_build_object('name', id, 'provider', '{}'::jsonb, 'endpoints', endpoints), 'held'
      FROM (VALUES
        ('small', '[{"path": "/0", "inputSchema": {"enum": [1]}}]'::jsonb),
        ('wide', jsonb_build_array(
          jsonb_build_object('path', '/0', 'inputSchema', jsonb_build_object('enum', jsonb_build_array(repeat('x', 70000)))),
          jsonb_build_object('path', '/1', 'inputSchema', '{"enum": [1]}'::jsonb))),
        ('long', (SELECT jsonb_agg(jsonb_build_object(
          'path', '/' || n, 'inputExample', 1, 'inputSchema', jsonb_build_object('enum', jsonb_build_array(repeat('x', 60000)))) ORDER BY n)
          FROM generate_series(0, 39) n)),
        ('many', (SELECT jsonb_agg(jsonb_build_object('path', '/' || n, 'description', repeat('x', 20000)) ORDER BY n)
          FROM generate_series(0, 99) n))) v (id, endpoints);
      INSERT INTO app.catalog_endpoints (entry, ordinal, terms, document, service_id, is_shown)
      SELECT entry, ordinal, '', '{"method": "GET", "path": "/"}', service_id, true
      FROM app.catalog_entries, generate_series(0, jsonb_array_length(document -> 'endpoints') - 1) ordinal`)
    // By itself, whatever migrations came after it.
    await postgres.pool.query(readFileSync(migration, 'utf8'))
  })

  it('is cut as an import would, and the next import of its sources writes it anew', async () => {
    const { rows } = await postgres.pool.query(`
      SELECT service_id AS id, digest, endpoint_count AS count, summary, octet_length(document::text) <= 1048576 AS fits,
        (SELECT count(*) FROM jsonb_array_elements(document -> 'endpoints') p WHERE p ? 'inputSchema') AS schemas,
        (SELECT count(*) FROM app.catalog_endpoints p WHERE p.entry = e.entry) AS searched
      FROM app.catalog_entries e ORDER BY entry`)
    const kept = (id: string, more: object) => ({
      id,
      digest: '',
      fits: true,
      summary: { name: id },
      ...more,
    })
    expect(rows).toEqual([
      kept('small', { digest: 'held', count: 1, schemas: 1, searched: 1 }),
      kept('wide', { count: 2, schemas: 1, searched: 2 }),
      kept('long', { count: 40, schemas: 0, searched: 40 }),
      kept('many', { count: 49, schemas: 0, searched: 49 }),
    ])
  })
})
