/**
 * The functions, operators and types a user query may use on Postgres. Everything else is refused,
 * whatever it is. Left out on purpose: whatever reads settings, files, catalogs, sequences or large
 * objects, sleeps, locks or notifies; whatever builds a query from text (`query_to_xml`); and
 * whatever makes a large value of a small one (`repeat`, `format`, `regexp_replace`, `rpad` with a
 * length that is not a small constant).
 */

/** The position of a function: in an expression, as an aggregate (also OVER), with OVER only, or in FROM. */
export type FunctionPosition = 'scalar' | 'aggregate' | 'window' | 'table'

/** The demand on an argument; checked on the constant itself, so that no row can change it. */
export type ArgumentRule =
  /** An integer constant between 0 and `max`. */
  | { readonly kind: 'length'; readonly max: number }
  /** A string constant of at most `max` characters: patterns, whose cost grows with them. */
  | { readonly kind: 'pattern'; readonly max: number }
  /**
   * A string constant, not longer than the constant before it: replacing never makes a value grow.
   */
  | { readonly kind: 'noLongerThanPrevious' }
  /** Anything but a text: the textual variants are regular expressions. */
  | { readonly kind: 'notText' }
  /** One of these words. */
  | { readonly kind: 'word'; readonly words: readonly string[] }

export interface FunctionRule {
  readonly position: FunctionPosition
  readonly argumentsMax?: number
  /** By argument index. */
  readonly arguments?: Readonly<Record<number, ArgumentRule>>
}

/** Longer patterns are not needed and cost superlinear time. */
export const PATTERN_CHARACTERS_MAX = 200

/** Longest padding; wide enough for a 256-bit word in binary. */
const PADDING_MAX = 4096

const scalarNames = `
  abs ceil ceiling floor round trunc mod sign power pow sqrt cbrt exp ln log div gcd lcm width_bucket
  lower upper length char_length character_length octet_length bit_length position strpos starts_with
  left right reverse concat concat_ws initcap ascii chr to_hex md5
  encode decode get_byte get_bit bit_count sha224 sha256 sha384 sha512 crc32 crc32c convert_from
  date date_trunc date_bin date_part extract age now make_date make_timestamptz timezone isfinite justify_interval
  jsonb_array_length jsonb_typeof jsonb_extract_path jsonb_extract_path_text jsonb_build_array jsonb_build_object
  jsonb_strip_nulls to_jsonb
  array_length cardinality array_position array_positions array_lower array_upper array_ndims array_to_string
  num_nulls num_nonnulls
  abi_uint abi_int abi_address abi_bool
`

/** Functions of the program's own, by the names that users call them by. */
export const ownFunctions: ReadonlyMap<string, string> = new Map(
  ['uint', 'int', 'address', 'bool'].map((name) => [`abi_${name}`, `word_${name}`]),
)

/** Functions whose third argument stands for the first where there is none. */
export const shifts: ReadonlySet<string> = new Set(['lag', 'lead'])

/** Functions whose arguments behind the first are places; of texts they would be patterns. */
export const pieces: ReadonlySet<string> = new Set(['substr', 'substring'])

const aggregateNames = `
  count sum avg min max any_value bool_and bool_or every bit_and bit_or bit_xor
  array_agg string_agg jsonb_agg jsonb_object_agg
  stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp
  regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  mode percentile_cont percentile_disc
`

const windowNames = `
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
`

const tableNames = `generate_series unnest jsonb_array_elements jsonb_array_elements_text`

const pattern: ArgumentRule = { kind: 'pattern', max: PATTERN_CHARACTERS_MAX }
const padding: ArgumentRule = { kind: 'length', max: PADDING_MAX }
const calendarWords = `century day decade dow doy epoch hour isodow isoyear julian microseconds millennium
  milliseconds minute month quarter second timezone timezone_hour timezone_minute week year`

const ruledFunctions: Readonly<Record<string, FunctionRule>> = {
  extract: { position: 'scalar', arguments: { 0: { kind: 'word', words: words(calendarWords) } } },
  ...Object.fromEntries(
    ['btrim', 'ltrim', 'rtrim'].map((name) => [name, { position: 'scalar', arguments: { 1: pattern } }]),
  ),
  split_part: { position: 'scalar', arguments: { 1: pattern } },
  translate: { position: 'scalar', arguments: { 1: pattern, 2: pattern } },
  lpad: { position: 'scalar', arguments: { 1: padding } },
  overlay: { position: 'scalar' },
  replace: { position: 'scalar', arguments: { 1: pattern, 2: { kind: 'noLongerThanPrevious' } } },
  rpad: { position: 'scalar', arguments: { 1: padding } },
  substr: { position: 'scalar', arguments: { 1: { kind: 'notText' }, 2: { kind: 'notText' } } },
  substring: { position: 'scalar', arguments: { 1: { kind: 'notText' }, 2: { kind: 'notText' } } },
  to_char: { position: 'scalar', arguments: { 1: { kind: 'pattern', max: 64 } } },
  to_timestamp: { position: 'scalar', argumentsMax: 1 },
}

/** Every allowed function by lowercase name. */
export const functionRules: ReadonlyMap<string, FunctionRule> = new Map<string, FunctionRule>([
  ...at('scalar', scalarNames),
  ...at('aggregate', aggregateNames),
  ...at('window', windowNames),
  ...at('table', tableNames),
  ...Object.entries(ruledFunctions),
])

function at(position: FunctionPosition, names: string): [string, FunctionRule][] {
  return words(names).map((name) => [name, { position }])
}

/**
 * Operators by spelling. Their implementations are those of pg_catalog: the session's search_path
 * holds nothing else.
 */
export const operators: ReadonlySet<string> = new Set(
  words('= <> != < > <= >= + - * / % ^ || ~~ !~~ ~~* !~~* ~ ~* !~ !~* -> ->> #> #>> @> <@ ? & | # << >>'),
)

/** Operators whose right side is a pattern and must be a short constant. */
export const patternOperators: ReadonlySet<string> = new Set(words('~~ !~~ ~~* !~~* ~ ~* !~ !~*'))

/**
 * Functions and operators whose result is plain text, so that a '0x…' compared with it stays text.
 */
export const textFunctions: ReadonlySet<string> = new Set(
  words(`lower upper left right reverse translate btrim ltrim rtrim concat concat_ws split_part initcap to_hex encode
    lpad rpad replace to_char string_agg jsonb_extract_path_text jsonb_typeof array_to_string`),
)
export const textOperators: ReadonlySet<string> = new Set(words('->> #>>'))

/**
 * Types a cast may name; those of fixed width or bounded by their content. No reg*, no row types,
 * no bpchar or bit(n).
 */
export const castTypes: ReadonlySet<string> = new Set(
  words(`bool int2 int4 int8 numeric float4 float8 text varchar bytea date timestamp timestamptz interval
    jsonb uuid`),
)

export const textTypes: ReadonlySet<string> = new Set(words('text varchar'))

function words(list: string): string[] {
  return list.trim().split(/\s+/)
}
