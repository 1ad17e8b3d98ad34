/** The lexicon's files: lines of text, `#` begins a remark. They are read once, at the start. */
import { readFileSync } from 'node:fs'

export type LexiconFile = 'concepts.txt' | 'functionWords.txt' | 'translations.txt'

export function readLines(file: LexiconFile): string[] {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Parts between separators, without blanks around them. */
export const partsOf = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
