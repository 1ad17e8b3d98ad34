/** Words that say nothing of what is looked for, by language. */
import { plainWordsOf, wordsOf } from '../words.ts'
import { partsOf, readLines } from './readLines.ts'

/** By the language's code: words as they are written. */
export const functionWordsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  readLines('functionWords.txt').map((line) => {
    const [language = '', words = ''] = partsOf(line, ':')
    return [language, new Set(plainWordsOf(words))]
  }),
)

/** English ones, cut as words are. */
export const stopWords: ReadonlySet<string> = new Set(
  wordsOf([...(functionWordsOf.get('en') ?? [])].join(' ')),
)

/** Verbs for deeds with whatever is looked for, cut as words are. */
export const deeds: ReadonlySet<string> = new Set(
  wordsOf([...(functionWordsOf.get('deeds') ?? [])].join(' ')),
)
