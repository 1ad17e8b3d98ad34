/**
 * The functions a user query may use on ClickHouse, by lowercase name, each with what its result
 * is. Static: a new engine version adds nothing. Left out on purpose: whatever reads files, tables,
 * dictionaries, settings or hosts (`file`, `joinGet`, `dictGet`, `getSetting`, `hostName`), sleeps
 * or throws by choice (`sleep`, `throwIf`), runs code (`executable`, `evalMLMethod`), or makes a
 * large value of a small one (`repeat`, `range` of a row, `arrayWithConstant`).
 */

import { demanded } from '../demanded.ts'

/**
 * A call's result: a type by name, or `first` / `second` / `all` / `rest`: that argument's type, the common
 * one of all or of all but the first; `arrayOfFirst`, `elementOfFirst`, `lambda` (array of the lambda's
 * results), `sum`, `branches` (of multiIf).
 */
export type ResultRule =
  | 'int'
  | 'bigint'
  | 'numeric'
  | 'float'
  | 'bool'
  | 'bytes'
  | 'text'
  | 'timestamp'
  | 'date'
  | 'interval'
  | 'textArray'
  | 'floatArray'
  | 'first'
  | 'second'
  | 'all'
  | 'rest'
  | 'arrayOfFirst'
  | 'elementOfFirst'
  | 'lambda'
  | 'sum'
  | 'branches'
  | 'unknown'

export type FunctionKind = 'scalar' | 'aggregate' | 'window' | 'higherOrder'

export interface FunctionRule {
  readonly kind: FunctionKind
  /** The engine's spelling. */
  readonly name: string
  readonly result: ResultRule
  /** Replaces the plain call; gets the printed arguments. */
  readonly print?: (args: readonly string[]) => string
  readonly argumentsMax?: number
  /** Arguments that must be a short constant, by index. */
  readonly constants?: Readonly<Record<number, ConstantRule>>
  /** Array functions alone: the lambda may not be left out. */
  readonly lambda?: 'required'
  /** Parameters of a parametric aggregate, all constants. */
  readonly parametersMax?: number
}

/** A whole number up to `max`, a text of at most `max` characters, or one of these words. */
export type ConstantRule =
  | { readonly kind: 'number'; readonly max: number }
  | { readonly kind: 'text'; readonly max: number }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  /** A text no longer than the one before it: replacing never makes a value grow. */
  | { readonly kind: 'noLongerThanPrevious' }

const lists: readonly (readonly [FunctionKind, ResultRule, string])[] = [
  [
    'scalar',
    'first',
    'abs negate ceil floor round trunc sign greatest least bitNot reverse assumeNotNull toNullable',
  ],
  ['scalar', 'first', 'nullIf substring left right arraySlice arrayReverse'],
  ['scalar', 'first', 'arrayConcat arrayDistinct arrayPopBack arrayPopFront arrayFlatten arrayCompact'],
  [
    'scalar',
    'all',
    'plus minus multiply modulo intDiv coalesce ifNull concat bitAnd bitOr bitXor bitShiftLeft bitShiftRight',
  ],
  ['scalar', 'rest', 'if'],
  ['scalar', 'branches', 'multiIf'],
  [
    'scalar',
    'float',
    'divide sqrt cbrt exp ln log log2 log10 pow power toFloat32 toFloat64 toFloat64OrNull toFloat64OrZero',
  ],
  [
    'scalar',
    'int',
    'length lengthUTF8 bitCount position positionCaseInsensitive locate ascii toYear toMonth toQuarter',
  ],
  [
    'scalar',
    'int',
    'toDayOfMonth toDayOfWeek toDayOfYear toHour toMinute toSecond toISOWeek toISOYear toYYYYMM toYYYYMMDD',
  ],
  [
    'scalar',
    'int',
    'toInt8 toInt16 toInt32 toUInt8 toUInt16 toUInt32 toInt32OrNull toUInt32OrNull toInt32OrZero crc32',
  ],
  ['scalar', 'int', 'indexOf JSONLength countEqual countSubstrings grouping'],
  [
    'scalar',
    'bigint',
    'toInt64 toUInt64 toInt64OrNull toUInt64OrNull toInt64OrZero toUInt64OrZero toUnixTimestamp',
  ],
  [
    'scalar',
    'bigint',
    'dateDiff cityHash64 sipHash64 xxHash64 JSONExtractInt JSONExtractUInt toYYYYMMDDhhmmss',
  ],
  [
    'scalar',
    'numeric',
    'toInt128 toInt256 toUInt128 toUInt256 toUInt256OrNull toUInt256OrZero toInt256OrNull',
  ],
  ['scalar', 'numeric', 'reinterpretAsUInt256 reinterpretAsInt256 reinterpretAsUInt128 byteSwap gcd lcm'],
  [
    'scalar',
    'bool',
    'equals notEquals less greater lessOrEquals greaterOrEquals and or not xor isNull isNotNull empty notEmpty',
  ],
  ['scalar', 'bool', 'startsWith endsWith has hasAny hasAll JSONHas isFinite isNaN JSONExtractBool'],
  ['scalar', 'bytes', 'unhex SHA256 keccak256 reinterpretAsFixedString'],
  [
    'scalar',
    'text',
    'lower upper lowerUTF8 upperUTF8 hex bin concatWithSeparator arrayStringConcat monthName',
  ],
  [
    'scalar',
    'text',
    'JSONExtractString JSONExtractRaw JSONType formatReadableQuantity formatReadableSize toTypeName',
  ],
  [
    'scalar',
    'timestamp',
    'toStartOfSecond toStartOfMinute toStartOfFiveMinutes toStartOfTenMinutes toStartOfHour',
  ],
  [
    'scalar',
    'timestamp',
    'toStartOfFifteenMinutes toStartOfDay toStartOfInterval parseDateTimeBestEffort fromUnixTimestamp',
  ],
  ['scalar', 'timestamp', 'toTimeZone parseDateTimeBestEffortOrNull'],
  [
    'scalar',
    'date',
    'today yesterday toDate toDate32 toMonday toStartOfWeek toStartOfMonth toStartOfQuarter toStartOfYear',
  ],
  ['scalar', 'first', 'addSeconds addMinutes addHours addDays addWeeks addMonths addQuarters addYears'],
  [
    'scalar',
    'first',
    'subtractSeconds subtractMinutes subtractHours subtractDays subtractWeeks subtractMonths subtractYears',
  ],
  [
    'scalar',
    'interval',
    'toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth',
  ],
  ['scalar', 'elementOfFirst', 'arrayElement arrayJoin'],
  ['scalar', 'unknown', 'tuple tupleElement arrayZip arrayEnumerate arrayUniq'],
  ['higherOrder', 'sum', 'arraySum'],
  ['higherOrder', 'first', 'arrayMin arrayMax'],
  ['higherOrder', 'float', 'arrayAvg'],
  ['higherOrder', 'bool', 'arrayExists arrayAll'],
  ['higherOrder', 'int', 'arrayCount arrayFirstIndex'],
  ['higherOrder', 'unknown', 'arrayFirst arrayLast'],
  ['higherOrder', 'second', 'arraySort arrayReverseSort'],
  ['aggregate', 'bigint', 'count uniq uniqExact uniqCombined uniqCombined64 uniqHLL12'],
  ['aggregate', 'sum', 'sum'],
  ['aggregate', 'arrayOfFirst', 'groupArray groupUniqArray'],
  [
    'aggregate',
    'float',
    'avg avgWeighted median stddevPop stddevSamp varPop varSamp corr covarPop covarSamp skewPop kurtPop',
  ],
  [
    'aggregate',
    'first',
    'min max any anyLast argMin argMax quantileExact quantileExactLow groupBitAnd groupBitOr groupBitXor',
  ],
  ['aggregate', 'float', 'quantile quantileTDigest quantileTiming'],
  ['window', 'bigint', 'row_number rank dense_rank'],
  ['window', 'int', 'ntile'],
  ['window', 'float', 'percent_rank cume_dist'],
]

const words = (list: string): string[] => list.trim().split(/\s+/)
const rule = (
  kind: FunctionKind,
  name: string,
  result: ResultRule,
  more: Partial<FunctionRule> = {},
): FunctionRule => ({
  kind,
  name,
  result,
  ...more,
})
const named = (name: string, template: FunctionRule): [string, FunctionRule] => [name.toLowerCase(), template]

/** Constant patterns and lengths, as on Postgres (postgres/gate/expressions/functions.ts). */
const pattern: ConstantRule = { kind: 'text', max: 200 }
const padding: ConstantRule = { kind: 'number', max: 4096 }
const hexWord: ConstantRule = { kind: 'word', words: ['hex'] }
const period: ConstantRule = {
  kind: 'word',
  words: words('second minute hour day week month quarter year'),
}

const call = (name: string, args: readonly string[]): string => `${name}(${args.join(', ')})`

/** Functions with bounds of their own, and PostgreSQL's names for what both engines have. */
const special: readonly FunctionRule[] = [
  ...['trimBoth', 'trimLeft', 'trimRight'].map(trimming),
  rule('higherOrder', 'arrayMap', 'lambda', { lambda: 'required' }),
  rule('higherOrder', 'arrayFilter', 'second', { lambda: 'required' }),
  rule('scalar', 'match', 'bool', { constants: { 1: pattern } }),
  rule('scalar', 'toString', 'text'),
  rule('scalar', 'now', 'timestamp', { argumentsMax: 0, print: () => `toDateTime64(now('UTC'), 6, 'UTC')` }),
  rule('scalar', 'formatDateTime', 'text', { constants: { 1: { kind: 'text', max: 64 } } }),
  rule('scalar', 'replaceAll', 'first', { constants: { 1: pattern, 2: { kind: 'noLongerThanPrevious' } } }),
  rule('scalar', 'leftPad', 'first', { constants: { 1: padding } }),
  rule('scalar', 'rightPad', 'first', { constants: { 1: padding } }),
  rule('scalar', 'toFixedString', 'bytes', { constants: { 1: padding } }),
  rule('scalar', 'range', 'arrayOfFirst', {
    argumentsMax: 1,
    constants: { 0: { kind: 'number', max: 10_000 } },
  }),
  rule('scalar', 'date_trunc', 'timestamp', { constants: { 0: period } }),
  rule('scalar', 'toDateTime', 'timestamp', {
    argumentsMax: 1,
    print: (args) => `toDateTime(${args[0]}, 'UTC')`,
  }),
  rule('scalar', 'toDecimal128', 'numeric', { constants: { 1: { kind: 'number', max: 38 } } }),
  rule('scalar', 'toDecimal256', 'numeric', { constants: { 1: { kind: 'number', max: 76 } } }),
  // No array is NULL in the engine; of an absent text these are empty.
  rule('scalar', 'splitByChar', 'textArray', {
    print: ([by = '', x]) => call('splitByChar', [by, `ifNull(${x}, '')`]),
  }),
  rule('scalar', 'splitByString', 'textArray', {
    print: ([by = '', x]) => call('splitByString', [by, `ifNull(${x}, '')`]),
  }),
  rule('scalar', 'JSONExtractArrayRaw', 'textArray', { print: jsonArray('JSONExtractArrayRaw') }),
  rule('scalar', 'JSONExtractKeys', 'textArray', { print: jsonArray('JSONExtractKeys') }),
  rule('aggregate', 'topK', 'arrayOfFirst', { parametersMax: 1 }),
  rule('aggregate', 'quantiles', 'floatArray', { parametersMax: 16 }),
  rule('scalar', 'mapKeys', 'arrayOfFirst', { argumentsMax: 1 }),
  rule('scalar', 'mapValues', 'arrayOfFirst', { argumentsMax: 1 }),
]

const portable: readonly [string, FunctionRule][] = [
  named('ceiling', rule('scalar', 'ceil', 'first')),
  named('mod', rule('scalar', 'modulo', 'all')),
  named('div', rule('scalar', 'div', 'numeric', { argumentsMax: 2 })),
  named('substr', rule('scalar', 'substring', 'first')),
  named('char_length', rule('scalar', 'lengthUTF8', 'int')),
  named('character_length', rule('scalar', 'lengthUTF8', 'int')),
  named('octet_length', rule('scalar', 'octet_length', 'int')),
  named('strpos', rule('scalar', 'position', 'int')),
  named('btrim', trimming('trimBoth')),
  named('ltrim', trimming('trimLeft')),
  named('rtrim', trimming('trimRight')),
  named('starts_with', rule('scalar', 'startsWith', 'bool')),
  named('concat_ws', rule('scalar', 'concatWithSeparator', 'text')),
  named('datetrunc', rule('scalar', 'date_trunc', 'timestamp', { constants: { 0: period } })),
  named(
    'to_timestamp',
    rule('scalar', 'toDateTime', 'timestamp', { argumentsMax: 1, print: ([x]) => `toDateTime(${x}, 'UTC')` }),
  ),
  named(
    'timezone',
    rule('scalar', 'timezone', 'timestamp', { argumentsMax: 2, constants: { 0: { kind: 'text', max: 64 } } }),
  ),
  named('to_char', rule('scalar', 'to_char', 'text', { constants: { 1: { kind: 'text', max: 64 } } })),
  named('split_part', rule('scalar', 'split_part', 'text', { constants: { 1: pattern }, argumentsMax: 3 })),
  named('->', rule('scalar', '->', 'unknown')),
  named('->>', rule('scalar', '->>', 'text')),
  ...['abi_uint', 'abi_int', 'abi_address', 'abi_bool'].map((name) =>
    named(name, rule('scalar', name, 'numeric', { argumentsMax: 1 })),
  ),
  named('date', rule('scalar', 'date', 'date', { argumentsMax: 1, print: ([x]) => `toDate32(${x})` })),
  named(
    'current_date',
    rule('scalar', 'today', 'date', { argumentsMax: 0, print: () => `toDate32(now64(6, 'UTC'))` }),
  ),
  ...['current_timestamp', 'localtimestamp'].map((name) =>
    named(
      name,
      rule('scalar', 'now', 'timestamp', {
        argumentsMax: 0,
        print: () => `toDateTime64(now('UTC'), 6, 'UTC')`,
      }),
    ),
  ),
  named('percentile_cont', rule('aggregate', 'percentile_cont', 'float', { argumentsMax: 1 })),
  named('percentile_disc', rule('aggregate', 'percentile_disc', 'first', { argumentsMax: 1 })),
  named(
    'string_agg',
    rule('aggregate', 'string_agg', 'text', { argumentsMax: 2, constants: { 1: pattern } }),
  ),
  named('sha256', rule('scalar', 'SHA256', 'bytes')),
  named(
    'replace',
    rule('scalar', 'replaceAll', 'first', { constants: { 1: pattern, 2: { kind: 'noLongerThanPrevious' } } }),
  ),
  named('lpad', rule('scalar', 'leftPad', 'first', { constants: { 1: padding } })),
  named('rpad', rule('scalar', 'rightPad', 'first', { constants: { 1: padding } })),
  named('any_value', rule('aggregate', 'any', 'first')),
  named('array_agg', rule('aggregate', 'groupArray', 'arrayOfFirst')),
  named(
    'encode',
    rule('scalar', 'encode', 'text', { constants: { 1: hexWord }, print: ([x]) => `lower(hex(${x}))` }),
  ),
  named(
    'decode',
    rule('scalar', 'decode', 'bytes', {
      constants: { 1: hexWord },
      print: ([x]) => demanded(`match(${x}, '^([0-9a-fA-F]{2})*$')`, 'noHex', `unhex(${x})`),
    }),
  ),
  named('md5', rule('scalar', 'md5', 'text', { print: ([x]) => `lower(hex(MD5(${x})))` })),
  named('bool_and', rule('aggregate', 'min', 'bool', { print: ([x]) => `min(toUInt8(${x}))` })),
  named('every', rule('aggregate', 'min', 'bool', { print: ([x]) => `min(toUInt8(${x}))` })),
  named('bool_or', rule('aggregate', 'max', 'bool', { print: ([x]) => `max(toUInt8(${x}))` })),
  named('stddev', rule('aggregate', 'stddevSamp', 'float')),
  named('stddev_pop', rule('aggregate', 'stddevPop', 'float')),
  named('stddev_samp', rule('aggregate', 'stddevSamp', 'float')),
  named('variance', rule('aggregate', 'varSamp', 'float')),
  named('var_pop', rule('aggregate', 'varPop', 'float')),
  named('var_samp', rule('aggregate', 'varSamp', 'float')),
  named('covar_pop', rule('aggregate', 'covarPop', 'float')),
  named('covar_samp', rule('aggregate', 'covarSamp', 'float')),
  // Without a row to look at, the engine answers 0 for a column that is not Nullable; SQL says
  // NULL. The engine's own leave NULL out.
  named('first_value', rule('window', 'first_value_respect_nulls', 'first')),
  named('last_value', rule('window', 'last_value_respect_nulls', 'first')),
  named('nth_value', rule('window', 'nth_value', 'first', { print: nullableFirst('nth_value') })),
  named('lag', rule('window', 'lag', 'first', { print: nullableFirst('lag'), argumentsMax: 3 })),
  named('lead', rule('window', 'lead', 'first', { print: nullableFirst('lead'), argumentsMax: 3 })),
]

/** The engine's take no characters of a row. */
function trimming(name: string): FunctionRule {
  return rule('scalar', name, 'text', { argumentsMax: 2, constants: { 1: pattern } })
}

function jsonArray(name: string) {
  return ([x, ...path]: readonly string[]) => call(name, [`ifNull(${x}, '')`, ...path])
}

function nullableFirst(name: string) {
  return ([first = '', ...rest]: readonly string[]) => call(name, [`toNullable(${first})`, ...rest])
}

/** Aggregates of one parameter: the level of a quantile. */
const parametric = /^(quantile|median)/i

/** Every allowed function by lowercase name. */
export const functionRules: ReadonlyMap<string, FunctionRule> = new Map<string, FunctionRule>([
  ...lists.flatMap(([kind, result, names]) =>
    words(names).map((name) =>
      named(name, rule(kind, name, result, parametric.test(name) ? { parametersMax: 1 } : {})),
    ),
  ),
  ...special.map((entry) => named(entry.name, entry)),
  ...portable,
])

/** As the engine spells them; those known by names of other engines stand for themselves. */
export const functionNames: readonly string[] = [...functionRules].map(([key, { name }]) =>
  name.toLowerCase() === key ? name : key,
)

/**
 * The rule of a name; aggregates also with the suffix `If`, whose last argument is the condition.
 */
export function findFunction(name: string): { rule: FunctionRule; isConditional: boolean } | undefined {
  const key = name.toLowerCase()
  const rule = functionRules.get(key)
  if (rule) return { rule, isConditional: false }
  const plain = key.endsWith('if') ? functionRules.get(key.slice(0, -2)) : undefined
  return plain?.kind === 'aggregate' && !plain.print ? { rule: plain, isConditional: true } : undefined
}
