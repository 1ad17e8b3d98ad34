/**
 * Random SELECTs over the example chain, of a grammar within what both gates take. The seed is the
 * whole query.
 */
import { Choices, expression, type Making, numbers, sources, types } from '../support/randomExpression.ts'

/** One query of a seed. */
export function randomQuery(seed: number): string {
  const choose = new Choices(seed)
  return choose.of([
    selectQuery,
    selectQuery,
    groupQuery,
    groupQuery,
    joinQuery,
    windowQuery,
    setQuery,
    subQuery,
  ])(choose)
}

const makingOf = (choose: Choices, prefix = ''): Making => ({ choose, source: choose.of(sources), prefix })
const orderOf = ({ source, prefix }: Making): string =>
  source.key.map((name) => `${prefix}${name}`).join(', ')

function listOf(making: Making, count: number): string {
  return making.choose
    .times(1, count, () => expression(making, making.choose.of(types), 3))
    .map((sql, index) => `${sql} AS c${index}`)
    .join(', ')
}

function whereOf(making: Making): string {
  return making.choose.below(2) === 0 ? '' : ` WHERE ${expression(making, 'bool', 2)}`
}

function selectQuery(choose: Choices): string {
  const making = makingOf(choose)
  return `SELECT ${listOf(making, 3)} FROM ${making.source.name}${whereOf(making)} ORDER BY ${orderOf(making)}`
}

const aggregate = (making: Making): string => {
  const { choose } = making
  if (choose.below(3) === 0) return overConstants(making)
  const number = expression(making, choose.of(['int', 'bigint', 'numeric']), 2)
  const any = expression(making, choose.of(['int', 'bigint', 'numeric', 'text', 'bytes', 'timestamp']), 2)
  const filter = choose.below(5) === 0 ? ` FILTER (WHERE ${expression(making, 'bool', 1)})` : ''
  const sql = choose.of([
    'count(*)',
    `count(${any})`,
    `count(DISTINCT ${any})`,
    `sum(${number})`,
    `sum(${number})`,
    `avg(${number})`,
    `min(${any})`,
    `max(${any})`,
    `sum(DISTINCT ${number})`,
    `bool_or(${expression(making, 'bool', 2)})`,
    `bool_and(${expression(making, 'bool', 2)})`,
  ])
  return `${sql}${sql.startsWith('bool') ? '' : filter}`
}

/** Arrays, their elements, quotients of counts, and what a value that stands still gives. */
function overConstants(making: Making): string {
  const { choose } = making
  const type = choose.of(['int', 'bigint', 'numeric', 'text', 'bytes', 'timestamp'] as const)
  const value = expression(making, type, 2)
  const number = expression(making, choose.of(['int', 'bigint', 'numeric']), 2)
  const condition = expression(making, 'bool', 1)
  const filter = choose.of(['', ` FILTER (WHERE ${condition})`, ' FILTER (WHERE false)'])
  const array = `array_agg(${value} ORDER BY ${orderOf(making)})${filter}`
  const constant = choose.of(['0', '1', '7', '-3', '100000'])
  return choose.of([
    array,
    `(${array})[${choose.of(['1', '2', '3', '9', '0', '-1', 'count(*)', 'count(*)::int - 2'])}]`,
    `(${array} || ${array})[${choose.of(['2', '5', '9'])}]`,
    `(${array}) IS NULL`,
    `coalesce(${array}, ARRAY[${value.startsWith('(') ? `max(${value})` : `min(${value})`}])`,
    `array_agg(DISTINCT ${value} ORDER BY ${value})`,
    `count(*) FILTER (WHERE ${condition}) / nullif(count(*), 0)`,
    `count(${value}) / nullif(count(*), 0)`,
    `count(*)::numeric / nullif(count(${value}), 0)`,
    `count(*) FILTER (WHERE ${condition})::float8 / nullif(count(*), 0)`,
    `sum(${number}) / nullif(count(*), 0)`,
    `count(*) % 3 - count(${value}) / 2`,
    `corr(${number}, ${constant})`,
    `corr(${constant}, ${number})`,
    `covar_samp(${number}, ${constant})`,
    `covar_pop(${constant}, ${number})`,
    `avg(${constant})`,
    `sum(${constant})`,
    `max(${constant}) - min(${constant})`,
    `stddev_pop(${constant}::float8)`,
    `var_samp(${constant}::float8)`,
  ])
}

function groupQuery(choose: Choices): string {
  const making = makingOf(choose)
  const keys = choose.times(0, 2, () => expression(making, choose.of(types), 2))
  const aggregates = choose.times(1, 3, () => aggregate(making))
  const list = [...keys, ...aggregates].map((sql, index) => `${sql} AS c${index}`)
  const group = keys.length > 0 ? ` GROUP BY ${keys.map((_, index) => index + 1).join(', ')}` : ''
  const having = keys.length > 0 && choose.below(4) === 0 ? ` HAVING ${aggregate(making)} IS NOT NULL` : ''
  return `SELECT ${list.join(', ')} FROM ${making.source.name}${whereOf(making)}${group}${having} ORDER BY ${list.map((_, index) => index + 1).join(', ')}`
}

function joinQuery(choose: Choices): string {
  const left = makingOf(choose, 'a.')
  const right = makingOf(choose, 'b.')
  const type = choose.of(['int', 'bigint', 'bytes', 'timestamp'] as const)
  const on = `${expression(left, type, 1)} = ${expression(right, type, 1)}`
  const words = choose.of(['JOIN', 'LEFT JOIN', 'RIGHT JOIN'])
  const list = [listOf(left, 2), expression(right, choose.of(types), 2)].join(', ')
  const order = `${orderOf(left)}, ${orderOf(right)}`
  return `SELECT ${list} AS d FROM ${left.source.name} a ${words} ${right.source.name} b ON ${on} ORDER BY ${order}`
}

function windowQuery(choose: Choices): string {
  const making = makingOf(choose)
  const value = expression(making, choose.of(['int', 'bigint', 'numeric']), 2)
  const partition = choose.below(2) === 0 ? '' : `PARTITION BY ${expression(making, choose.of(types), 1)} `
  const frame = choose.of([
    '',
    ' ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
    ' ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
  ])
  const direction = choose.of(['', ' DESC'])
  const order = making.source.key.map((name) => `${name}${direction}`).join(', ')
  const plain = `OVER (${partition}ORDER BY ${order})`
  const framed = `OVER (${partition}ORDER BY ${order}${frame})`
  const sql = choose.of([
    `sum(${value}) ${framed}`,
    `avg(${value}) ${framed}`,
    `min(${value}) ${framed}`,
    `count(${value}) ${framed}`,
    `row_number() ${plain}`,
    `rank() ${plain}`,
    `lag(${value}) ${plain}`,
    `lead(${value}, 2) ${plain}`,
    `first_value(${value}) ${framed}`,
    `last_value(${value}) ${framed}`,
    `ntile(3) ${plain}`,
  ])
  return `SELECT ${orderOf(making)}, ${sql} AS w FROM ${making.source.name} ORDER BY ${orderOf(making)}`
}

function setQuery(choose: Choices): string {
  const type = choose.of(types)
  const other = numbers.includes(type) ? choose.of(numbers) : type
  const [left, right] = [makingOf(choose), makingOf(choose)]
  const operator = choose.of(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'])
  const one = `SELECT ${expression(left, type, 2)} AS x FROM ${left.source.name}`
  return `${one} ${operator} SELECT ${expression(right, other, 2)} FROM ${right.source.name} ORDER BY 1`
}

function subQuery(choose: Choices): string {
  const [outer, inner] = [makingOf(choose), makingOf(choose)]
  const type = choose.of(['int', 'bigint', 'numeric', 'bytes'] as const)
  const rows = `SELECT ${expression(inner, type, 1)} FROM ${inner.source.name}${whereOf(inner)}`
  const test = `${expression(outer, type, 1)} ${choose.of(['IN', 'NOT IN'])} (${rows})`
  const value = `(SELECT ${aggregate(inner)} FROM ${inner.source.name})`
  const [list, where] = choose.of([
    [test, ''],
    [listOf(outer, 2), ` WHERE ${test}`],
    [listOf(outer, 2), ` WHERE NOT (${test})`],
    [`${listOf(outer, 1)}, ${value} AS v`, ''],
  ])
  return `SELECT ${list} FROM ${outer.source.name}${where} ORDER BY ${orderOf(outer)}`
}
