/** The state that compiling one query shares: names in scope, findings, printing, refusals. */

import { nearestOf } from '#text/nearest.ts'
import type { Catalog } from '../../relations/catalog.ts'
import { positionAt, UserQueryError } from '../../UserQueryError.ts'
import { correlatedHint } from '../../words/hints.ts'
import type { Expression, Name, Query, Window } from '../parse/ast.ts'
import type { ValueType } from './valueType.ts'

/** An expression as it will be sent, in brackets wherever brackets could matter. */
export interface Compiled {
  readonly sql: string
  readonly type: ValueType
}

/** A column that can be named: `sql` is how, `name` is what the user calls it. */
export interface NamedColumn extends Compiled {
  readonly name: string
}

/** An item of FROM, under the name the user gave it. */
export interface ScopeSource {
  readonly name: string | undefined
  readonly columns: readonly NamedColumn[]
}

/** Names an expression may use. */
export interface NameScope {
  readonly sources: readonly ScopeSource[]
  /** Columns of USING, which no longer belong to one side. */
  readonly merged: readonly NamedColumn[]
  /** Parameters of the lambdas around. */
  readonly parameters: ReadonlyMap<string, Compiled>
  /** The select list's own names, where no column has the name. */
  readonly findAlias: (name: string) => Compiled | undefined
  readonly windows: ReadonlySet<string>
  /**
   * Scope of the query around an EXISTS; its columns are seen where this one has none of the name.
   */
  readonly outer: NameScope | undefined
}

/** The scope of constants alone. */
export const nothingNamed: NameScope = {
  sources: [],
  merged: [],
  parameters: new Map(),
  findAlias: () => undefined,
  windows: new Set(),
  outer: undefined,
}

export interface CteColumns {
  /** Its name in the statement that is sent. */
  readonly sql: string
  readonly columns: readonly NamedColumn[]
}

export interface Compiler {
  readonly sql: string
  readonly catalog: Catalog
  readonly relations: Set<string>
  /** Whether the query could mean a column of this name. */
  readonly isMentioned: (column: string) => boolean
  /** The one spelling of a name that a column of the catalog has, else as it is written. */
  readonly spelled: (name: string) => string
  /** Numbers the sources and CTEs, so that every name sent is unique. */
  readonly nextNumber: () => number
  readonly expression: (expression: Expression, scope: NameScope) => Compiled
  readonly window: (window: Window, scope: NameScope) => string
  /** Expressions of which only true matters, since they filter rows. */
  readonly conditions: WeakSet<Expression>
  readonly query: (query: Query) => CompiledQuery
  /** CTEs visible here, by lowercase name. */
  readonly ctes: ReadonlyMap<string, CteColumns>
  readonly withCtes: (ctes: ReadonlyMap<string, CteColumns>) => Compiler
  /** Scope of the expression this query stands in, where it may use that scope's columns. */
  readonly outer: NameScope | undefined
  readonly withOuter: (outer: NameScope | undefined) => Compiler
}

export interface CompiledQuery {
  readonly sql: string
  readonly columns: readonly NamedColumn[]
}

/** A quoted identifier. */
export const quoteName = (name: string): string =>
  `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

/** A quoted text. */
export const quoteText = (text: string): string =>
  `'${text.replace(/[\\'\n\r\t]/g, (character) => escapes[character] ?? character)}'`

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** Bytes as a constant expression; the engine folds it before it looks for an index. */
export const quoteBytes = (hex: string): string => `unhex('${hex}')`

export function invalid(
  compiler: Pick<Compiler, 'sql'>,
  problem: string,
  at: number,
  hint?: string,
): UserQueryError {
  return new UserQueryError('sql_invalid', problem, { position: positionAt(compiler.sql, at), hint })
}

export function refused(
  compiler: Pick<Compiler, 'sql'>,
  problem: string,
  at: number,
  hint?: string,
): UserQueryError {
  return new UserQueryError('sql_refused', problem, { position: positionAt(compiler.sql, at), hint })
}

/**
 * The column a name means: a lambda's parameter, then a column in FROM, then a name of the select
 * list.
 * @throws UserQueryError when there is none, or more than one
 */
export function resolveColumn(compiler: Compiler, path: readonly Name[], scope: NameScope): Compiled {
  const [first, second] = path
  if (!first) throw invalid(compiler, 'a column is expected', 0)
  if (second) return columnOf(compiler, first, second, scope)
  const parameter = scope.parameters.get(first.text)
  if (parameter) return parameter
  const merged = matching(scope.merged, first.text)
  if (merged[0]) return merged[0]
  const found = scope.sources.flatMap((source) => matching(source.columns, first.text))
  const [column, other] = found
  if (other) throw invalid(compiler, `column "${first.text}" is ambiguous`, first.at, 'write table.column')
  const resolved = column ?? scope.findAlias(first.text)
  if (!resolved && scope.outer) return resolveColumn(compiler, path, scope.outer)
  if (!resolved)
    throw invalid(compiler, `there is no column "${first.text}"`, first.at, nearestColumn(first.text, scope))
  return resolved
}

function columnOf(compiler: Compiler, table: Name, column: Name, scope: NameScope): Compiled {
  const sources = scope.sources.filter((source) => source.name?.toLowerCase() === table.text.toLowerCase())
  const [source] = sources
  if (!source && scope.outer) return columnOf(compiler, table, column, scope.outer)
  if (!source) throw invalid(compiler, `there is no table "${table.text}" in FROM`, table.at, correlatedHint)
  const [found, other] = matching(source.columns, column.text)
  if (other) throw invalid(compiler, `column "${column.text}" is ambiguous`, column.at)
  if (!found) {
    throw invalid(
      compiler,
      `there is no column "${table.text}.${column.text}"`,
      column.at,
      nearestColumn(column.text, scope),
    )
  }
  return found
}

/** Columns of a name, in any case; in the same case where that decides. */
function matching(columns: readonly NamedColumn[], name: string): readonly NamedColumn[] {
  const lower = name.toLowerCase()
  const found = columns.filter((column) => column.name.toLowerCase() === lower)
  const exact = found.filter((column) => column.name === name)
  return exact.length > 0 ? exact : found
}

/** The column's name to write instead of one that no column has. */
export function nearestColumn(name: string, { sources }: NameScope): string | undefined {
  const names = sources.flatMap((source) => source.columns.map((column) => column.name))
  const found = nearestOf(name, names)
  if (found !== undefined) return `did you mean ${found}?`
  return names.length > 0 ? `columns: ${names.slice(0, HINT_COLUMNS_MAX).join(', ')}` : undefined
}

/** Columns named in a hint; the widest table has some forty. */
const HINT_COLUMNS_MAX = 40
