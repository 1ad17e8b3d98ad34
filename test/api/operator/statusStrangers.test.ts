// Goal: /status tells a stranger where the data stands, and no host, path, SQL or failure (13.4, B9).
// Method: a report in which every text that the document leaves free is one that must not be told;
// what is told all the same is a list of names that the program chose.
import { expect, onTestFinished, test } from 'vitest'
import { readStatusEndpoint, type StatusReport } from '#api/routes/service/status.ts'
import { anonymous } from '#http/request/access.ts'
import { isRecord } from '#primitives.ts'
import type { Json } from '../../blackbox/apiDocument.ts'
import { startServer } from '../support/toolkitServer.ts'

const secret = 'postgres://millrace:pass@db.internal:5432 /var/lib/millrace SELECT secret'

/** Names of the program's own, by their place. */
const told = new Set([
  'version',
  'chains.finality.identity',
  'chains.finality.statedKey.identity',
  'chains.stores.postgres.state',
  'chains.stores.clickhouse.state',
  'chains.lanes.state',
  'chains.projections.name',
  'chains.verification.headerRule',
  'chains.verification.provisional',
  'chains.verification.unproved',
  'chains.verification.audit.differences.table',
])

/** A value of the schema with one item in each list, and the secret wherever a text is free. */
function sampleOf(schema: Json, document: Json): unknown {
  if (typeof schema.$ref === 'string')
    return sampleOf(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''], document)
  const [branch] = (schema.anyOf ?? []).filter((one: Json) => one.type !== 'null')
  if (branch) return sampleOf(branch, document)
  if (schema.enum) return schema.enum[0]
  if (schema.const !== undefined) return schema.const
  if (schema.type === 'array') return [sampleOf(schema.items, document)]
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, sampleOf(member as Json, document)]),
    )
  if (schema.type === 'string') return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : secret
  return schema.type === 'boolean' ? true : 1
}

/** Places of a value that hold the secret; of the items of a list the list's own. */
function placesOf(value: unknown, place: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => placesOf(item, place))
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, member]) => placesOf(member, [...place, name]))
  return value === secret ? [place.join('.')] : []
}

async function openStatus(isOperator: boolean) {
  const report: { current: StatusReport | null } = { current: null }
  const server = await startServer(
    [readStatusEndpoint],
    {
      status: {
        ready: async () => ({ ready: true }),
        waitForBlock: async () => {},
        status: () => {
          if (!report.current) throw new Error('no report')
          return report.current
        },
      },
    },
    {
      access: {
        identify: () => ({ ...anonymous, isOperator }),
        admit: () => ({ kind: 'admitted', headers: {} }),
      },
    },
  )
  onTestFinished(() => server.app.close())
  const get = async (path: string) => (await fetch(server.origin + path)).json() as Promise<Json>
  const document = await get('/openapi.json')
  const { schema } = document.paths['/status'].get.responses['200'].content['application/json']
  report.current = sampleOf(schema, document) as StatusReport
  return { report: report.current, shown: await get('/status') }
}

test('the operator is told everything', async () => {
  const { report, shown } = await openStatus(true)
  expect(shown).toEqual(report)
  expect(placesOf(shown).length).toBeGreaterThan(told.size + 8)
})

test('a stranger is told names of ours alone', async () => {
  const { shown } = await openStatus(false)
  expect(new Set(placesOf(shown))).toEqual(told)
  expect(shown).toMatchObject({ degraded: true, notes: [], alarms: [{ problem: shown.alarms[0].code }] })
  expect(shown.chains[0]).toMatchObject({ endpoints: [], relay: { endpoints: [] }, forks: [] })
})
