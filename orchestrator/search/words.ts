/**
 * Text as words, the same for what is searched and what is asked: no accents, no case, English
 * endings cut. Made here and not by the database, whose parser and whose lower() know ASCII alone
 * where its ctype is C, as the embedded one's is.
 */

/** Words of a longer text are not looked at. */
const WORDS_MAX = 400
/** Longer words are hashes and keys. */
const WORD_CHARACTERS_MAX = 40

/** The words of a text in their order; scripts without spaces give pairs of letters. */
export function wordsOf(text: string): string[] {
  return stemsOf(plainWordsOf(text))
}

/**
 * The words of a text of a catalog, where names stand as programs write them: one with capitals
 * inside is itself and its parts.
 */
export function catalogWordsOf(text: string): string[] {
  const parts = [...text.matchAll(camelCased)].flatMap(([name]) =>
    plainWordsOf(splitCases(name)).filter((part) => part.length >= PART_CHARACTERS_MIN),
  )
  return stemsOf([...plainWordsOf(text), ...parts])
}

const stemsOf = (words: readonly string[]): string[] =>
  words.flatMap(unspaced).slice(0, WORDS_MAX).map(stemOf)

/** Words as they are written, but for accents and case; runs of a script without spaces are one. */
export function plainWordsOf(text: string): string[] {
  const words: string[] = []
  for (const [run] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const word = plain(run)
    if (word.length <= WORD_CHARACTERS_MAX || isUnspaced(word)) words.push(word)
    if (words.length === WORDS_MAX) break
  }
  return words
}

/** A part of fewer letters is none: the `In` of `LinkedIn`. */
const PART_CHARACTERS_MIN = 3
const camelCased = /[\p{L}\p{N}]*(?:\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll})[\p{L}\p{N}]*/gu
const splitCases = (text: string): string =>
  text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')

/** A text without accents and case. */
export const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss').replaceAll('ё', 'е')

const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}ー]+/gu

/** Whether a word has letters of a script without spaces. */
export const isUnspaced = (word: string): boolean => word.search(withoutSpaces) !== -1

function unspaced(word: string): string[] {
  if (!isUnspaced(word)) return [word]
  const parts: string[] = []
  let end = 0
  for (const match of word.matchAll(withoutSpaces)) {
    if (match.index > end) parts.push(word.slice(end, match.index))
    const letters = [...match[0]]
    if (letters.length === 1) parts.push(match[0])
    for (let i = 0; i + 1 < letters.length; i++) parts.push(`${letters[i]}${letters[i + 1]}`)
    end = match.index + match[0].length
  }
  if (end < word.length) parts.push(word.slice(end))
  return parts
}

/**
 * Cuts English plurals, verb forms and nouns of verbs, so that `translate`, `translating` and
 * `translations` meet.
 */
export function stemOf(word: string): string {
  if (word.length < 4 || whole.has(word) || !/^[a-z]+$/.test(word)) return word
  let cut = word
  if (/[^aeiu]ies$/.test(cut) && cut.length > 4) cut = `${cut.slice(0, -3)}y`
  else if (/(sh|ch|x|z|ss)es$/.test(cut)) cut = cut.slice(0, -2)
  else if (/[^sui]s$/.test(cut)) cut = cut.slice(0, -1)
  if (whole.has(cut)) return cut
  for (const [ending, kept] of endings) {
    if (!cut.endsWith(ending) || cut.length - ending.length < kept) continue
    cut = cut.slice(0, -ending.length)
    break
  }
  if (cut.endsWith('at') && cut.length > 5) cut = cut.slice(0, -2)
  return cut.replace(/([bdfgmnprt])\1$/, '$1')
}

/** Words that are never cut: the rest would be another word. */
const whole = new Set([
  'news',
  'speed',
  'feed',
  'seed',
  'video',
  'number',
  'paper',
  'user',
  'server',
  'order',
  'letter',
  'filing',
  'rating',
  'listing',
  'posting',
  'building',
  'care',
  'plane',
  'corner',
  'customer',
  'note',
])

/** Endings, the longest first, with the letters that must be left. */
const endings: readonly (readonly [string, number])[] = [
  ['ment', 4],
  ['ing', 3],
  ['ion', 4],
  ['ed', 4],
  ['er', 4],
  ['or', 5],
  ['e', 3],
]

/**
 * Three letters at a time, the word's ends marked: words that are spelled alike share most of
 * theirs.
 */
export function trigramsOf(word: string): string[] {
  const letters = [...`  ${word} `]
  return [...new Set(letters.slice(2).map((_, index) => letters.slice(index, index + 3).join('')))]
}
