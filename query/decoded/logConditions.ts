/** Which logs a decoded table reads, in either engine's SQL. */

import type { DecodedTable } from './decodedTable.ts'
import type { KeyTerm } from './keyTerms.ts'

/**
 * The event's first topic, as many further ones as it has indexed parameters, and the terms.
 * @param row what the view of logs is called; @param bytes the engine's constant of hex digits
 */
export function logConditions(
  { signature, parameters, address }: DecodedTable,
  terms: readonly KeyTerm[],
  row: string,
  bytes: (hex: string) => string,
): string {
  const count = parameters.filter(({ place }) => place.kind === 'topic').length
  return [
    `${row}.selector = ${bytes(signature.selector.slice(2))}`,
    ...(address ? [`${row}.address = ${bytes(address.slice(2))}`] : []),
    ...(count > 0 ? [`${row}.topic${count} IS NOT NULL`] : []),
    ...(count < 3 ? [`${row}.topic${count + 1} IS NULL`] : []),
    ...terms.map(({ topic, words }) => `${row}.topic${topic} IN (${words.map(bytes).join(', ')})`),
  ].join(' AND ')
}
