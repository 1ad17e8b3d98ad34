/**
 * The gate for analysts' SQL on Postgres. The server's own grammar reads the text, every node is
 * checked against an allow-list and copied into a tree of ours, and that tree is printed: the
 * user's text itself is never sent. What is printed is read back and must be the same tree, so a
 * mistake of the printer cannot change what was checked.
 */

import { isDeepStrictEqual } from 'node:util'
import { deparseSync } from 'pgsql-parser'
import type { Catalog } from '../../relations/catalog.ts'
import { type SqlPosition, UserQueryError } from '../../UserQueryError.ts'
import type { Label } from '../../words/labels.ts'
import { inPostgresWords } from '../parse/dialect.ts'
import { loadPostgresGrammar, parsePostgres, parseStatements } from '../parse/parse.ts'
import { placeOf, placesIn } from '../parse/places.ts'
import {
  type GateFindings,
  integerConstant,
  isFields,
  type NodeFields,
  sqlRefusal,
  type Walk,
} from '../parse/walk.ts'
import { assertColumnNames } from './expressions/columns.ts'
import { labelsOf, spellingsOf } from './expressions/spelling.ts'
import { assertGrowth } from './growth.ts'
import { nodeRules } from './nodes.ts'
import { withQualify } from './qualify.ts'
import { rebuildStatement } from './rebuild.ts'
import { assertQualifiedNames } from './resolve.ts'

export interface PostgresStatement {
  /** One SELECT, safe to send on the extended protocol. */
  readonly sql: string
  /** Relations of the catalog it reads, sorted. */
  readonly relations: readonly string[]
  /** It has the parameters that were asked for; a query that reads no blocks has none. */
  readonly isBound: boolean
  /** Names of its columns as they are written. */
  readonly labels: readonly Label[]
  /** The place in the user's text of one in the statement, both as offsets; undefined for none. */
  readonly placeOf: (offset: number) => SqlPosition | undefined
}

export { loadPostgresGrammar }

/**
 * Checks and rewrites a user's query.
 * @param rowsMax rows the statement may return; the caller asks for one more than it shows, to know
 * of a cut
 * @param boundRanges how many ranges of blocks the statement takes as parameters, from and to of
 * each
 * @throws UserQueryError `sql_invalid` or `sql_refused`, with line, column and hint
 */
export function gatePostgres(
  sql: string,
  catalog: Catalog,
  rowsMax: number,
  boundRanges?: number,
): PostgresStatement {
  const statement = parsePostgres(sql)
  const walk: Walk = {
    sql,
    catalog,
    boundRanges,
    findings: newFindings(),
    ctes: new Set(),
    keyTerms: new Map(),
    spellings: spellingsOf(catalog, sql, statement),
    selectDepth: 0,
    isCollecting: false,
    at: -1,
  }
  if (!isFields(statement) || !isFields(statement['SelectStmt']))
    throw sqlRefusal(walk, 'only SELECT is allowed')
  const checked = withLimit(rebuildStatement(statement, walk), rowsMax)
  assertColumnNames(walk)
  assertQualifiedNames(checked, walk)
  assertGrowth(checked, walk)
  const rebuilt = withQualify(checked, walk.findings.qualified)
  const relations = [...walk.findings.relations].sort()
  const readsBlocks = relations.some((name) => catalog.get(name)?.blockColumn !== null)
  const printed = print(rebuilt)
  const places = placesIn(printed.tree, rebuilt)
  return {
    sql: printed.sql,
    relations,
    isBound: boundRanges !== undefined && readsBlocks,
    labels: labelsOf(statement, inPostgresWords(sql)),
    placeOf: (offset) => placeOf(offset, printed.sql, places, sql),
  }
}

const newFindings = (): GateFindings => ({
  relations: new Set(),
  names: new Set(),
  columnReferences: [],
  places: new Map(),
  relationColumns: new Map(),
  qualified: new Map(),
  nodeCount: 0,
  collectorCount: 0,
  selectCount: 0,
})

/** Caps the outermost LIMIT; a smaller one of the query's own stays. */
function withLimit(statement: unknown, rowsMax: number): NodeFields {
  const select = isFields(statement) && isFields(statement['SelectStmt']) ? statement['SelectStmt'] : {}
  const own = integerConstant(select['limitCount'])
  const limit = Math.min(own ?? rowsMax, rowsMax)
  const limitCount = { A_Const: { ival: limit === 0 ? {} : { ival: limit } } }
  return { SelectStmt: { ...select, limitCount, limitOption: 'LIMIT_OPTION_COUNT' } }
}

function print(statement: NodeFields): { readonly sql: string; readonly tree: unknown } {
  // The printer's types know every node of the grammar; ours are those of nodes.ts, checked when
  // the tree was built.
  const sql = deparseSync(statement as Parameters<typeof deparseSync>[0], { pretty: false })
  const tree = treeOf(sql)
  if (!isDeepStrictEqual(withoutPlaces(tree), withoutPlaces(statement))) {
    throw new UserQueryError('sql_refused', 'this way of writing the query is not supported', {
      hint: 'write it in a plainer form, for example with explicit parentheses',
    })
  }
  return { sql, tree }
}

function treeOf(sql: string): unknown {
  try {
    const [statement] = parseStatements(sql)
    return isFields(statement) ? statement['stmt'] : undefined
  } catch {
    return undefined
  }
}

const placeNames = new Set(
  [...nodeRules.values()].flatMap((rules) =>
    Object.keys(rules).filter((name) => rules[name]?.kind === 'place'),
  ),
)

function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPlaces)
  if (!isFields(value)) return value
  const kept = Object.entries(value).filter(([name]) => !placeNames.has(name))
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutPlaces(inner)]))
}
