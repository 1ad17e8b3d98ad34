/** Forms to write instead of those that are not taken; every hint names one that runs on the engine. */

import type { Engine } from '#primitives.ts'
import { nearestOf } from '#text/nearest.ts'
import type { Catalog } from '../relations/catalog.ts'

export const qualifyHint =
  'filter around it: SELECT * FROM (SELECT …, row_number() OVER (…) AS place FROM …) x WHERE place = 1'
export const fillHint =
  "join a series: FROM generate_series((SELECT date_trunc('hour', min(timestamp)) FROM blocks), (SELECT max(timestamp) FROM blocks), INTERVAL '1 hour') AS x(hour) LEFT JOIN …"
export const recursiveHint = 'count with generate_series(1, 100), or join the table with itself'
export const lateralHint =
  'join a sub-select that groups by the column: JOIN (SELECT block_num, count(*) AS n FROM … GROUP BY block_num) x ON …'
export const correlatedHint =
  'a sub-select sees no column of the query around it here: join one that groups by that column'
export const equalsHint = 'write ='
export const divisionHint = 'write x / nullif(y, 0), which is NULL where y is 0'
/** The form to write for a name that is a word of SQL too. */
export const quotedNameHint = (word: string): string =>
  `a column or table called ${word} is written "${word}"`
export const longSeriesHint = 'take a wider step, or bounds that are closer'
export const seriesHint =
  "write generate_series(0, 23) AS g(n), or of times generate_series(from, to, INTERVAL '1 hour') AS x(hour); bounds may be sub-selects"

/** Names of other chains' indexers and the table that holds the same. */
const tables: Readonly<Record<string, string>> = {
  transactions: 'txs',
  transaction: 'txs',
  tx: 'txs',
  block: 'blocks',
  receipt: 'receipts',
  transaction_receipts: 'receipts',
  log: 'logs',
  events: 'logs',
  erc20_transfers: 'token_transfers',
  transfers: 'token_transfers',
}

export function tableHint(name: string, catalog: Catalog): string {
  const known = [...catalog.keys()]
  const lower = name.toLowerCase()
  const alike = [tables[lower], nearestOf(lower, known)].find(
    (table) => table !== undefined && catalog.has(table),
  )
  if (alike) return `did you mean ${alike}?`
  const all = `tables: ${known.join(', ')}`
  // Events are called in one word, tables of the catalog in several or in the plural.
  return /^[A-Z]/.test(name) || !/[_s]$|_/.test(lower)
    ? `an event or function is a table with signature=${name}(…), for example signature=Transfer(address indexed from, address indexed to, uint256 amount); ${all}`
    : all
}

const piece = "split_part(x, ',', 1)"
/** Functions of other engines, by lowercase name, and what does the same here. */
export const instead: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  postgres: {
    uniq: 'count(DISTINCT x)',
    uniqexact: 'count(DISTINCT x)',
    approx_distinct: 'count(DISTINCT x)',
    countif: 'count(*) FILTER (WHERE condition)',
    mapkeys: "ARRAY['a', 'b']",
    mapvalues: 'ARRAY[1, 2]',
    sumif: 'sum(x) FILTER (WHERE condition)',
    avgif: 'avg(x) FILTER (WHERE condition)',
    minif: 'min(x) FILTER (WHERE condition)',
    maxif: 'max(x) FILTER (WHERE condition)',
    any: 'any_value(x)',
    anylast: 'any_value(x)',
    argmax: '(array_agg(x ORDER BY y DESC))[1]',
    argmin: '(array_agg(x ORDER BY y))[1]',
    max_by: '(array_agg(x ORDER BY y DESC))[1]',
    min_by: '(array_agg(x ORDER BY y))[1]',
    grouparray: 'array_agg(x)',
    groupuniqarray: 'array_agg(DISTINCT x)',
    median: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY x)',
    quantile: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY x)',
    quantiles: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY x), one for each level',
    quantileexact: 'percentile_disc(0.5) WITHIN GROUP (ORDER BY x)',
    todate: 'date(x)',
    tostartofday: "date_trunc('day', x)",
    tostartofhour: "date_trunc('hour', x)",
    tostartofminute: "date_trunc('minute', x)",
    tostartofmonth: "date_trunc('month', x)",
    tostartofweek: "date_trunc('week', x + INTERVAL '1 day') - INTERVAL '1 day', which begins on Sundays",
    tomonday: "date_trunc('week', x)",
    tostartofyear: "date_trunc('year', x)",
    tostartofinterval: "date_trunc('hour', x)",
    tohour: 'extract(hour FROM x)',
    todayofweek: 'extract(isodow FROM x)',
    toyear: 'extract(year FROM x)',
    tomonth: 'extract(month FROM x)',
    tounixtimestamp: 'extract(epoch FROM x)',
    unix_timestamp: 'extract(epoch FROM x)',
    fromunixtimestamp: 'to_timestamp(x)',
    todatetime: 'to_timestamp(x), or x::timestamptz of a text',
    formatdatetime: "to_char(x, 'YYYY-MM-DD')",
    dayname: "to_char(x, 'FMDay')",
    monthname: "to_char(x, 'FMMonth')",
    datediff: 'extract(epoch FROM b) - extract(epoch FROM a)',
    if: 'CASE WHEN condition THEN a ELSE b END',
    multiif: 'CASE WHEN … THEN … ELSE … END',
    ifnull: 'coalesce(x, y)',
    tostring: 'x::text',
    toint64: 'x::bigint',
    toint32: 'x::int',
    touint64: 'x::numeric',
    touint256: 'abi_uint(word) of bytes, x::numeric of a number',
    tofloat64: 'x::float8',
    todecimal256: 'x::numeric',
    hex: "encode(x, 'hex')",
    unhex: "decode(x, 'hex')",
    to_base: 'to_hex(x)',
    reinterpretasuint256: 'abi_uint(word)',
    reinterpretasint256: 'abi_int(word)',
    keccak256: 'a constant: the hash of a text is topic0 of signature=…',
    splitbychar: piece,
    splitbystring: piece,
    lowerutf8: 'lower(x)',
    lengthutf8: 'length(x)',
    match: "x ~ 'pattern'",
    regexp_substr: 'substring(x, 3, 4)',
    jsonextractstring: "x::jsonb->>'key'",
    arrayjoin: 'unnest(x) in FROM',
    arraysum: '(SELECT sum(e) FROM unnest(x) AS t(e))',
    row_to_json: "jsonb_build_object('name', x)",
    to_json: 'to_jsonb(x)',
    json_agg: 'jsonb_agg(x)',
    json_build_object: "jsonb_build_object('name', x)",
    numbers: 'generate_series(0, 9) in FROM',
  },
  clickhouse: {
    now64: 'now()',
    mode: '(topK(1)(x))[1]',
    approx_distinct: 'uniq(x)',
    max_by: 'argMax(x, y)',
    min_by: 'argMin(x, y)',
    date_part: 'extract(hour FROM x)',
    dayname: 'extract(isodow FROM x), 1 on Mondays',
    age: 'extract(epoch FROM b) - extract(epoch FROM a)',
    make_date: "DATE '2026-01-31'",
    date_bin: "date_trunc('hour', x)",
    to_hex: 'lower(hex(x))',
    convert_from: 'signature=…, where a parameter is a string',
    get_byte: 'reinterpretAsUInt256(substring(x, 1, 1))',
    translate: "replace(replace(x, 'a', 'b'), 'c', 'd')",
    initcap: 'upper(left(x, 1)) || lower(substring(x, 2))',
    unnest: 'arrayJoin(x)',
    jsonb_array_elements: 'arrayJoin(JSONExtractArrayRaw(x))',
    jsonb_array_length: 'JSONLength(x)',
    jsonb_extract_path_text: "x::jsonb->>'key'",
    jsonb_agg: 'array_agg(x)',
    jsonb_build_object: 'columns of their own',
    array_length: 'length(x)',
    cardinality: 'length(x)',
    array_position: 'nullIf(indexOf(x, y), 0)',
    array_to_string: "arrayStringConcat(x, ',')",
    regr_slope: 'covar_pop(y, x) / nullif(var_pop(x::float8), 0)',
    map: "mapKeys(map('a', 1)), or columns of their own",
  },
}

/** Those that neither engine has. */
export const everywhere: Readonly<Record<string, string>> = {
  approx_percentile: 'percentile_cont(0.5) WITHIN GROUP (ORDER BY x)',
  from_unixtime: 'to_timestamp(x)',
  to_unixtime: 'extract(epoch FROM x)',
  date_format: "to_char(x, 'YYYY-MM-DD')",
  date_diff: 'extract(epoch FROM b) - extract(epoch FROM a)',
  dateadd: "x + INTERVAL '1 day'",
  date_add: "x + INTERVAL '1 day'",
  nvl: 'coalesce(x, y)',
  iff: 'CASE WHEN condition THEN a ELSE b END',
  from_hex: "decode(x, 'hex')",
  bytearray_to_uint256: 'abi_uint(word)',
  bytearray_to_numeric: 'abi_uint(word)',
  bytea2numeric: 'abi_uint(word)',
  varbinary_to_uint256: 'abi_uint(word)',
  bytearray_substring: 'substring(x, 1, 32)',
  varbinary_substring: 'substring(x, 1, 32)',
  bytearray_length: 'octet_length(x)',
  regexp_like: "x ~ 'pattern'",
  regexp_replace: "replace(x, 'a', 'b')",
  regexp_matches: "x ~ 'pattern'",
  json_extract_scalar: "x::jsonb->>'key'",
  json_extract_path_text: "x::jsonb->>'key'",
  random: 'hash, whose bytes are as good as random: ORDER BY hash',
  repeat: "rpad('', 10, 'x')",
  format: "concat(x, ' ', y)",
  arbitrary: 'any_value(x)',
}

/** The function to call instead of one that is not among the `known` ones. */
export function functionHint(engine: Engine, name: string, known: Iterable<string>): string {
  const lower = name.toLowerCase()
  const form = instead[engine][lower] ?? everywhere[lower]
  if (form) return `write ${form}`
  const alike = nearestOf(lower, [...known])
  return alike ? `did you mean ${alike}?` : 'functions are listed under `functions` of /v1/indexer/schema'
}

/** The form to write instead of a cast to a type that is not allowed. */
export const typeHint = (type: string): string =>
  /^(var)?bit$/.test(type.toLowerCase())
    ? 'a word of bytes is a number as abi_uint(word)'
    : 'cast to bool, int, bigint, numeric, float8, text, bytea, date, timestamptz or jsonb'
