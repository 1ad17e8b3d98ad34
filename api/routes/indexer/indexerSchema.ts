/**
 * GET /v1/indexer/schema: what SQL may name on an engine, with a comment on every relation and
 * column.
 */

import type { AbiEvent } from 'viem'
import { endpoint } from '#http/endpoint.ts'
import { openToAll } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type Engine, engines } from '#primitives.ts'
import { type DecodedTable, describeDecoded, readSignatures } from '#query/decoded/decodedTable.ts'
import { findIndexedCountIn } from '#query/decoded/findIndexedCount.ts'
import { functionNamesOf } from '#query/functionNames.ts'
import { exampleQueries, sampleQuery } from '#query/relations/exampleQueries.ts'
import { relationsOf } from '#query/relations/views.ts'
import { events } from '#transform/events/index.ts'
import { type ReadServices, readsOf } from '../../services.ts'
import { signatureParameter } from './indexer.ts'
import { publicly } from './userSql.ts'

const column = s.object({
  name: s.text(),
  type: s.oneOf(['int', 'bigint', 'numeric', 'bytes', 'text', 'bool', 'timestamp', 'json', 'float', 'date'], {
    description: 'As in `columnTypes` of a result.',
  }),
  comment: s.text(),
})

const relation = s.named('IndexerRelation', {
  name: s.text({ description: 'What stands in FROM, in any case.' }),
  comment: s.text({ description: 'What one row is.' }),
  sample: s.text({ description: 'SQL of its newest rows.' }),
  columns: s.array(column),
})

const indexerSchema = s.named('IndexerSchema', {
  engine: s.oneOf(engines),
  relations: s.array(relation),
  functions: s.array(s.text(), { description: 'Functions that SQL may call.' }),
  events: s.array(s.text(), { description: 'Events the program knows, as `signature` takes them.' }),
  examples: s.array(s.object({ title: s.text(), sql: s.text() }), {
    description: 'Queries that run on this engine.',
  }),
})

/** The endpoint's answer. */
export type IndexerSchema = s.Static<typeof indexerSchema>

export const readIndexerSchemaEndpoint = endpoint({
  path: '/v1/indexer/schema',
  summary: 'The relations and columns that SQL may name, with comments.',
  chain: 'query',
  access: openToAll,
  filters: {
    engine: p.withDefault(p.described(p.oneOf(...engines), 'Engine the query would run on.'), 'postgres'),
    signature: signatureParameter,
  },
  response: indexerSchema,
  errors: ['sql_invalid'],
  read: async ({ chainId, filters }, services: ReadServices) => {
    const { postgres, state, declared } = readsOf(services, chainId)
    const findIndexedCount = findIndexedCountIn(postgres, state.schema)
    const tables = await publicly(() => readSignatures(filters.signature, findIndexedCount))
    return { engine: filters.engine, tables: [...declared.tables, ...tables] }
  },
  present: schemaOf,
  cache: 'metadata',
})

/** Each once: contracts share some. */
const knownSignatures = [...new Set(events.map(({ abi }) => writtenSignature(abi)))].sort()

/** `Transfer(address indexed from, address indexed to, uint256 value)` */
function writtenSignature({ name, inputs }: AbiEvent): string {
  const written = inputs.map(({ type, indexed, name: named }) =>
    [type, indexed ? 'indexed' : '', named ?? ''].filter((word) => word !== '').join(' '),
  )
  return `${name}(${written.join(', ')})`
}

interface Asked {
  readonly engine: Engine
  readonly tables: readonly DecodedTable[]
}

function schemaOf({ engine, tables }: Asked): IndexerSchema {
  return {
    engine,
    relations: [...relationsOf(engine), ...tables.map(describeDecoded)].map((relation) => ({
      name: relation.name,
      comment: relation.comment,
      sample: sampleQuery(relation),
      columns: relation.columns.map(({ name, type, comment }) => ({ name, type, comment })),
    })),
    functions: functionNamesOf(engine),
    events: knownSignatures,
    examples: exampleQueries[engine].map(({ title, sql }) => ({ title, sql })),
  }
}
