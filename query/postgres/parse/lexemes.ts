/**
 * Counts the parts of a query before the grammar sees it. The WASM grammar recurses once per
 * operator when it prints its tree; past about 12,000 levels it overflows the stack, and after some
 * such overflows the module loops for ever (measured: 300 chains of 28,000 `+1` hang the process).
 * So the count is a bound that no text can talk its way around.
 */

/**
 * A third of the depth that was measured to be safe. Numbers, quoted constants and commas do not
 * count.
 */
export const LEXEMES_MAX = 4_000

/** Words, operators and brackets, at least as many as the grammar finds. */
export function lexemeCount(sql: string): number {
  const hasHidingPlaces = /\be'|--|\/\*|\$/i.test(sql)
  // Escapes, comments and dollar quotes could hide a quote; with any of them quoted text is counted
  // too.
  const counted = hasHidingPlaces ? sql : sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, ' ')
  return counted.match(/[\p{L}_][\w\u0080-\uffff]*|[^\s\w,]/gu)?.length ?? 0
}
