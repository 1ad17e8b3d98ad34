/** Phrases that accounts are recovered by (BIP-39), by their lists of words. */
import * as lists from 'viem/accounts'

/** Fewer words in a row are chance. */
const SEED_WORDS_MIN = 12
/** Without Chinese: every character of any text is in its list. */
const seedWords: readonly ReadonlySet<string>[] = [
  lists.english,
  lists.spanish,
  lists.french,
  lists.italian,
  lists.portuguese,
  lists.czech,
  lists.japanese,
  lists.korean,
].map((words) => new Set(words.map(formOf)))

/** Whether the text has words enough in a row that are all of one list, whatever stands between them. */
export function hasSeedPhrase(text: string): boolean {
  const words = formOf(text.toLowerCase()).match(/[\p{L}\p{M}]+/gu) ?? []
  return seedWords.some((known) => {
    let run = 0
    return words.some((word) => {
      run = known.has(word) ? run + 1 : 0
      return run >= SEED_WORDS_MIN
    })
  })
}

/** Lists write accents as characters of their own, people do not. */
function formOf(text: string): string {
  return text.normalize('NFKC')
}
