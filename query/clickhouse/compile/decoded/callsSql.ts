/**
 * Calls of a function on ClickHouse: transactions whose input begins with its selector, and calls
 * of 0x76 transactions.
 */

import { quoteBytes, quoteName, quoteText } from '../Compiler.ts'

/** A row per call, with the columns of decodedTable.ts. `selector` is `0x` and 8 hex digits. */
export function callsSql(database: string, selector: string): string {
  const txs = `${quoteName(database)}.txs`
  const bytes = quoteBytes(selector.slice(2))
  const own = ['block_num', 'block_timestamp', 'tx_idx', 'tx_hash', 'sender'].map(
    (name) => `x.${name} AS ${name}`,
  )
  const place = 'block_num, block_timestamp, idx AS tx_idx, hash AS tx_hash, `from` AS sender'
  const plain = `SELECT ${place}, toInt32(0) AS call_idx, \`to\` AS address, value AS call_value,
      ${bytes} AS selector, input FROM ${txs} WHERE calls IS NULL AND \`to\` IS NOT NULL AND startsWith(input, ${bytes})`
  // The text is looked at first: most transactions have no such call, and reading JSON is dear.
  const batches = `SELECT ${place}, JSONExtractArrayRaw(assumeNotNull(calls)) AS batch FROM ${txs}
    WHERE calls IS NOT NULL AND positionCaseInsensitive(calls, ${quoteText(`"input":"${selector}`)}) > 0`
  const field = (name: string) => `substring(JSONExtractString(entry, ${quoteText(name)}), 3)`
  const batched = `SELECT ${own.join(', ')}, toInt32(number - 1) AS call_idx,
      CAST(substring(unhex(${field('to')}), 1, 20) AS Nullable(FixedString(20))) AS address,
      reinterpretAsUInt256(reverse(unhex(leftPad(${field('value')}, 64, '0')))) AS call_value,
      ${bytes} AS selector, unhex(${field('input')}) AS input
    FROM (${batches}) AS x ARRAY JOIN x.batch AS entry, arrayEnumerate(x.batch) AS number
    WHERE startsWith(unhex(${field('input')}), ${bytes}) AND length(${field('to')}) = 40`
  return `${plain} UNION ALL ${batched}`
}
