/**
 * Finds what every `table.column` of a rebuilt statement names, as Postgres will, and refuses one
 * that names no column: Postgres reads that as a call of the function `column` with the row,
 * whatever that function is. The tree looked at is the one that is printed, so what is resolved is
 * what is sent.
 */

import { nearestOf } from '#text/nearest.ts'
import { beginOf } from '../parse/places.ts'
import {
  bare,
  errorAt,
  fieldsOf,
  isFields,
  type NodeFields,
  nodeList,
  sqlRefusal,
  stringOf,
  type Walk,
} from '../parse/walk.ts'
import {
  assertAlike,
  assertCase,
  assertChoices,
  assertComparison,
  assertMembers,
  assertNoText,
  type Bytes,
  bytesAmong,
  bytesOfOutput,
  columnPath,
  type Operands,
} from './comparisons.ts'
import { type ColumnsOf, outputName } from './expressions/outputName.ts'
import { conditionOf, namedCondition } from './qualify.ts'
import {
  findSource,
  type GateSource,
  joinedColumns,
  outermost,
  renamed,
  type SelectScope,
  sourceOf,
  within,
} from './scopes.ts'

/**
 * @throws UserQueryError `sql_invalid` at the first reference to a column its table does not have
 */
export function assertQualifiedNames(statement: unknown, walk: Walk): void {
  new Resolver(walk).select(selectOf(statement), outermost)
}

/** The names that an item in FROM brings. */
interface Brought {
  /** The sources that a qualifier may name. */
  readonly sources: readonly GateSource[]
  /** The columns that `*` stands for. */
  readonly columns: readonly string[]
}

const nothing: Brought = { sources: [], columns: [] }

/** A sub-select without a name: the one that Postgres gives it is nobody's to use. */
const unnamed = (columns: readonly string[]): Brought => ({
  sources: [{ name: 'unnamed_subquery', columns: [] }],
  columns,
})

/** Postgres gives these to sources without a name, and a `*` in front to sources of its own. */
const reservedSource = /^(\*|unnamed_)/

class Resolver {
  readonly #walk: Walk
  readonly #resolved = new Map<unknown, readonly string[]>()
  /** Which columns of a sub-select are bytes, and how many every value has. */
  readonly #bytes = new WeakMap<readonly string[], NonNullable<GateSource['bytes']>>()
  readonly #columnsOf: ColumnsOf = (select) => this.#resolved.get(select) ?? []

  constructor(walk: Walk) {
    this.#walk = walk
  }

  /** Names of the outputs. */
  select(select: NodeFields, outer: SelectScope): readonly string[] {
    const scope = this.#with(select['withClause'], outer)
    if (select['larg'] !== undefined) return this.#setOperation(select, scope)
    if (select['valuesLists'] !== undefined) return this.#values(select, scope)
    const { sources, columns } = this.#from(nodeList(select['fromClause']), scope)
    const { withClause: _, fromClause: __, ...body } = select
    const inner = within(sources, scope)
    this.#expression(body, inner)
    const targets = nodeList(select['targetList'])
    const outputs = targets.flatMap((target) => this.#names(target, columns, inner))
    const operands = this.#operands(inner)
    // Two outputs of one name are told apart by nobody.
    const isOne = ([name]: readonly [string, unknown]) => outputs.indexOf(name) === outputs.lastIndexOf(name)
    const bytes = targets.flatMap((target) => bytesOutputs(target, operands)).filter(isOne)
    this.#bytes.set(outputs, new Map(bytes))
    if (conditionOf(select) !== undefined) {
      this.#expression(namedCondition(select, columns), inner)
      this.#walk.findings.qualified.set(select, { outputs, columns })
    }
    return outputs
  }

  /** The columns under the names of `AS name (columns)`. */
  #renamed(columns: readonly string[], names: readonly string[]): readonly string[] {
    const given = renamed(columns, names)
    const bytes = [...(this.#bytes.get(columns) ?? [])]
    this.#bytes.set(
      given,
      new Map(bytes.map(([name, width]) => [given[columns.indexOf(name)] ?? name, width])),
    )
    return given
  }

  /** Each CTE sees those before it, and what is outside of the SELECT. */
  #with(clause: unknown, outer: SelectScope): SelectScope {
    const ctes = new Map(outer.ctes)
    for (const cte of nodeList(isFields(clause) ? clause['ctes'] : undefined)) {
      const fields = fieldsOf(cte, 'CommonTableExpr')
      const columns = this.select(selectOf(fields['ctequery']), { ...outer, ctes: new Map(ctes) })
      ctes.set(String(fields['ctename']), this.#renamed(columns, textsOf(fields['aliascolnames'])))
    }
    return { ...outer, ctes }
  }

  #setOperation(select: NodeFields, scope: SelectScope): readonly string[] {
    const left = this.select(bare(select['larg']), scope)
    const right = this.select(bare(select['rarg']), scope)
    this.#expression(select['sortClause'], within([], scope))
    const columns = [...left]
    assertNoText(select['larg'], this.#outputs(right), this.#walk)
    assertNoText(select['rarg'], this.#outputs(left), this.#walk)
    if (select['op'] !== 'SETOP_UNION') {
      const others = this.#outputs(right)
      for (const [index, bytes] of this.#outputs(left).entries())
        assertAlike([bytes, others[index]], this.#walk, this.#placeOf(select, index))
    }
    this.#bytes.set(columns, this.#bytesOfBoth(left, right))
    return columns
  }

  /** The place of an output on the right; VALUES have no places, so that of the left output counts. */
  #placeOf({ rarg, larg }: NodeFields, index: number): number {
    const places = [rarg, larg].map((side) => beginOf(nodeList(bare(side)['targetList'])[index]))
    return places.find((at) => at >= 0) ?? -1
  }

  /** Values have a width where both sides have it. */
  #bytesOfBoth(left: readonly string[], right: readonly string[]): NonNullable<GateSource['bytes']> {
    const others = this.#bytes.get(right)
    const widths = [...(this.#bytes.get(left) ?? [])].map(([name, width]) => {
      const other = others?.get(right[left.indexOf(name)] ?? '')
      return [name, width === other ? width : undefined] as const
    })
    return new Map(widths)
  }

  #values(select: NodeFields, scope: SelectScope): readonly string[] {
    this.#expression(select['valuesLists'], within([], scope))
    const [row] = nodeList(select['valuesLists'])
    const columns = nodeList(fieldsOf(row, 'List')['items']).map((_, index) => `column${index + 1}`)
    this.#bytes.set(columns, this.#bytesOfRows(nodeList(select['valuesLists']), columns, scope))
    this.#expression(select['sortClause'], within([{ name: '*VALUES*', columns }], scope))
    return columns
  }

  /** Columns of which every row has bytes. */
  #bytesOfRows(
    rows: readonly unknown[],
    columns: readonly string[],
    scope: SelectScope,
  ): NonNullable<GateSource['bytes']> {
    const operands = this.#operands(within([], scope))
    const items = rows.map((row) => nodeList(fieldsOf(row, 'List')['items']))
    const widths = columns.flatMap((name, index) => {
      const found = bytesAmong(
        items.map((row) => row[index]),
        operands,
      )
      return found ? [[name, found.width] as const] : []
    })
    return new Map(widths)
  }

  #operands(scope: SelectScope): Operands {
    return { scope, outputsOf: (select) => this.#outputs(this.#resolved.get(select) ?? []) }
  }

  /** Bytes of each column of a sub-select. */
  #outputs(columns: readonly string[]): readonly (Bytes | undefined)[] {
    const bytes = this.#bytes.get(columns)
    return columns.map((name) => bytesNamed(name, bytes))
  }

  #names(target: unknown, all: readonly string[], scope: SelectScope): readonly string[] {
    const { name, val } = fieldsOf(target, 'ResTarget')
    if (typeof name === 'string') return [name]
    const path = columnPath(val)
    if (!path || path.at(-1) !== undefined) return [outputName(val, this.#columnsOf)]
    const [qualifier] = path
    return qualifier === undefined ? all : (findSource(qualifier, scope)?.columns ?? [])
  }

  #from(items: readonly unknown[], scope: SelectScope, before: readonly GateSource[] = []): Brought {
    let all = nothing
    for (const item of items) {
      const brought = this.#item(item, [...before, ...all.sources], scope)
      all = {
        sources: [...all.sources, ...brought.sources],
        columns: [...all.columns, ...brought.columns],
      }
    }
    return all
  }

  /** @param before what stands left of the item, which functions and LATERAL see */
  #item(item: unknown, before: readonly GateSource[], scope: SelectScope): Brought {
    const [[type, fields] = ['', undefined]] = Object.entries(isFields(item) ? item : {})
    if (!isFields(fields)) throw sqlRefusal(this.#walk, 'this FROM is not supported')
    switch (type) {
      case 'RangeVar':
        return this.#named(fields, String(fields['relname']), this.#cte(fields, scope))
      case 'RangeSubselect': {
        const seen = fields['lateral'] === true ? within(before, scope) : scope
        const columns = this.#subselect(fields['subquery'], seen)
        if (fields['alias'] === undefined) return unnamed(columns)
        return this.#withBytes(this.#named(fields, '', columns), fields['subquery'])
      }
      case 'RangeFunction':
        return this.#tableFunction(fields, within(before, scope))
      case 'JoinExpr':
        return this.#join(fields, before, scope)
      default:
        throw sqlRefusal(this.#walk, `${type} is not allowed in FROM`)
    }
  }

  #cte(fields: NodeFields, scope: SelectScope): readonly string[] {
    const columns = scope.ctes.get(String(fields['relname']))
    if (!columns || fields['schemaname'] !== undefined)
      throw sqlRefusal(this.#walk, 'this table is not known')
    return columns
  }

  /**
   * A sub-select that stands for a table of the catalog is of our own making, and has the columns the
   * catalog says.
   */
  #subselect(subquery: unknown, scope: SelectScope): readonly string[] {
    const known = this.#walk.findings.relationColumns.get(subquery)
    return known?.map(({ name }) => name) ?? this.select(selectOf(subquery), scope)
  }

  #withBytes({ sources, columns }: Brought, subquery: unknown): Brought {
    const declared = this.#walk.findings.relationColumns.get(subquery)
    if (!declared) return { sources, columns }
    const bytes = new Map(
      declared.flatMap(({ type, width }, index) =>
        type === 'bytes' ? [[columns[index] ?? '', width] as const] : [],
      ),
    )
    return { sources: sources.map((source) => ({ ...source, bytes })), columns }
  }

  #named(fields: NodeFields, ownName: string, columns: readonly string[]): Brought {
    const alias = bare(fields['alias'])
    const given = this.#renamed(columns, textsOf(alias['colnames']))
    const name = alias['aliasname'] === undefined ? ownName : String(alias['aliasname'])
    if (reservedSource.test(name) && alias['aliasname'] !== undefined)
      throw sqlRefusal(this.#walk, `the name "${name}" is Postgres' own`)
    const bytes = this.#bytes.get(given) ?? new Map()
    return { sources: [{ name, columns: given, bytes }], columns: given }
  }

  /**
   * Functions that give one column; those of JSON name it, the others are called as the table is.
   */
  #tableFunction(fields: NodeFields, scope: SelectScope): Brought {
    const calls = nodeList(fields['functions']).map((entry) => nodeList(fieldsOf(entry, 'List')['items'])[0])
    this.#expression(calls, scope)
    const names = calls.flatMap((call) => functionNames(fieldsOf(call, 'FuncCall')))
    const [only = '', ...others] = names
    const alias = bare(fields['alias'])['aliasname']
    const isCalledAsTable = others.length === 0 && alias !== undefined && resultNames[only] === undefined
    const columns = isCalledAsTable ? [String(alias)] : names.map((name) => resultNames[name] ?? name)
    return this.#named(fields, only, fields['ordinality'] === true ? [...columns, 'ordinality'] : columns)
  }

  /** ON sees the two sides alone; the name of a join hides the names within it. */
  #join(fields: NodeFields, before: readonly GateSource[], scope: SelectScope): Brought {
    const left = this.#item(fields['larg'], before, scope)
    const right = this.#item(fields['rarg'], [...before, ...left.sources], scope)
    const sources = [...left.sources, ...right.sources]
    this.#expression(fields['quals'], within(sources, scope))
    const merged =
      fields['isNatural'] === true
        ? left.columns.filter((name) => right.columns.includes(name))
        : textsOf(fields['usingClause'])
    for (const name of merged) {
      const sides = [left, right].map((side) => sourceOf(name, within(side.sources, outermost))?.bytes)
      assertAlike(
        sides.map((bytes) => bytesNamed(name, bytes)),
        this.#walk,
      )
    }
    const columns = joinedColumns(left.columns, right.columns, merged)
    return fields['alias'] === undefined ? { sources, columns } : this.#named(fields, '', columns)
  }

  #expression(value: unknown, scope: SelectScope): void {
    if (Array.isArray(value)) for (const item of value) this.#expression(item, scope)
    if (!isFields(value)) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'ColumnRef') this.#reference(inner, columnPath(value) ?? [], scope)
      else if (key === 'SelectStmt') this.#resolved.set(value, this.select(bare(inner), scope))
      else this.#expression(inner, scope)
      this.#compare(key, bare(inner), scope)
    }
  }

  /** After what is within: sub-selects say what they give. */
  #compare(key: string, fields: NodeFields, scope: SelectScope): void {
    const operands = this.#operands(scope)
    if (key === 'A_Expr') assertComparison(fields, operands, this.#walk)
    if (key === 'CaseExpr') assertCase(fields, operands, this.#walk)
    assertChoices(key, fields, operands, this.#walk)
    if (key === 'SubLink' && fields['testexpr'] !== undefined) assertMembers(fields, operands, this.#walk)
  }

  #reference(node: unknown, path: readonly (string | undefined)[], scope: SelectScope): void {
    const [qualifier, name] = path
    if (path.length < 2 || qualifier === undefined) return
    const at = this.#walk.findings.places.get(node) ?? -1
    const walk = { ...this.#walk, at }
    const source = findSource(qualifier, scope)
    if (!source) throw errorAt(walk, 'sql_invalid', `there is no table "${qualifier}" here`)
    if (name === undefined || source.columns.includes(name)) return
    const alike = nearestOf(name, source.columns)
    const all = `columns of ${qualifier}: ${source.columns.slice(0, HINT_COLUMNS_MAX).join(', ')}`
    const hint = alike === undefined ? all : `did you mean ${qualifier}.${alike}?`
    throw errorAt(walk, 'sql_invalid', `there is no column "${name}" in "${qualifier}"`, hint)
  }
}

const bytesNamed = (name: string, bytes: GateSource['bytes']): Bytes | undefined =>
  bytes?.has(name) ? { width: bytes.get(name), reference: undefined } : undefined

/** The outputs of a target that are bytes: a column as it is, or what has a name and chooses among some. */
function bytesOutputs(
  target: unknown,
  operands: Operands,
): readonly (readonly [string, number | undefined])[] {
  const { scope } = operands
  const { name, val } = fieldsOf(target, 'ResTarget')
  const path = columnPath(val)
  if (path && path.at(-1) === undefined) {
    const [qualifier] = path
    const sources = qualifier === undefined ? scope.levels[0] : [findSource(qualifier, scope)]
    return (sources ?? []).flatMap((source) => [...(source?.bytes ?? [])])
  }
  const found = bytesOfOutput(val, operands)
  const output = typeof name === 'string' ? name : (path?.at(-1) ?? outputName(val, () => []))
  return found && output !== undefined ? [[output, found.width]] : []
}

/** Columns named in a hint; the widest table has some forty. */
const HINT_COLUMNS_MAX = 40

/** Results that have a name of their own. */
const resultNames: Readonly<Record<string, string>> = {
  jsonb_array_elements: 'value',
  jsonb_array_elements_text: 'value',
}

/** `unnest(a, b)` in FROM is two calls side by side. */
function functionNames(call: NodeFields): readonly string[] {
  const name = stringOf(nodeList(call['funcname']).at(-1)) ?? ''
  const args = nodeList(call['args'])
  return name === 'unnest' && args.length > 1 ? args.map(() => name) : [name]
}

const selectOf = (value: unknown): NodeFields => fieldsOf(value, 'SelectStmt')
const textsOf = (names: unknown): readonly string[] => nodeList(names).map((name) => stringOf(name) ?? '')
