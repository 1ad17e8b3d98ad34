/** EXTRACT: PostgreSQL's fields, all of them numeric. */
import type { Expression } from './ast.ts'
import { type Compiled, type Compiler, refused, type Scope } from './Compiler.ts'
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
  scope: Scope,
): Compiled {
  const extractor = extractors[unit]
  if (!extractor) throw refused(compiler, `${unit} cannot be extracted`, at)
  const value = compiler.expression(operand, scope)
  if (value.type.scalar !== 'timestamp' && value.type.scalar !== 'date')
    throw refused(compiler, 'a field is extracted from a time', at)
  // In the width of a numeric, so that what is made of it does not wrap around.
  if (unit === 'epoch') return { sql: `toInt256(${extractor(value.sql)})`, type: scalar('numeric') }
  return { sql: `toUInt256(${extractor(value.sql)})`, type: unsigned('numeric') }
}
