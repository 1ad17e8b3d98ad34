/** A question as words, and what is made of them. */

import { stopWords } from '../lexicon/functionWords.ts'
import { translated } from '../lexicon/translations.ts'
import { plain, wordsOf } from '../words.ts'
import { clausesOf } from './clauses.ts'

/**
 * Words that would do for a slot. `own`: as asked; `alias`: by a phrase of the same meaning;
 * `alike`: spelled alike.
 */
export interface Variant {
  /** A phrase counts as far as all of it is there. */
  readonly words: readonly string[]
  /** 0 to 1: how much of the slot it fills. */
  readonly weight: number
  readonly kind: 'own' | 'alias' | 'alike'
}

export interface Slot {
  readonly word: string
  readonly variants: readonly Variant[]
  /** Its share of the question; rare words say more. */
  readonly weight: number
}

/** A word of a question, before the catalog was asked about it. */
export interface AskedWord {
  readonly word: string
  /** Not cut to its stem. */
  readonly whole: string
  /** As it was written, where that is another language's word. */
  readonly written: readonly string[]
  /** 0 to 1: how much of the wish it is part of. */
  readonly importance: number
  readonly isStop: boolean
  readonly isName: boolean
  /** Words that may have been meant by a mistyped one, the likeliest first. */
  readonly spellings: readonly Spelling[]
}

/** A known word that is spelled like an unknown one. */
export interface Spelling {
  readonly word: string
  /** 0 to 1. */
  readonly similarity: number
}

/** In how many of the catalog's endpoints words are. */
export interface Vocabulary {
  readonly endpointCount: number
  readonly counts: ReadonlyMap<string, number>
}

/** Questions are short; more words than this say nothing new. */
const WORDS_MAX = 120

/** The words of a question in their order, in English as far as they are known. */
export function readQuestion(question: string): AskedWord[] {
  const names = namesIn(question)
  return clausesOf(question)
    .flatMap(({ text, weight }) =>
      translated(text).flatMap(({ english, written }) =>
        wordsOf(english).map((word) => ({
          word,
          whole: english,
          written: written === null ? [] : wordsOf(written),
          importance: weight,
          isStop: stopWords.has(word),
          isName: names.has(english),
          spellings: [],
        })),
      ),
    )
    .slice(0, WORDS_MAX)
}

/** Words with a capital inside of a sentence, and numbers. */
const namesIn = (question: string): ReadonlySet<string> =>
  new Set(
    [...question.matchAll(/(?<=[\p{L}\p{N},] )\p{Lu}[\p{L}\p{N}]*|\p{N}+/gu)].map(([name]) => plain(name)),
  )
