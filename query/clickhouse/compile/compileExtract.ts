/** EXTRACT: PostgreSQL's fields, all of them numeric. */
import type { Expression } from '../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, refused } from './Compiler.ts'
import { demanded } from './demanded.ts'
import { bind } from './numbers.ts'
import { scalar, unsigned } from './valueType.ts'

const extractors: Readonly<Record<string, (time: string) => string>> = {
  epoch: (time) => `toInt64(toUnixTimestamp(${time}))`,
  second: (time) => `toSecond(${time})`,
  minute: (time) => `toMinute(${time})`,
  hour: (time) => `toHour(${time})`,
  day: (time) => `toDayOfMonth(${time})`,
  doy: (time) => `toDayOfYear(${time})`,
  dow: (time) => `(toDayOfWeek(${time}) % 7)`,
  isodow: (time) => `toDayOfWeek(${time})`,
  week: (time) => `toISOWeek(${time})`,
  month: (time) => `toMonth(${time})`,
  quarter: (time) => `toQuarter(${time})`,
  year: (time) => `toYear(${time})`,
  isoyear: (time) => `toISOYear(${time})`,
}

export function compileExtract(
  compiler: Compiler,
  { unit, operand, at }: Extract<Expression, { kind: 'extract' }>,
  scope: NameScope,
): Compiled {
  const extractor = extractors[unit]
  if (!extractor) throw refused(compiler, `${unit} cannot be extracted`, at)
  const value = compiler.expression(operand, scope)
  if (value.type.scalar !== 'timestamp' && value.type.scalar !== 'date')
    throw refused(compiler, 'a field is extracted from a time', at)
  const isCounted = value.type.scalar === 'timestamp' && (unit === 'epoch' || unit === 'second')
  const field = isCounted ? ofWholeSecond(value.sql, extractor) : extractor(value.sql)
  // In the width of a numeric, so that what is made of it does not wrap around.
  if (unit === 'epoch') return { sql: `toInt256(${field})`, type: scalar('numeric') }
  return { sql: `toUInt256(${field})`, type: unsigned('numeric') }
}

/** Blocks have whole seconds; of a time that is computed the engine would leave the rest out. */
const ofWholeSecond = (time: string, extractor: (time: string) => string): string =>
  bind([time], ([own = '']) => demanded(`toMicrosecond(${own}) = 0`, 'partOfSecond', extractor(own)))
