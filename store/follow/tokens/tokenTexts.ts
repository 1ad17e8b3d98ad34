/**
 * Texts that anybody's token may say of itself, as they are stored: bounded, so that no row or
 * index is too large.
 */

/**
 * No sensible token says more; the rest is cut. Four bytes for each still fit a row of an index
 * (2,704).
 */
const TEXT_CHARACTERS_MAX = 512
/** Cut, an address names something else: a longer one is none. */
const URI_CHARACTERS_MAX = 2_048

/**
 * The picture of NUL stands for it: Postgres text cannot hold NUL, and names on chain may. The
 * picture itself has a mark behind it that changes nothing of how it looks.
 */
const PICTURE = '\u2400'
const MARK = '\ufe0e'
const storable = (text: string): string => text.replaceAll(PICTURE, PICTURE + MARK).replaceAll('\0', PICTURE)

/** A stored text as the chain has it. */
export const toldText = (stored: string): string =>
  stored.replaceAll(/\u2400(\ufe0e?)/g, (_, mark) => (mark === '' ? '\0' : PICTURE))

/** As it is stored; `toldText` gives it back. */
export function shortText(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  // A character takes two places at most; a name may have a million of them.
  const characters = [...storable(text.slice(0, 4 * charactersMax))]
  // A picture is not cut off its mark.
  const end = characters[charactersMax] === MARK ? charactersMax - 1 : charactersMax
  return characters.slice(0, end).join('')
}

/** Null where there is none. */
export function shortUri(text: string): string | null {
  // No address has a NUL.
  const uri = text.length > URI_CHARACTERS_MAX ? '' : text.replaceAll('\0', '')
  return uri === '' ? null : uri
}
