/** Random expressions of a type over a table of the example chain. */

export type SqlType = 'int' | 'bigint' | 'numeric' | 'float' | 'text' | 'bytes' | 'bool' | 'timestamp'

export interface Source {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: Readonly<Partial<Record<SqlType, readonly string[]>>>
}

export const sources: readonly Source[] = [
  {
    name: 'blocks',
    key: ['num'],
    columns: {
      int: ['tx_count', 'log_count'],
      bigint: ['num', 'gas_used', 'size', 'timestamp_ms'],
      numeric: ['base_fee_per_gas', 'gas_limit'],
      bytes: ['hash', 'parent_hash', 'miner', 'extra_data', 'consensus_proposer'],
      timestamp: ['timestamp'],
    },
  },
  {
    name: 'txs',
    key: ['block_num', 'idx'],
    columns: {
      int: ['idx', 'type', 'call_count', 'signature_type'],
      bigint: ['block_num', 'gas_used'],
      numeric: [
        ...['value', 'gas_price', 'max_fee_per_gas', 'max_priority_fee_per_gas'],
        ...['gas_limit', 'nonce', 'valid_after', 'valid_before'],
      ],
      text: ['calls'],
      bytes: ['hash', '"from"', '"to"', 'input', 'nonce_key', 'fee_token', 'fee_payer'],
      timestamp: ['block_timestamp'],
    },
  },
  {
    name: 'receipts',
    key: ['block_num', 'tx_idx'],
    columns: {
      int: ['tx_idx', 'type', 'status', 'log_count'],
      bigint: ['block_num', 'gas_used', 'cumulative_gas_used'],
      numeric: ['effective_gas_price', 'fee_amount'],
      bytes: ['tx_hash', '"from"', '"to"', 'contract_address', 'fee_token'],
      timestamp: ['block_timestamp'],
    },
  },
  {
    name: 'logs',
    key: ['block_num', 'log_idx'],
    columns: {
      int: ['log_idx', 'tx_idx'],
      bigint: ['block_num'],
      bytes: ['tx_hash', 'address', 'topic0', 'topic1', 'topic2', 'topic3', 'data'],
      bool: ['is_virtual_forward'],
      timestamp: ['block_timestamp'],
    },
  },
]

export const types: readonly SqlType[] = [
  'int',
  'bigint',
  'numeric',
  'float',
  'text',
  'bytes',
  'bool',
  'timestamp',
]
export const numbers: readonly SqlType[] = ['int', 'bigint', 'numeric', 'float']

/** Numbers by a seed (mulberry32, public domain). */
export class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return ((word ^ (word >>> 14)) >>> 0) % bound
  }

  of<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new TypeError('nothing to choose from')
    return item
  }

  times<Item>(min: number, max: number, make: () => Item): Item[] {
    return Array.from({ length: min + this.below(max - min + 1) }, make)
  }
}

/** Makes expressions of a type over one source; `prefix` names it in a join. */
export interface Making {
  readonly choose: Choices
  readonly source: Source
  readonly prefix: string
}

export function expression(making: Making, type: SqlType, depth: number): string {
  if (depth <= 0 || making.choose.below(4) === 0) return leaf(making, type)
  const operation = making.choose.of(operations[type])
  return operation(making, depth - 1)
}

function leaf(making: Making, type: SqlType): string {
  const columns = making.source.columns[type] ?? []
  const constants = constantsOf[type]
  return columns.length > 0 && making.choose.below(4) > 0
    ? `${making.prefix}${making.choose.of(columns)}`
    : making.choose.of(constants)
}

const constantsOf: Readonly<Record<SqlType, readonly string[]>> = {
  int: ['0', '1', '-1', '2', '7', '-3', '100', '2147483647'],
  bigint: ['3000000000', '-3000000000', '9223372036854775807', '5::bigint', '(-2)::bigint'],
  numeric: [
    '0::numeric',
    '1e6',
    '18446744073709551616',
    '-340282366920938463463374607431768211456',
    '1000000000000000000::numeric',
  ],
  float: ['1::float8', '2.5::float8', '-7::float8'],
  text: ["'abc'", "'Abc'", "''", "'a_b'", "'é'", "'x'::text"],
  bytes: ["'0x00'", "'\\x00ff'", "'0xff00fe'", "'0x20c0000000000000000000000000000000000001'"],
  bool: ['true', 'false'],
  timestamp: [
    "'2026-11-21 12:00:00'::timestamptz",
    "'1999-12-31'::timestamptz",
    "'2200-02-29 23:59:59'::timestamptz",
  ],
}

type Operation = (making: Making, depth: number) => string

const of = (type: SqlType) => (making: Making, depth: number) => expression(making, type, depth)
const call =
  (template: string, ...args: readonly SqlType[]): Operation =>
  (making, depth) =>
    args.reduce((sql, type, index) => sql.replaceAll(`$${index + 1}`, of(type)(making, depth)), template)

/** The operations that any type has. */
const shared = (type: SqlType): Operation[] => [
  call(`coalesce($1, $2)`, type, type),
  call(`CASE WHEN $1 THEN $2 ELSE $3 END`, 'bool', type, type),
  call(`CASE WHEN $1 THEN $2 END`, 'bool', type),
  call(`nullif($1, $2)`, type, type),
  ...element(type),
]
/** An element of an array, or NULL where the place is none. */
function element(type: SqlType): Operation[] {
  const arrays = [
    call('(ARRAY[$1, $2])[$3]', type, type, 'int'),
    call('(ARRAY[$1] || ARRAY[$2, $1])[$3]', type, type, 'int'),
    (making: Making, depth: number) =>
      `(ARRAY[${of(type)(making, depth)}])[${making.choose.of(['1', '2', '0', '-1'])}]`,
  ]
  // A text without a type beside an array is one itself.
  return type === 'text' ? arrays : [...arrays, call('(ARRAY[$1] || ($2))[2]', type, type)]
}
const ordered = (type: SqlType): Operation[] => [
  call(`greatest($1, $2)`, type, type),
  call(`least($1, $2)`, type, type),
]
const signed = (type: SqlType): Operation[] => [
  ...['+', '-', '*', '/', '%'].map((operator) => call(`($1 ${operator} $2)`, type, type)),
  call(`(- $1)`, type),
  call(`abs($1)`, type),
]

const operations: Readonly<Record<SqlType, readonly Operation[]>> = {
  int: [
    ...shared('int'),
    ...ordered('int'),
    ...signed('int'),
    call('octet_length($1)', 'bytes'),
    call('length($1)', 'text'),
    call('strpos($1, $2)', 'text', 'text'),
    call('($1)::int', 'bigint'),
    call('($1)::int', 'float'),
    call('mod($1, $2)', 'int', 'int'),
    call('($1)::smallint', 'int'),
    call('($1 + $2::smallint)', 'int', 'int'),
    call('($1)::int', 'bool'),
  ],
  bigint: [
    ...shared('bigint'),
    ...ordered('bigint'),
    ...signed('bigint'),
    ...['+', '-', '*', '/', '%'].map((operator) => call(`($1 ${operator} $2)`, 'bigint', 'int')),
    call('($1)::bigint', 'numeric'),
    call('coalesce($1, $2)', 'bigint', 'int'),
  ],
  numeric: [
    ...shared('numeric'),
    ...ordered('numeric'),
    ...signed('numeric'),
    ...['+', '-', '*', '/', '%'].map((operator) => call(`($1 ${operator} $2)`, 'numeric', 'bigint')),
    call('($1 / 1e18)', 'numeric'),
    call('($1 * 0.5)', 'bigint'),
    call('round($1 / 3.0, 2)', 'numeric'),
    call('div($1, $2)', 'numeric', 'numeric'),
    call('extract(epoch FROM $1)', 'timestamp'),
    ...[
      'dow',
      'isodow',
      'day',
      'doy',
      'week',
      'month',
      'quarter',
      'year',
      'hour',
      'minute',
      'second',
      'isoyear',
    ].map((unit) => call(`extract(${unit} FROM $1)`, 'timestamp')),
    call('coalesce($1, $2)', 'numeric', 'int'),
    call('CASE WHEN $1 THEN $2 ELSE $3 END', 'bool', 'numeric', 'bigint'),
    call('round($1, 2)', 'int'),
    call('sign($1)', 'numeric'),
    call('($1)::numeric', 'float'),
    call('round(($1)::numeric, 6)', 'float'),
  ],
  float: [
    ...shared('float'),
    ...['+', '-', '*', '/'].map((operator) => call(`($1 ${operator} $2)`, 'float', 'float')),
    call('($1)::float8', 'int'),
    call('($1)::float8', 'bigint'),
    call('($1)::float8', 'numeric'),
    call('round($1)', 'float'),
    call('floor($1)', 'float'),
    call('ceil($1)', 'int'),
    call('sqrt($1)', 'float'),
    call('($1 / $2)', 'float', 'numeric'),
    call('($1 * $2)', 'int', 'float'),
    call('sign($1)', 'int'),
  ],
  text: [
    ...shared('text'),
    ...ordered('text'),
    call('($1 || $2)', 'text', 'text'),
    call('($1 || $2)', 'text', 'bigint'),
    call('($1)::text', 'int'),
    call('($1)::text', 'bigint'),
    call('($1)::text', 'bool'),
    call('upper($1)', 'text'),
    call('lower($1)', 'text'),
    call('reverse($1)', 'text'),
    call('concat($1, $2)', 'text', 'int'),
    call(`replace($1, 'a', 'b')`, 'text'),
    call('substring($1, 2, 2)', 'text'),
    call('substring($1, $2, 3)', 'text', 'int'),
    call('left($1, 2)', 'text'),
    call('right($1, 2)', 'text'),
    call(`encode($1, 'hex')`, 'bytes'),
    call('btrim($1)', 'text'),
    call('md5($1)', 'text'),
  ],
  bytes: [
    ...shared('bytes'),
    ...ordered('bytes'),
    call('($1 || $2)', 'bytes', 'bytes'),
    call('substring($1, 1, 4)', 'bytes'),
    call('substring($1, $2, 5)', 'bytes', 'int'),
    call('sha256($1)', 'bytes'),
  ],
  bool: [
    call('($1 AND $2)', 'bool', 'bool'),
    call('($1 OR $2)', 'bool', 'bool'),
    call('(NOT $1)', 'bool'),
    (making, depth) => {
      const type = making.choose.of(types)
      const side = numbers.includes(type) ? making.choose.of(numbers) : type
      const operator = making.choose.of(['=', '<>', '<', '>=', 'IS DISTINCT FROM'])
      return `(${of(type)(making, depth)} ${operator} ${of(side)(making, depth)})`
    },
    (making, depth) =>
      `(${of(making.choose.of(types))(making, depth)} IS ${making.choose.of(['', 'NOT '])}NULL)`,
    (making, depth) => {
      const type = making.choose.of(types)
      const items = making.choose.times(1, 3, () => leaf(making, type))
      if (making.choose.below(5) === 0) items.push('NULL')
      return `(${of(type)(making, depth)} ${making.choose.of(['', 'NOT '])}IN (${items.join(', ')}))`
    },
    call('($1 BETWEEN $2 AND $3)', 'bigint', 'int', 'bigint'),
    call('($1 NOT BETWEEN $2 AND $3)', 'numeric', 'numeric', 'int'),
    call("($1 LIKE 'A%')", 'text'),
    call("($1 ILIKE '%B_')", 'text'),
    call('(($1, $2) < ($3, $4))', 'int', 'bigint', 'int', 'bigint'),
    call('(($1, $2) = ($3, $4))', 'bytes', 'int', 'bytes', 'int'),
    call('starts_with($1, $2)', 'text', 'text'),
    call('($1)::bool', 'int'),
    call('(ARRAY[$1, $2] = ARRAY[$3])', 'bigint', 'bigint', 'bigint'),
    ...shared('bool'),
  ],
  timestamp: [
    ...shared('timestamp'),
    ...ordered('timestamp'),
    ...['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((unit) =>
      call(`date_trunc('${unit}', $1)`, 'timestamp'),
    ),
    call(`($1 + interval '1 month')`, 'timestamp'),
    call(`($1 - interval '36 hours')`, 'timestamp'),
    call(`($1 + interval '1 year')`, 'timestamp'),
  ],
}
