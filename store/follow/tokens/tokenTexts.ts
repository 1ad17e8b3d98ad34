/** Texts that anybody's token may say of itself, as they are stored: bounded, so that no row or index is too large. */

/**
 * No sensible token says more; the rest is cut. Four bytes for each still fit a row of an index
 * (2,704).
 */
const TEXT_CHARACTERS_MAX = 512
/** Cut, an address names something else: a longer one is none. */
const URI_CHARACTERS_MAX = 2_048

/** Postgres text cannot hold NUL, and names on chain may. */
const storable = (text: string): string => text.replaceAll('\0', '')

export function shortText(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  // A character takes two places at most; a name may have a million of them.
  const characters = [...storable(text.slice(0, 4 * charactersMax))]
  return characters.slice(0, charactersMax).join('')
}

/** Null where there is none. */
export function shortUri(text: string): string | null {
  const uri = text.length > URI_CHARACTERS_MAX ? '' : storable(text)
  return uri === '' ? null : uri
}
