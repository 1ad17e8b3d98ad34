/** The cut of a page from rows of which one more was read than the page has. */

/** Rows of a walk's step, and whether the walk goes on. */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
): { readonly rows: readonly Row[]; readonly more: boolean } {
  return { rows: found.slice(0, limit), more: found.length > limit }
}

/** Rows of a page, and the sort key of the last where the list goes on. */
export function pageOf<Row, Key>(
  found: readonly Row[],
  limit: number,
  keyOf: (last: Row) => Key,
): { readonly rows: readonly Row[]; readonly next: Key | null } {
  const { rows, more } = cutPage(found, limit)
  const last = rows.at(-1)
  return { rows, next: more && last !== undefined ? keyOf(last) : null }
}
