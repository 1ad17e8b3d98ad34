/**
 * `generate_series` as on Postgres: whole numbers or times from one bound to the other. The engine's
 * own knows no times and no bound; here the values are an array, never longer than a series may be.
 */

import { isBoundedSeries, SERIES_ROWS_MAX, seriesProblem } from '../../../text.ts'
import { seriesHint } from '../../../words/hints.ts'
import type { Expression, FromItem } from '../../parse/ast.ts'
import { type Compiled, type Compiler, nothingNamed, refused } from '../Compiler.ts'
import { demanded } from '../demanded.ts'
import { accurate } from '../numbers.ts'
import { commonType, isMoment, isWhole, localTime, scalar, type ValueType } from '../valueType.ts'

export type SeriesSource = Extract<FromItem, { kind: 'series' }>

/** A SELECT of one column, called `n`. */
export function compileSeries(compiler: Compiler, source: SeriesSource): Compiled {
  const { bounds, at } = source
  const [from, to, step = one(at)] = bounds
  if (!from || !to || bounds.length > 3)
    throw refused(compiler, 'generate_series takes from, to and step', at, seriesHint)
  const written = [from, to, step].map(wholeNumber)
  const [first, last, by] = written
  if (first !== undefined && last !== undefined && by !== undefined)
    return writtenSeries(compiler, [first, last, by], at)
  const interval = intervalOf(step)
  if (interval) return timeSeries(compiler, [from, to], interval, at)
  return numberSeries(compiler, [from, to, step], at)
}

const one = (at: number): Expression => ({ kind: 'number', text: '1', at })

/** The number that is written out. */
function wholeNumber(expression: Expression): number | undefined {
  if (expression.kind === 'unary' && expression.word === '-') {
    const value = wholeNumber(expression.operand)
    return value === undefined ? undefined : -value
  }
  const value = expression.kind === 'number' ? Number(expression.text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** Whole numbers in the width of the bounds. */
function writtenSeries(
  compiler: Compiler,
  [from, to, step]: readonly [number, number, number],
  at: number,
): Compiled {
  if (!isBoundedSeries(from, to, step)) throw refused(compiler, seriesProblem, at, seriesHint)
  const count = Math.max(0, Math.floor((to - from) / step) + 1)
  const isWide = [from, to, step].some((bound) => Math.abs(bound) > INT_MAX)
  const value = `to${isWide ? 'Int64' : 'Int32'}(${from} + toInt64(n) * ${step})`
  return {
    sql: `SELECT arrayJoin(arrayMap(n -> ${value}, range(${count}))) AS n`,
    type: scalar(isWide ? 'bigint' : 'int'),
  }
}

const INT_MAX = 0x7fff_ffff

const engineTypes: Readonly<Record<string, string>> = { int: 'Int32', bigint: 'Int64', numeric: 'Int256' }

/** Whole numbers between what is computed: no rows where a bound is NULL. */
function numberSeries(compiler: Compiler, bounds: readonly Expression[], at: number): Compiled {
  const values = bounds.map((bound) => compiler.expression(bound, nothingNamed))
  const type = wholeType(values)
  const engineType = engineTypes[type.scalar]
  if (!values.every(({ type: own }) => isWhole(own) || own.scalar === 'null') || engineType === undefined)
    throw refused(
      compiler,
      "generate_series counts whole numbers, or times in steps of INTERVAL '1 hour'",
      at,
      seriesHint,
    )
  const [a, b, step] = values.map(({ sql }) => `toInt256(${sql})`)
  const count = countSql('intDiv(b - a, step) + 1')
  const columns = `${a} AS a, ${b} AS b, ${demanded(`${step} != 0`, 'standingSeries', step ?? '')} AS step`
  const value = accurate('assumeNotNull(a) + n * assumeNotNull(step)', engineType)
  return { sql: joined(`arrayMap(n -> ${value}, range(toUInt64(${count})))`, columns), type }
}

/** The type that holds every value, below zero as well. */
function wholeType(values: readonly Compiled[]): ValueType {
  const { scalar: widest } = commonType(values.map(({ type }) => type))
  return scalar(widest === 'bool' ? 'int' : widest)
}

interface Interval {
  readonly amount: number
  readonly unit: string
}

/** An interval that is written out. */
export function intervalOf(step: Expression): Interval | undefined {
  if (step.kind === 'unary' && step.word === '-') {
    const interval = intervalOf(step.operand)
    return interval && { ...interval, amount: -interval.amount }
  }
  const amount = step.kind === 'interval' ? wholeNumber(step.amount) : undefined
  const unit = step.kind === 'interval' ? step.unit.toLowerCase().replace(/s$/, '') : ''
  return amount !== undefined && units.has(unit) ? { amount, unit } : undefined
}

const units: ReadonlySet<string> = new Set('second minute hour day week month quarter year'.split(' '))
/** Units of unlike lengths: from a day that a later month lacks, Postgres goes on from another day. */
const calendarUnits: ReadonlySet<string> = new Set(['month', 'quarter', 'year'])
const EVERY_MONTHS_DAYS = 28

function timeSeries(
  compiler: Compiler,
  bounds: readonly Expression[],
  { amount, unit }: Interval,
  at: number,
): Compiled {
  const values = bounds.map((bound) => compiler.expression(asTime(bound), nothingNamed))
  if (amount === 0 || !values.every(({ type }) => isMoment(type)))
    throw refused(compiler, 'a series of times goes from a time to a time', at, seriesHint)
  const [a = '', b] = values.map(({ sql }) => `toDateTime64(${sql}, 6, 'UTC')`)
  const first = calendarUnits.has(unit)
    ? demanded(`toDayOfMonth(${a}) <= ${EVERY_MONTHS_DAYS}`, 'lateSeries', a)
    : a
  const span = amount > 0 ? `dateDiff('${unit}', a, b)` : `dateDiff('${unit}', b, a)`
  // More than there are, by one at most: it counts the beginnings of units between the two.
  const count = countSql(`intDiv(${span}, ${Math.abs(amount)}) + 1`)
  const value = `assumeNotNull(a) + INTERVAL (n * ${amount}) ${unit.toUpperCase()}`
  const all = `arrayMap(n -> ${value}, range(toUInt64(${count})))`
  const within = `arrayFilter(t -> t ${amount > 0 ? '<=' : '>='} assumeNotNull(b), ${all})`
  const isLocal = values.every(({ type }) => type.isLocal)
  return {
    sql: joined(within, `${first} AS a, ${b} AS b`),
    type: isLocal ? localTime : scalar('timestamp'),
  }
}

/** A text that is written out beside an interval is a time, as on Postgres. */
export const asTime = (bound: Expression): Expression =>
  bound.kind === 'string'
    ? { kind: 'cast', operand: bound, type: { name: 'timestamptz', args: [], at: bound.at }, at: bound.at }
    : bound

/** None where a bound is NULL, which the engine's least and greatest pass over; one too many at most. */
const countSql = (count: string): string =>
  `greatest(toInt256(0), least(ifNull(toInt256(${count}), 0), toInt256(${SERIES_ROWS_MAX + 1})))`

/** The array's values, one a row. */
function joined(values: string, columns: string): string {
  const isShort = demanded(`length(v) <= ${SERIES_ROWS_MAX}`, 'longSeries', '1')
  return `SELECT arrayJoin(v) AS n FROM (SELECT ${values} AS v FROM (SELECT ${columns})) WHERE ${isShort}`
}
