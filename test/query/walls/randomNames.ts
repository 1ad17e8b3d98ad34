/**
 * Random SELECTs that are about nothing but names: sources of every kind, nested and joined, that
 * call themselves and their columns alike, and references most of which are right. Wrong ones are
 * functions that take any row, so that Postgres would call them. The seed is the whole query.
 */
import { Choices } from '../support/randomExpression.ts'

/** The names that a reference may use, as far as the generator knows. */
interface Named {
  readonly name: string
  readonly columns: readonly string[]
}

interface Item extends Named {
  readonly sql: string
  /** The parts that can be named of it; a join without a name has its sides. */
  readonly seen: readonly Named[]
}

const aliases = ['a', 'b', 'logs', '"*VALUES*"', 'unnamed_subquery', 'unnest', 'count']
/** Each is a function of any value, any record or any text. */
const functions = ['pg_typeof', 'pg_column_size', 'num_nulls', 'row_to_json', 'record_out', 'to_json', 'text']
const plain = ['own', 'value', 'column1', 'count', 'block_num', 'a', 'b', 'unnest', 'ordinality']
const names = [...plain, ...functions]

/** One query of a seed. */
export function randomNames(seed: number): string {
  const making = new Making(new Choices(seed))
  return making.select([], 3).sql
}

interface Select {
  readonly sql: string
  readonly columns: readonly string[]
}

class Making {
  readonly #choose: Choices
  #ctes: readonly Named[] = []

  constructor(choose: Choices) {
    this.#choose = choose
  }

  /** @param outer what can be seen of the SELECTs around */
  select(outer: readonly Named[], depth: number): Select {
    const kind = this.#choose.below(12)
    if (kind === 0) return this.#values(outer)
    if (kind === 1 && depth > 0) return this.#union(outer, depth - 1)
    if (kind === 2 && depth > 0) return this.#with(outer, depth - 1)
    return this.#plain(outer, depth)
  }

  #plain(outer: readonly Named[], depth: number): Select {
    const items: Item[] = []
    for (let left = 1 + this.#choose.below(2); left > 0; left--)
      items.push(
        this.#item(
          outer,
          items.flatMap(({ seen }) => seen),
          depth,
        ),
      )
    const seen = [...items.flatMap((item) => item.seen), ...outer]
    const outputs = this.#choose.times(1, 2, () => this.#output(seen, items, depth))
    const clauses = this.#choose.of([
      '',
      '',
      ` WHERE ${this.#reference(seen)} IS NULL`,
      ` ORDER BY ${this.#reference(seen)}`,
    ])
    const sql = `SELECT ${outputs.map((output) => output.sql).join(', ')} FROM ${items.map((item) => item.sql).join(', ')}${clauses}`
    return { sql, columns: outputs.flatMap(({ columns }) => columns) }
  }

  #output(seen: readonly Named[], items: readonly Item[], depth: number): Select {
    const kind = this.#choose.below(9)
    const name = this.#choose.of(names)
    if (kind === 0) return { sql: '*', columns: items.flatMap(({ columns }) => columns) }
    if (kind === 1) {
      const source = this.#choose.of(seen)
      return { sql: `${source.name}.*`, columns: source.columns }
    }
    if (kind === 2) return { sql: 'count(*) OVER ()', columns: ['count'] }
    if (kind === 3 && depth > 0) {
      const inner = this.select(seen, depth - 1)
      return { sql: `(SELECT count(*) FROM (${inner.sql}) AS z)`, columns: ['count'] }
    }
    if (kind === 4) return { sql: `ARRAY[1] AS ${name}`, columns: [name] }
    const path = this.#reference(seen)
    if (kind < 7) return { sql: path, columns: [path.slice(path.lastIndexOf('.') + 1)] }
    return { sql: `concat(${path}) AS ${name}`, columns: [name] }
  }

  #values(outer: readonly Named[]): Select {
    const value = this.#choose.of(['1', outer.length > 0 ? this.#reference(outer) : '2'])
    const columns = ['column1', 'column2']
    const order = this.#choose.of([
      '',
      '',
      ` ORDER BY "*VALUES*".${this.#choose.of([...columns, ...functions])}`,
    ])
    return { sql: `VALUES (${value}, 2)${order}`, columns }
  }

  #union(outer: readonly Named[], depth: number): Select {
    const [left, right] = [this.#plain(outer, depth), this.#plain(outer, depth)]
    const sql = `SELECT ARRAY[count(*)] AS ${this.#choose.of(names)} FROM (${left.sql}) AS p`
    return {
      sql: `${sql} UNION ALL SELECT ARRAY[count(*)] FROM (${right.sql}) AS q`,
      columns: [sql.split(' ')[3] ?? ''],
    }
  }

  #with(outer: readonly Named[], depth: number): Select {
    const before = this.#ctes
    const inner = this.select(outer, depth)
    const { list, columns } = this.#columnList(inner.columns)
    const name = this.#choose.of(['c', 'logs'])
    this.#ctes = [{ name, columns }, ...before]
    const body = this.#plain(outer, depth)
    this.#ctes = before
    return { sql: `WITH ${name}${list} AS (${inner.sql}) ${body.sql}`, columns: body.columns }
  }

  #item(outer: readonly Named[], before: readonly Named[], depth: number): Item {
    const kind = this.#choose.below(depth > 0 ? 8 : 5)
    switch (kind) {
      case 0:
        return this.#called('logs', ['block_num', 'log_idx'])
      case 1:
        return this.#cte()
      case 2:
      case 3:
        return this.#function([...before, ...outer])
      case 4:
        return this.#called('(VALUES (1, 2))', ['column1', 'column2'])
      case 5:
        return this.#join(outer, before, depth - 1)
      default:
        return this.#subselect(outer, before, depth - 1)
    }
  }

  #cte(): Item {
    const [cte] = this.#ctes
    return cte ? this.#called(cte.name, cte.columns) : this.#called('txs', ['block_num', 'idx'])
  }

  #function(seen: readonly Named[]): Item {
    const array = this.#choose.of([
      'ARRAY[1]',
      "ARRAY['x']",
      seen.length > 0 ? `ARRAY[${this.#reference(seen)}]` : 'ARRAY[2]',
    ])
    const alias = this.#choose.of(aliases)
    const [call, columns] = this.#choose.of([
      [`unnest(${array})`, [alias]],
      [`unnest(${array}, ARRAY[2])`, ['unnest', 'unnest']],
      ['generate_series(1, 2)', [alias]],
      ["jsonb_array_elements_text('[]'::jsonb)", ['value']],
    ] as const)
    const isOrdinal = this.#choose.below(4) === 0
    const all = isOrdinal ? [...columns, 'ordinality'] : columns
    return this.#called(isOrdinal ? `${call} WITH ORDINALITY` : call, all, alias)
  }

  #subselect(outer: readonly Named[], before: readonly Named[], depth: number): Item {
    const isLateral = this.#choose.below(2) === 0
    const inner = this.select(isLateral ? [...before, ...outer] : outer, depth)
    return this.#called(`${isLateral ? 'LATERAL ' : ''}(${inner.sql})`, inner.columns)
  }

  #join(outer: readonly Named[], before: readonly Named[], depth: number): Item {
    const left = this.#item(outer, before, depth)
    const right = this.#item(outer, [...before, ...left.seen], depth)
    const seen = [...left.seen, ...right.seen]
    const both = left.columns.filter((name) => right.columns.includes(name))
    const [merged = ''] = both
    const kind = this.#choose.below(3)
    const on =
      kind === 0 && merged ? ` USING (${merged})` : ` ON ${this.#reference([...seen, ...outer])} IS NULL`
    const isNatural = kind === 1
    const mergedNames = isNatural ? both : kind === 0 && merged ? [merged] : []
    const rest = [...left.columns, ...right.columns].filter((name) => !mergedNames.includes(name))
    const columns = [...mergedNames, ...rest]
    const words = isNatural ? 'NATURAL JOIN' : this.#choose.of(['JOIN', 'LEFT JOIN', 'FULL JOIN'])
    const sql = `${left.sql} ${words} ${right.sql}${isNatural ? '' : on}`
    if (this.#choose.below(2) === 0) return { sql: `(${sql})`, name: '', columns, seen }
    return this.#called(`(${sql})`, columns)
  }

  #called(sql: string, columns: readonly string[], alias = this.#choose.of(aliases)): Item {
    const renamed = this.#columnList(columns)
    const named: Named = { name: alias, columns: renamed.columns }
    return { sql: `${sql} AS ${alias}${renamed.list}`, ...named, seen: [named] }
  }

  /** Names for the first of the columns, or for none. */
  #columnList(columns: readonly string[]): { readonly list: string; readonly columns: readonly string[] } {
    const count = this.#choose.of([0, 0, 1, 2])
    if (count === 0 || count > columns.length) return { list: '', columns }
    const given = Array.from({ length: count }, () => this.#choose.of(names))
    return { list: `(${given.join(', ')})`, columns: [...given, ...columns.slice(count)] }
  }

  #reference(seen: readonly Named[]): string {
    const kind = this.#choose.below(16)
    const source = this.#choose.of(seen)
    if (kind === 0) return `${this.#choose.of(aliases)}.${this.#choose.of(names)}`
    if (kind === 1) return `${source.name}.${this.#choose.of(functions)}`
    const known = source.columns.length > 0 ? this.#choose.of(source.columns) : 'own'
    return `${source.name}.${known}`
  }
}
