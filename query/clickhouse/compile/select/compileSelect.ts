/** One SELECT: the list with its names, filters, grouping, order and windows. */

import type { Expression, GroupBy, LimitBy, OrderItem, Select, SelectItem, Window } from '../../parse/ast.ts'
import {
  type Compiled,
  type CompiledQuery,
  type Compiler,
  invalid,
  type NamedColumn,
  type NameScope,
  nearestColumn,
  quoteName,
} from '../Compiler.ts'
import { isAbsent } from '../operators/compileArray.ts'
import { type Declared, outputName } from '../outputName.ts'
import { compileFrom } from './compileSource.ts'

/** The clauses that follow a SELECT in its query. */
export interface SelectTail {
  readonly orderBy: readonly OrderItem[]
  readonly limitBy: LimitBy | undefined
}

export function compileSelect(compiler: Compiler, select: Select, tail: SelectTail): CompiledQuery {
  const windows = new Set(select.windows.map(({ name }) => name.text))
  const plain = { parameters: new Map(), windows, outer: compiler.outer }
  const from = compileFrom(compiler, select, (names) => ({ ...names, ...plain, findAlias: () => undefined }))
  const list = new SelectList(compiler, select.items)
  const scope: NameScope = { ...from, ...plain, findAlias: (name) => list.findAlias(name) }
  const columns = list.compile(scope)
  const clauses = [
    clause('WHERE', select.where, compiler, scope),
    select.groupBy ? groupBySql(compiler, select.groupBy, scope, list) : '',
    clause('HAVING', select.having, compiler, scope),
    windowsSql(compiler, select, scope),
    clause('QUALIFY', select.qualify, compiler, scope),
    orderSql(compiler, tail.orderBy, scope, list),
    limitBySql(compiler, tail.limitBy, scope, list),
  ]
  const on = select.distinctOn.map((expression) => compiler.expression(expression, scope).sql)
  const distinct = select.isDistinct ? 'DISTINCT ' : on.length > 0 ? `DISTINCT ON (${on.join(', ')}) ` : ''
  const items = columns.map((column) => `${column.sql} AS ${quoteName(column.alias)}`).join(', ')
  return {
    sql: `SELECT ${distinct}${items}${from.sql}${clauses.join('')}`,
    columns: columns.map(({ name, alias, type }) => ({ name, sql: quoteName(alias), type })),
  }
}

/**
 * A column of the list: `alias` is its name in what is sent, unique where the user's need not be.
 */
interface ListColumn extends NamedColumn {
  readonly alias: string
}

/**
 * The select list; its names are compiled when first asked for, since they may be used before they
 * are written.
 */
class SelectList {
  readonly #compiler: Compiler
  readonly #items: readonly SelectItem[]
  readonly #compiled = new Map<SelectItem, Compiled>()
  readonly #busy = new Set<SelectItem>()
  #scope: NameScope | undefined
  #columns: readonly ListColumn[] = []

  constructor(compiler: Compiler, items: readonly SelectItem[]) {
    this.#compiler = compiler
    this.#items = items
  }

  compile(scope: NameScope): readonly ListColumn[] {
    this.#scope = scope
    const declared: Declared = {
      columnOf: ({ path }) => declaredName(path.at(-1)?.text ?? '', scope),
      spelled: this.#compiler.spelled,
    }
    const columns = this.#items.flatMap((item): NamedColumn[] => {
      if (item.kind === 'star') return this.#expand(item, scope)
      return [{ ...this.#compileItem(item, scope), name: outputName(item, declared) }]
    })
    const taken = new Set<string>()
    this.#columns = columns.map((column, index) => {
      const alias = taken.has(column.name) ? `${column.name} ${index + 1}` : column.name
      taken.add(alias)
      return { ...column, alias }
    })
    return this.#columns
  }

  /** The expression behind a name the list gives; undefined when it gives no such name. */
  findAlias(name: string): Compiled | undefined {
    const item = this.#named(name)
    return item && this.#scope ? this.#compileItem(item, this.#scope) : undefined
  }

  /**
   * Position, from 1, of the column an ORDER BY or GROUP BY item names, by number or by the list's
   * own name.
   */
  positionOf(expression: Expression): number | undefined {
    if (expression.kind === 'number') {
      const position = Number(expression.text)
      if (Number.isInteger(position) && position >= 1 && position <= this.#columns.length) return position
      throw invalid(this.#compiler, `there is no column number ${expression.text}`, expression.at)
    }
    if (expression.kind !== 'column' || expression.path.length !== 1) return undefined
    const item = this.#named(expression.path[0]?.text ?? '')
    if (!item || this.#items.some((candidate) => candidate.kind === 'star')) return undefined
    return this.#items.indexOf(item) + 1
  }

  columnAt(position: number): Compiled | undefined {
    return this.#columns[position - 1]
  }

  #named(name: string): Extract<SelectItem, { kind: 'item' }> | undefined {
    for (const item of this.#items) {
      if (item.kind === 'item' && item.alias?.text.toLowerCase() === name.toLowerCase()) return item
    }
    return undefined
  }

  #compileItem(item: Extract<SelectItem, { kind: 'item' }>, scope: NameScope): Compiled {
    const done = this.#compiled.get(item)
    if (done) return done
    // Its own name would mean itself: no column of FROM is called so.
    const own = item.alias?.text ?? ''
    if (this.#busy.has(item))
      throw invalid(this.#compiler, `there is no column "${own}"`, item.at, nearestColumn(own, scope))
    this.#busy.add(item)
    const compiled = this.#compiler.expression(item.expression, scope)
    this.#busy.delete(item)
    this.#compiled.set(item, compiled)
    return compiled
  }

  #expand(star: Extract<SelectItem, { kind: 'star' }>, scope: NameScope): NamedColumn[] {
    const { of } = star
    if (!of) {
      const merged = new Set(scope.merged.map((column) => column.name.toLowerCase()))
      const rest = scope.sources.flatMap(({ columns }) =>
        columns.filter(({ name }) => !merged.has(name.toLowerCase())),
      )
      const all = [...scope.merged, ...rest]
      if (all.length === 0) throw invalid(this.#compiler, '* needs a table in FROM', star.at)
      return all
    }
    const source = scope.sources.find(({ name }) => name?.toLowerCase() === of.text.toLowerCase())
    if (!source) throw invalid(this.#compiler, `there is no table "${of.text}" in FROM`, of.at)
    return [...source.columns]
  }
}

/** As a column of FROM has the name, where one has it in another case. */
function declaredName(name: string, scope: NameScope): string | undefined {
  const lower = name.toLowerCase()
  const names = scope.sources.flatMap(({ columns }) => columns.map((column) => column.name))
  const found = names.filter((candidate) => candidate.toLowerCase() === lower)
  return found.includes(name) ? name : found[0]
}

function clause(
  word: string,
  expression: Expression | undefined,
  compiler: Compiler,
  scope: NameScope,
): string {
  if (expression) markConditions(compiler, expression)
  return expression ? ` ${word} ${compiler.expression(expression, scope).sql}` : ''
}

/** Marks a condition and its parts joined by AND and OR: for them NULL and false are the same. */
function markConditions(compiler: Compiler, expression: Expression): void {
  compiler.conditions.add(expression)
  if (expression.kind === 'logic')
    for (const operand of expression.operands) markConditions(compiler, operand)
}

/** As in PostgreSQL, GROUP BY takes a name for a column in FROM first, then for one of the list. */
function groupBySql(
  compiler: Compiler,
  { modifier, sets, isGroupingSets }: GroupBy,
  scope: NameScope,
  list: SelectList,
): string {
  const item = (expression: Expression): string => {
    const hasColumn =
      expression.kind === 'column' && scope.sources.some(({ columns }) => isNamed(columns, expression))
    const position = hasColumn ? undefined : list.positionOf(expression)
    return position === undefined ? compiler.expression(expression, scope).sql : String(position)
  }
  const printed = sets.map((set) => set.map(item).join(', '))
  if (isGroupingSets) return ` GROUP BY GROUPING SETS (${printed.map((set) => `(${set})`).join(', ')})`
  return modifier ? ` GROUP BY ${modifier}(${printed[0]})` : ` GROUP BY ${printed[0]}`
}

function isNamed(
  columns: readonly NamedColumn[],
  expression: Extract<Expression, { kind: 'column' }>,
): boolean {
  const name = expression.path.at(-1)?.text.toLowerCase()
  return columns.some((column) => column.name.toLowerCase() === name)
}

/**
 * ORDER BY takes a name for one of the list first. NULLs come last ascending and first descending,
 * as in PostgreSQL.
 */
export function orderSql(
  compiler: Compiler,
  orderBy: readonly OrderItem[],
  scope: NameScope,
  list: Pick<SelectList, 'positionOf' | 'columnAt'> | undefined,
): string {
  if (orderBy.length === 0) return ''
  const items = orderBy.map((item) => {
    const position = list?.positionOf(item.expression)
    const compiled =
      position === undefined ? compiler.expression(item.expression, scope) : list?.columnAt(position)
    const sql = position === undefined ? compiled?.sql : String(position)
    const key = `${sql} ${directionSql(item)}`
    return compiled?.type.isAbsentWhenEmpty ? `${absenceOrder(item, isAbsent(compiled))}, ${key}` : key
  })
  return ` ORDER BY ${items.join(', ')}`
}

export const directionSql = (item: OrderItem): string =>
  `${item.isDescending ? 'DESC' : 'ASC'} NULLS ${placeOfNulls(item)}`

const placeOfNulls = ({ isDescending, nulls }: OrderItem): 'FIRST' | 'LAST' =>
  nulls ?? (isDescending ? 'FIRST' : 'LAST')

const absenceOrder = (item: OrderItem, absent: string): string =>
  `${absent} ${placeOfNulls(item) === 'FIRST' ? 'DESC' : 'ASC'}`

function limitBySql(
  compiler: Compiler,
  limitBy: LimitBy | undefined,
  scope: NameScope,
  list: SelectList,
): string {
  if (!limitBy) return ''
  const columns = limitBy.by.map(
    (expression) => list.positionOf(expression) ?? compiler.expression(expression, scope).sql,
  )
  return ` LIMIT ${limitBy.count} OFFSET ${limitBy.offset} BY ${columns.join(', ')}`
}

function windowsSql(compiler: Compiler, { windows }: Select, scope: NameScope): string {
  if (windows.length === 0) return ''
  const printed = windows.map(
    ({ name, window }) => `${quoteName(name.text)} AS ${compiler.window(window, scope)}`,
  )
  return ` WINDOW ${printed.join(', ')}`
}

export function windowSql(compiler: Compiler, window: Window, scope: NameScope): string {
  const { base, partitionBy, orderBy, frame } = window
  if (base && !scope.windows.has(base.text))
    throw invalid(compiler, `there is no window "${base.text}"`, base.at)
  const parts = [
    base ? quoteName(base.text) : '',
    partitionBy.length > 0
      ? `PARTITION BY ${partitionBy.map((expression) => compiler.expression(expression, scope).sql).join(', ')}`
      : '',
    orderSql(compiler, orderBy, scope, undefined).trim(),
    frame ? `${frame.unit} BETWEEN ${frame.start} AND ${frame.end}` : '',
  ]
  return `(${parts.filter(Boolean).join(' ')})`
}
