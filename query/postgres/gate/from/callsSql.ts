/**
 * Calls of a function on Postgres: transactions whose input begins with its selector, and calls of
 * 0x76 transactions.
 */

import { quoteIdentifier, relationOf } from '#store/sql.ts'

/** A row per call, with the columns of decodedTable.ts. `selector` is `0x` and 8 hex digits. */
export function callsSql(schema: string, selector: string): string {
  const txs = relationOf(schema, 'txs')
  const bytes = `'\\x${selector.slice(2)}'::bytea`
  const place = 'x.block_num, x.block_timestamp, x.idx AS tx_idx, x.hash AS tx_hash, x."from" AS sender'
  const plain = `SELECT ${place}, 0 AS call_idx, x."to" AS address, x.value AS call_value, ${bytes} AS selector, x.input
    FROM ${txs} AS x WHERE x.calls IS NULL AND x."to" IS NOT NULL AND substr(x.input, 1, 4) = ${bytes}`
  // Hex that is none would be an error of the whole query.
  const field = (name: string) =>
    `CASE WHEN c.value->>'${name}' ~ '^0x([0-9a-fA-F]{2})*$' THEN decode(substr(c.value->>'${name}', 3), 'hex') END`
  const value = `decode(lpad(substr(c.value->>'value', 3), 64, '0'), 'hex')`
  const isValue = `c.value->>'value' ~ '^0x[0-9a-fA-F]{1,64}$'`
  // The text is looked at first: most transactions have no such call, and reading JSON is dear.
  const batched = `SELECT ${place}, (c.ordinality - 1)::int4 AS call_idx, ${field('to')} AS address,
      CASE WHEN ${isValue} THEN ${quoteIdentifier(schema)}.abi_uint(${value}) END AS call_value,
      ${bytes} AS selector, ${field('input')} AS input
    FROM ${txs} AS x CROSS JOIN LATERAL jsonb_array_elements(x.calls::jsonb) WITH ORDINALITY AS c(value, ordinality)
    WHERE strpos(lower(x.calls), '"input":"${selector}') > 0
      AND substr(${field('input')}, 1, 4) = ${bytes} AND octet_length(${field('to')}) = 20`
  return `${plain} UNION ALL ${batched}`
}
