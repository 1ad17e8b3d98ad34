/**
 * Questions in other languages as English words: by the script, or by the language whose words are
 * most of a question. Words that are not in the dictionary stay as they are.
 */
import { isUnspaced, plain, plainWordsOf, stemOf } from '../words.ts'
import { askingWords } from './concepts.ts'
import { functionWordsOf } from './functionWords.ts'
import { partsOf, readLines } from './readLines.ts'

interface Entry {
  /** Beginnings of words, one for each word of the phrase. */
  readonly stems: readonly string[]
  readonly english: string
}

interface Dictionary {
  readonly language: string
  /** By the first letter of the first word; the longest phrases first. */
  readonly byStart: ReadonlyMap<string, readonly Entry[]>
  readonly functionWords: ReadonlySet<string>
}

/** A word of a question in English, and the word that was written. */
export interface Translated {
  readonly english: string
  /** Null where it was English already. */
  readonly written: string | null
}

/** Letters that a word may have behind the beginning that the dictionary has. */
const ENDING_MAX = 5
/** German words that go on longer are others, written together. */
const GERMAN_ENDING_MAX = 3
const SHORT_ENDING_MAX = 3
const SHORT_STEM = 5
/** A beginning of fewer letters is the whole word. */
const STEM_MIN = 4

function readDictionaries(): Dictionary[] {
  const [header = '', ...lines] = readLines('translations.txt')
  const languages = header.split('|').map((name) => name.trim())
  const rows = lines.map((line) => line.split('|').map((cell) => cell.trim()))
  return languages.slice(1).map((language, column) => {
    const entries = rows.flatMap(([english = '', ...cells]) =>
      partsOf(cells[column] ?? '', ',').map((phrase) => entryOf(phrase, english)),
    )
    entries.sort((a, b) => lengthOf(b) - lengthOf(a))
    const byStart = Map.groupBy(entries, ({ stems }) => stems[0]?.[0] ?? '')
    return { language, byStart, functionWords: functionWordsOf.get(language) ?? new Set() }
  })
}

/** `word.` is a whole word. */
function entryOf(phrase: string, english: string): Entry {
  const stems = plain(phrase)
    .split(/[\s'-]+/)
    .filter((stem) => stem !== '')
  return { stems, english }
}

function lengthOf({ stems }: Entry): number {
  return stems.join('').length
}

const dictionaries = readDictionaries()

/** The words of a question, in English as far as they are known. */
export function translated(text: string): Translated[] {
  const words = plainWordsOf(text)
  const dictionary = dictionaryFor(words)
  return dictionary ? translate(words, dictionary) : words.map((english) => ({ english, written: null }))
}

function dictionaryFor(words: readonly string[]): Dictionary | null {
  const named = (language: string) => dictionaries.find((each) => each.language === language) ?? null
  const text = words.join(' ')
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return named('ja')
  if (/\p{Script=Han}/u.test(text)) return bestOf(words, ['zh', 'ja'])
  if (/\p{Script=Cyrillic}/u.test(text)) return named('ru')
  return bestOf(words, ['de', 'es', 'fr'])
}

function bestOf(words: readonly string[], languages: readonly string[]): Dictionary | null {
  let best: Dictionary | null = null
  let most = 0
  for (const dictionary of dictionaries.filter(({ language }) => languages.includes(language))) {
    const speaks = evidenceFor(words, dictionary)
    if (speaks <= most) continue
    best = dictionary
    most = speaks
  }
  return best
}

/** A word that is nearly the same in English says little about the language. */
const COGNATE = 0.5

/** More than 0 where more words are of this language alone than of English alone. */
function evidenceFor(words: readonly string[], dictionary: Dictionary): number {
  const english = functionWordsOf.get('en') ?? new Set()
  const isEnglish = (word: string) => english.has(word) || askingWords.has(stemOf(word))
  const known = translate(words, dictionary).filter(({ written }) => written !== null)
  const foreign = known.reduce((sum, { english: meaning, written }) => {
    if (written === null || written === meaning || written.split(' ').every(isEnglish)) return sum
    return sum + (meaning.startsWith(written.slice(0, 4)) ? COGNATE : 1)
  }, 0)
  const inDictionary = new Set(known.flatMap(({ written }) => written?.split(' ') ?? []))
  const isOwn = (word: string) => dictionary.functionWords.has(word) || inDictionary.has(word)
  const own = words.filter((word) => dictionary.functionWords.has(word) && !english.has(word)).length
  return foreign + own - words.filter((word) => isEnglish(word) && !isOwn(word)).length
}

function translate(words: readonly string[], dictionary: Dictionary): Translated[] {
  const out: Translated[] = []
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? ''
    if (dictionary.functionWords.has(word) && !phraseAt(words, at, dictionary)) {
      at++
      continue
    }
    if (isUnspaced(word)) {
      out.push(...segmented(word, dictionary))
      at++
      continue
    }
    const entry = phraseAt(words, at, dictionary)
    const parts = entry === null && dictionary.language === 'de' ? apart(word, dictionary) : null
    if (entry) out.push(...inEnglish(entry, words.slice(at, at + entry.stems.length).join(' ')))
    else if (parts) out.push(...parts.flatMap((part) => inEnglish(part, word)))
    else out.push({ english: word, written: null })
    at += entry ? entry.stems.length : 1
  }
  return out
}

const inEnglish = ({ english }: Entry, written: string): Translated[] =>
  plainWordsOf(english).map((word) => ({ english: word, written }))

function phraseAt(words: readonly string[], at: number, { byStart, language }: Dictionary): Entry | null {
  const endingMax = language === 'de' ? GERMAN_ENDING_MAX : ENDING_MAX
  const entries = byStart.get(words[at]?.[0] ?? '') ?? []
  return (
    entries.find(({ stems }) =>
      stems.every((stem, offset) => isFormOf(words[at + offset] ?? '', stem, endingMax)),
    ) ?? null
  )
}

function isFormOf(word: string, stem: string, endingMax: number): boolean {
  if (stem.endsWith('.')) return word === stem.slice(0, -1)
  if (stem.length < STEM_MIN) return word === stem
  const ending = word.length - stem.length
  return (
    ending >= 0 &&
    ending <= (stem.length < SHORT_STEM ? SHORT_ENDING_MAX : endingMax) &&
    word.startsWith(stem)
  )
}

/** Letters between the parts of a German word. */
const LINKS = ['', 's', 'n', 'en', 'es', 'e', 'er'] as const

/** The parts of a word that is written together, null where not all of it is known. */
function apart(word: string, { byStart }: Dictionary): Entry[] | null {
  if (word === '') return []
  for (const entry of byStart.get(word[0] ?? '') ?? []) {
    const [stem = '', ...more] = entry.stems.map((each) => each.replace('.', ''))
    if (more.length > 0 || stem.length < STEM_MIN - 1 || !word.startsWith(stem)) continue
    for (const link of LINKS) {
      const rest = word.slice(stem.length)
      if (!rest.startsWith(link)) continue
      const others = apart(rest.slice(link.length), { byStart } as Dictionary)
      if (others) return [entry, ...others]
    }
  }
  return null
}

/** The longest known words, from left to right; letters between them stay together. */
function segmented(run: string, dictionary: Dictionary): Translated[] {
  const out: Translated[] = []
  let unknown = ''
  const flush = () => {
    if (unknown !== '' && !dictionary.functionWords.has(unknown))
      out.push({ english: unknown, written: null })
    unknown = ''
  }
  for (let at = 0; at < run.length; ) {
    const entry = (dictionary.byStart.get(run[at] ?? '') ?? []).find(({ stems }) =>
      run.startsWith(stems[0] ?? '', at),
    )
    const particle = entry
      ? undefined
      : [...dictionary.functionWords].find((word) => run.startsWith(word, at))
    if (entry || particle) flush()
    if (entry) out.push(...inEnglish(entry, entry.stems[0] ?? ''))
    if (!entry && !particle) unknown += run[at]
    at += entry ? (entry.stems[0] ?? '').length : (particle?.length ?? 1)
  }
  flush()
  return out
}
