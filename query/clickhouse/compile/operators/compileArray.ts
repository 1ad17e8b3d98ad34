/**
 * Arrays as PostgreSQL has them: NULL where a subscript names no element, joined with elements by
 * `||`, and NULL themselves. The engine has no array that is NULL, so of one that can be, the empty
 * one stands for it (`isAbsentWhenEmpty`).
 */
import type { Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, type NameScope, refused } from '../Compiler.ts'
import { accurate, alternatives, asNumber, bind } from '../numbers.ts'
import { arrayOf, commonType, elementOf, isNumber, isWhole, type ValueType } from '../valueType.ts'

/** A subscript beyond every array: no element has it. */
const NO_PLACE = 2 ** 32 - 1

/**
 * `array[index]`, or `array[row][index]` of one that holds arrays. The engine's own gives a default
 * past the end, and counts back from -1.
 */
export function compileElement(
  compiler: Compiler,
  { operand, index, at }: ElementExpression,
  scope: NameScope,
): Compiled {
  const place = compiler.expression(index, scope)
  if (!isWhole(place.type) && place.type.scalar !== 'null')
    throw invalid(compiler, 'a subscript is a whole number', index.at, 'write x[1], or round it: x[n::int]')
  const array =
    operand.kind === 'element' ? compileRow(compiler, operand, scope) : compiler.expression(operand, scope)
  if (array.type.isNested)
    throw refused(compiler, 'an array of arrays takes two subscripts', at, 'write x[1][2]')
  const isPlain = !array.type.isArray || array.type.scalar === 'record'
  const sql = isPlain
    ? `arrayElement(${array.sql}, ${place.sql})`
    : `arrayElementOrNull(${array.sql}, ${placeOf(place.sql)})`
  return { sql, type: elementOf(array.type) }
}

/** An array within an array; one without elements where there is none. */
function compileRow(compiler: Compiler, { operand, index }: ElementExpression, scope: NameScope): Compiled {
  const array = compiler.expression(operand, scope)
  const place = placeOf(compiler.expression(index, scope).sql)
  return { sql: `arrayElement(${array.sql}, ${place})`, type: elementOf(array.type) }
}

type ElementExpression = Extract<Expression, { kind: 'element' }>

function placeOf(index: string): string {
  if (/^\d+$/.test(index) && Number(index) < NO_PLACE) return index === '0' ? String(NO_PLACE) : index
  return bind(
    [accurate(index, 'Int32')],
    ([place = '']) => `if(${place} > 0, toUInt32(${place}), ${NO_PLACE})`,
  )
}

/** An operand of `||` and its place. */
export interface Joined extends Compiled {
  readonly at: number
  /** A text without a type, which PostgreSQL takes for an array beside one, `'{a,b}'`. */
  readonly isUntyped: boolean
}

/** A run of `||` with an array among its operands; `joinScalars` joins those before the first. */
export function joinArrays(
  compiler: Compiler,
  operands: readonly Joined[],
  joinScalars: (left: Joined, right: Joined) => Compiled,
): Compiled {
  return operands.reduce((left, right) => {
    const rest = { at: right.at, isUntyped: false }
    if (!left.type.isArray && !right.type.isArray) return { ...joinScalars(left, right), ...rest }
    // An untyped NULL is an array that is NULL, and changes nothing.
    if (left.type.scalar === 'null' && !left.type.isArray) return right
    if (right.type.scalar === 'null' && !right.type.isArray) return left
    return { ...joinTwo(compiler, left, right), ...rest }
  })
}

function joinTwo(compiler: Compiler, left: Joined, right: Joined): Compiled {
  const types = [left, right].map(({ type }) => elementOf(type))
  const [one, two] = types as [ValueType, ValueType]
  const isAlike = one.scalar === two.scalar || types.every((type) => isNumber(type) && type.scalar !== 'bool')
  const isEmpty = types.some(({ scalar: type }) => type === 'null')
  if (!isAlike && !isEmpty)
    throw invalid(
      compiler,
      `an array of ${one.scalar} is joined with ${two.scalar}`,
      right.at,
      'cast one of them to the type of the other',
    )
  if ([left, right].some(({ isUntyped, type }) => isUntyped && type.scalar === 'text'))
    throw refused(compiler, 'a text is joined with an array', right.at, "write ARRAY['a'], or 'a'::text")
  const common = commonType(types)
  const parts = [left, right].map((part) => ofElements(part, common))
  const isAbsent = [left, right].every(({ type }) => type.isAbsentWhenEmpty)
  const type = arrayOf(common)
  return {
    sql: `arrayConcat(${parts.join(', ')})`,
    type: isAbsent ? { ...type, isAbsentWhenEmpty: true } : type,
  }
}

/** An array of elements of this type; of another value, one of it alone. */
function ofElements({ sql, type }: Compiled, common: ValueType): string {
  // The engine knows no array of Int64 beside UInt64.
  const isCast = isNumber(common) && common.scalar !== 'bool' && !isNumberAsItIs.has(common.scalar)
  if (!type.isArray) {
    const value = isCast ? asNumber({ sql, type }, common) : alternatives([{ sql, type }])[0]?.sql
    return `[${value ?? sql}]`
  }
  const element = elementOf(type)
  return isCast ? `arrayMap(x -> ${asNumber({ sql: 'x', type: element }, common)}, ${sql})` : sql
}

const isNumberAsItIs: ReadonlySet<string> = new Set(['int', 'float'])

/** A value that is NULL if one of the arrays it was made of is. */
export function withAbsence(compiled: Compiled, arrays: readonly (Compiled | undefined)[]): Compiled {
  const absent = arrays.flatMap((array) => (array?.type.isAbsentWhenEmpty ? [`empty(${array.sql})`] : []))
  return absent.length === 0
    ? compiled
    : { ...compiled, sql: `if(${absent.join(' OR ')}, NULL, ${compiled.sql})` }
}

/** `IS NULL` of an array. */
export const isAbsent = ({ sql, type }: Compiled): string =>
  type.isAbsentWhenEmpty ? `empty(${sql})` : 'false'

/** Arrays whose elements are of one type. */
export function withOneElement(arrays: readonly Compiled[]): Compiled[] {
  const common = commonType(arrays.map(({ type }) => elementOf(type)))
  return arrays.map((array) => ({ ...array, sql: ofElements(array, common) }))
}

/** `coalesce` of arrays: the first that is there. */
export function firstPresent(arrays: readonly Compiled[]): Compiled {
  const common = commonType(arrays.map(({ type }) => elementOf(type)))
  return withOneElement(arrays).reduceRight((rest, array) =>
    array.type.isAbsentWhenEmpty
      ? {
          sql: `if(empty(${array.sql}), ${rest.sql}, ${array.sql})`,
          type: { ...rest.type, scalar: common.scalar },
        }
      : array,
  )
}
