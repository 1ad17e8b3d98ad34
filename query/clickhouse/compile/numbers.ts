/**
 * Numbers as PostgreSQL has them, out of an engine whose integers wrap around. An operation is done
 * in a wider type and narrowed by a cast that looks (`accurateCast`); 256 bits have no wider type,
 * so there the same operation is done on floats as well: the two differ by rounding, or by a
 * multiple of 2^256.
 */
import { textOfBytesHint, unequalValues } from '../../text.ts'
import { type Compiled, type Compiler, invalid } from './Compiler.ts'
import {
  chosenBytes,
  commonType,
  isWhole,
  knownWidth,
  marksOf,
  type Scalar,
  scalar,
  scaled,
  type ValueType,
} from './valueType.ts'

/**
 * Values a result is made of more than once, named in the body; short ones are written out, the
 * rest bound by a lambda.
 */
export function bind(values: readonly string[], body: (names: readonly string[]) => string): string {
  if (values.every((value) => value.length <= INLINE_CHARACTERS_MAX)) return body(values)
  const names = values.map((_, index) => `x${index}`)
  return `arrayElement(arrayMap((${names.join(', ')}) -> ${body(names)}, ${values.map((value) => `[${value}]`).join(', ')}), 1)`
}

/**
 * A bound value costs an array a row (twice the time of a product); a long one written out would
 * grow with every operator.
 */
const INLINE_CHARACTERS_MAX = 60

/** The value as another type of number; what does not fit is an error of the query. */
export function asNumber({ sql, type }: Compiled, target: ValueType): string {
  if (type.scalar === 'null' || type.scalar === 'unknown') return sql
  switch (target.scalar) {
    case 'int':
      return accurate(sql, 'Int32')
    case 'bigint':
      return accurate(sql, 'Int64')
    case 'numeric':
      return accurate(sql, target.isUnsigned ? 'UInt256' : 'Int256')
    case 'decimal':
      return asDecimal(sql, type, target.scale ?? 0)
    case 'float':
      return asFloat(sql, type)
    default:
      return sql
  }
}

export const accurate = (sql: string, engineType: string): string => `accurateCast(${sql}, '${engineType}')`

/**
 * A UInt256 beyond 255 bits would become a negative decimal, and with more digits behind the point a
 * cast wraps around.
 */
function asDecimal(sql: string, type: ValueType, scale: number): string {
  const own = isWhole(type) ? `toDecimal256(${accurate(sql, 'Int256')}, 0)` : sql
  const ownScale = isWhole(type) ? 0 : (type.scale ?? 0)
  if (ownScale === scale) return own
  const cast = (value: string) => `CAST(${value} AS Decimal(76, ${scale}))`
  if (ownScale > scale) return cast(own)
  return bind([own], ([x = '']) => withinWidth(cast(x), `toFloat64(${x})`, scale))
}

/**
 * The engine rounds a wide number twice on its way to a float; by its digits it is rounded once
 * (measured on 26.7).
 */
function asFloat(sql: string, { scalar: type }: ValueType): string {
  if (type === 'float') return sql
  return type === 'numeric' || type === 'decimal' ? `toFloat64(toString(${sql}))` : `toFloat64(${sql})`
}

/** `sql` of the operands, wrapped around or not, and an error where `floats` says that it did. */
export function unwrapped(
  values: readonly string[],
  scale: number,
  operation: (names: readonly string[]) => string,
): string {
  return bind(values, (names) => {
    const exact = operation(names)
    return withinWidth(exact, operation(names.map((name) => `toFloat64(${name})`)), scale)
  })
}

/** An error where an exact value is not its estimate. */
export const withinWidth = (exact: string, estimate: string, scale: number): string =>
  `(${exact} + throwIf(ifNull(abs(${estimate} - toFloat64(${exact})) > 1e${76 - scale}, 0), ''))`

/**
 * Digits kept of a quotient: PostgreSQL shows 36 of 1 / 10^18, and 39 before the point hold 2^128.
 */
const QUOTIENT_SCALE = 37

/**
 * The quotient of two whole numbers, with as many digits as PostgreSQL gives it (`select_div_scale`
 * of numeric.c): 16 that count, in groups of four.
 */
export function quotient(dividend: Compiled, divisor: Compiled): Compiled {
  const scaleMin = Math.max(dividend.type.scale ?? 0, divisor.type.scale ?? 0)
  const values = [accurate(dividend.sql, 'Int256'), accurate(divisor.sql, 'Int256')]
  const sql = bindAlways(values, (a, b) => {
    const groups = (x: string) => `intDiv(length(toString(abs(${x}))) - 1, 4)`
    const first = (x: string) =>
      `toUInt16(substring(toString(abs(${x})), 1, length(toString(abs(${x}))) - 4 * ${groups(x)}))`
    const weight = `(toInt32(${groups(a)}) - toInt32(${groups(b)}) - (${first(a)} <= ${first(b)}))`
    const scale = `greatest(16 - 4 * ${weight}, ${scaleMin})`
    const kept = `toInt16(${scale} + throwIf(ifNull(${scale} >= ${QUOTIENT_SCALE}, 0), ''))`
    const exact = `divideDecimal(toDecimal256(${a}, 0), toDecimal256(ifNull(${b}, 1), 0), ${QUOTIENT_SCALE})`
    return `if(isNull(${a}) OR isNull(${b}), NULL, round(${exact}, ${kept}))`
  })
  return { sql, type: scaled('decimal', QUOTIENT_SCALE) }
}

function bindAlways(
  values: readonly [string, string] | readonly string[],
  body: (a: string, b: string) => string,
): string {
  const [a = '', b = ''] = values
  return `arrayElement(arrayMap((x0, x1) -> ${body('x0', 'x1')}, [${a}], [${b}]), 1)`
}

/**
 * Whole part and remainder toward zero; of unlike signs the engine's own are wrong (-10 % 3 gave 0
 * in 256 bits).
 */
export function wholeDivision(word: 'intDiv' | 'modulo', dividend: Compiled, divisor: Compiled): string {
  if (dividend.type.isUnsigned && divisor.type.isUnsigned) return `${word}(${dividend.sql}, ${divisor.sql})`
  return bind([dividend.sql, divisor.sql], ([a = '', b = '']) => {
    const magnitude = accurate(`${word}(abs(${a}), abs(${b}))`, 'Int256')
    const isNegative = word === 'modulo' ? `${a} < 0` : `(${a} < 0) != (${b} < 0)`
    return `(${magnitude} * if(${isNegative}, -1, 1))`
  })
}

/**
 * Alternatives of one value (branches of CASE, arguments of coalesce, columns of a UNION) as one
 * type of number.
 */
export function asOneNumber(values: readonly Compiled[], common: ValueType): readonly Compiled[] {
  const target: Scalar = common.scalar
  const isPlain = values.every(({ type }) => type.scalar === target && type.scale === common.scale)
  const needsNone =
    target === 'bool' || (isPlain && (target === 'int' || target === 'float' || common.isUnsigned))
  if (common.isArray || needsNone || !['int', 'bigint', 'numeric', 'decimal', 'float'].includes(target))
    return values
  const type = target === 'int' || target === 'bigint' ? { ...scalar(target), ...marksOf([common]) } : common
  return values.map((value) => ({
    sql: asNumber(value, common),
    type: value.type.scalar === 'null' ? value.type : type,
  }))
}

/** Values that may each become the result: bytes of one length, numbers of one type. */
export function alternatives(values: readonly Compiled[]): Compiled[] {
  return [...asOneNumber(asOneLength(values), commonType(values.map(({ type }) => type)))]
}

/**
 * Bytes that become one value. The engine would turn a FixedString beside a String into a String
 * without its last zero bytes (measured on 26.7: `greatest(address, unhex(…))` gave 0xfeec for
 * 0xfeec00…00); joined with nothing it keeps them.
 */
const asOneLength = (operands: readonly Compiled[]): Compiled[] =>
  operands.map((operand) =>
    operand.type.scalar === 'bytes' && !operand.type.isArray && !operand.type.isVarying
      ? { sql: `concat(${operand.sql}, '')`, type: chosenBytes(knownWidth(operand.type)) }
      : operand,
  )

/** No bytes equal their text, and both are Strings to the engine. */
export function assertOneKind(
  compiler: Pick<Compiler, 'sql'>,
  compared: readonly Compiled[],
  placeOf: (index: number) => number | undefined,
): void {
  const indexOf = (kind: Scalar) => compared.findIndex(({ type }) => type.scalar === kind && !type.isArray)
  const text = indexOf('text')
  if (text >= 0 && indexOf('bytes') >= 0)
    throw invalid(compiler, 'bytes are compared with a text', placeOf(text) ?? 0, textOfBytesHint)
}

/** Bytes that are never equal, since all of the ones are longer than all of the others. */
export function assertOneWidth(
  compiler: Pick<Compiler, 'sql'>,
  compared: readonly Compiled[],
  placeOf: (index: number) => number | undefined,
): void {
  const widths = compared.map(({ type }) =>
    type.scalar === 'bytes' && !type.isArray ? knownWidth(type) : undefined,
  )
  const first = widths.find((width) => width !== undefined)
  const index = widths.findIndex((width) => width !== undefined && width !== first)
  const other = widths[index]
  if (first === undefined || other === undefined) return
  const { problem, hint } = unequalValues(first, other)
  throw invalid(compiler, problem, placeOf(index) ?? 0, hint)
}

/**
 * Values that are compared: bytes of unlike lengths as Strings, since a FixedString equals itself without
 * its last zero bytes.
 */
export function comparable(operands: readonly Compiled[]): Compiled[] {
  const known = operands.filter(({ type }) => type.scalar !== 'null')
  const [first] = known
  const isBytes = known.every(({ type }) => type.scalar === 'bytes' && !type.isArray)
  const isAlike =
    known.every(({ type }) => type.isVarying) ||
    known.every(
      ({ sql, type }) =>
        type.width !== undefined &&
        type.width === first?.type.width &&
        (!type.isVarying || bytesConstant.test(sql)),
    )
  return isBytes && !isAlike ? asOneLength(operands) : [...operands]
}

/** The engine takes a constant for what it is compared with; a String of a row it pads or cuts. */
const bytesConstant = /^unhex\('[0-9a-f]*'\)$/
