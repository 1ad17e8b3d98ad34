/** How near two spellings are: letters added, left out, changed, or two that changed places. */

/** A word that is one letter off is the same word from here on; shorter ones are others. */
const ONE_EDIT_CHARACTERS = 4
const TWO_EDITS_CHARACTERS = 8

/** Edits after which a word of so many letters may still be meant. */
export function editsAllowed(word: string): number {
  if (word.length < ONE_EDIT_CHARACTERS) return 0
  return word.length < TWO_EDITS_CHARACTERS ? 1 : 2
}

/** Two letters that changed places are the likeliest mistake. */
const SWAP = 0.6
/** English endings that stems lack, as they are typed or nearly so. */
const endings = [
  's',
  'es',
  'ed',
  'er',
  'ers',
  'ing',
  'ings',
  'ion',
  'ions',
  'ation',
  'ations',
  'ment',
  'ments',
]
const ENDING_CHARACTERS_MAX = 7
/** An ending counts as far less than a letter that is wrong. */
const ENDING_EDITS = 0.3

/**
 * 0 to 1: how much of a known word, which is cut to its stem, is in a typed one; 0 where more letters
 * than a mistake explains differ. The first letter is seldom mistyped, but for one that changed places.
 */
export function spellingSimilarity(typed: string, stem: string): number {
  const allowed = editsAllowed(stem)
  if (allowed === 0 || stem.length - typed.length > allowed) return 0
  if (typed.length - stem.length > allowed + ENDING_CHARACTERS_MAX) return 0
  if (typed[0] !== stem[0] && typed[1] !== stem[0]) return 0
  const edits = editsOf(typed, stem, allowed)
  return edits > allowed ? 0 : 1 - edits / Math.max(typed.length, stem.length)
}

/** The least edits from the stem to the typed word, or to its beginning where the rest is an ending. */
function editsOf(typed: string, stem: string, allowed: number): number {
  const beginnings = editDistances(stem, typed)
  let least = beginnings[typed.length] ?? 0
  for (let length = stem.length - allowed; length < typed.length; length++) {
    const edits = (beginnings[length] ?? allowed + 1) + ENDING_EDITS
    if (edits < least && edits <= allowed && isEnding(typed.slice(length))) least = edits
  }
  return least
}

/** A long one may have a mistake too. */
const isEnding = (text: string): boolean =>
  endings.some(
    (ending) =>
      ending === text || (ending.length > 3 && (editDistances(ending, text)[text.length] ?? 2) <= 1),
  )

/** For each beginning of `b` the least number of edits from `a` (optimal string alignment). */
function editDistances(a: string, b: string): readonly number[] {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + changed,
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        least = Math.min(least, (beforeLast[column - 2] ?? 0) + SWAP)
      current.push(least)
    }
    beforeLast = last
    last = current
  }
  return last
}
