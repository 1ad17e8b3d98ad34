/**
 * The gate for analysts' SQL on ClickHouse. A strict parser reads a SELECT subset; every name is
 * resolved against the catalog and every function against a list; what is sent is printed from
 * that, never the user's text. The engine's own parser is not asked, since it reads far more than
 * analysts need (SETTINGS, FORMAT, table functions, `IN table`).
 */

import type { Catalog } from '../relations/catalog.ts'
import { assertText } from '../text.ts'
import { UserQueryError } from '../UserQueryError.ts'
import { type Label, labelled, several } from '../words/labels.ts'
import type { Compiled, Compiler } from './compile/Compiler.ts'
import { compileExpression } from './compile/compileExpression.ts'
import { compileQuery } from './compile/select/compileQuery.ts'
import { windowSql } from './compile/select/compileSelect.ts'
import type { ValueType } from './compile/valueType.ts'
import type { Expression, SetExpression } from './parse/ast.ts'
import { tokenize } from './parse/lexer.ts'
import { parse } from './parse/parse.ts'

export interface ClickHouseStatement {
  /** One SELECT without FORMAT or SETTINGS. */
  readonly sql: string
  readonly relations: readonly string[]
  /**
   * Name and inferred type of each output column, in order; the engine's own type decides where
   * this says `unknown`.
   */
  readonly columns: readonly { readonly name: string; readonly type: ValueType }[]
}

/**
 * A printed query may be longer than the one that was asked, since names of the select list are written out
 * where used.
 */
const PRINTED_CHARACTERS_MAX = 250_000

/**
 * Checks and rewrites a user's query.
 * @param rowsMax rows the statement may return; the caller asks for one more than it shows, to know
 * of a cut
 * @throws UserQueryError `sql_invalid` or `sql_refused`, with line, column and hint
 */
export function gateClickHouse(sql: string, catalog: Catalog, rowsMax: number): ClickHouseStatement {
  assertText(sql)
  const query = parse(sql)
  const relations = new Set<string>()
  const compiled = compileQuery(compilerOf(sql, catalog, relations), query, rowsMax)
  if (compiled.sql.length > PRINTED_CHARACTERS_MAX)
    throw new UserQueryError('sql_refused', 'the query has too many parts')
  const names = labelled(
    compiled.columns.map(({ name }) => name),
    labelsOf(query.body),
  )
  return {
    sql: compiled.sql,
    relations: [...relations].sort(),
    columns: compiled.columns.map(({ name, type }, index) => ({ name: names[index] ?? name, type })),
  }
}

/** Names of the outermost select list as they are written. */
function labelsOf(body: SetExpression): readonly Label[] {
  if (body.kind === 'set') return labelsOf(body.left)
  if (body.kind === 'nested') return labelsOf(body.query.body)
  return body.items.map((item) => {
    if (item.kind === 'star') return several
    return (
      item.alias?.text ?? (item.expression.kind === 'column' ? item.expression.path.at(-1)?.text : undefined)
    )
  })
}

function compilerOf(sql: string, catalog: Catalog, relations: Set<string>): Compiler {
  let number = 0
  const spellings = new Map(
    [...catalog.values()].flatMap(({ columns }) => columns.map(({ name }) => [name.toLowerCase(), name])),
  )
  const isMentioned = mentionedNames(sql)
  const conditions = new WeakSet<Expression>()
  const within = (ctes: Compiler['ctes'], outer: Compiler['outer']): Compiler => {
    const compiler: Compiler = {
      sql,
      catalog,
      relations,
      isMentioned,
      spelled: (name) => spellings.get(name.toLowerCase()) ?? name,
      conditions,
      ctes,
      outer,
      withCtes: (visible) => within(visible, outer),
      withOuter: (scope) => within(ctes, scope),
      nextNumber: () => ++number,
      expression: (expression, scope) => bounded(compileExpression(compiler, expression, scope)),
      window: (window, scope) => windowSql(compiler, window, scope),
      query: (query) => compileQuery(compiler, query),
    }
    return compiler
  }
  return within(new Map(), undefined)
}

/** Whether a name stands in the text, or a `*` that may mean it. */
function mentionedNames(sql: string): (name: string) => boolean {
  const tokens = tokenize(sql)
  const names = new Set(tokens.flatMap(({ kind, text }) => (kind === 'symbol' ? [] : [text.toLowerCase()])))
  const hasStar = tokens.some(({ text }, index) => text === '*' && tokens[index - 1]?.text !== '(')
  return (name) => hasStar || names.has(name.toLowerCase())
}

/**
 * Each name of a select list that is used doubles what it stands for, so the bound holds at every
 * step.
 */
function bounded(compiled: Compiled): Compiled {
  if (compiled.sql.length > PRINTED_CHARACTERS_MAX)
    throw new UserQueryError('sql_refused', 'the query has too many parts')
  return compiled
}
