/**
 * Documents of endpoints, held between searches: reading and parsing some hundreds of them takes
 * longer than all else that a search does. A number always stands for the same document, so none is
 * ever out of date.
 */
import { readDocuments } from '#rows/catalog/catalogCandidates.ts'
import type { AppDatabase } from '#rows/database.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import { type Terms, termsOf } from './rank.ts'
import type { SearchDocument } from './searchDocument.ts'

/** An endpoint that may be what was asked for. */
export interface Candidate {
  readonly endpoint: number
  readonly serviceId: string
  readonly document: Omit<SearchDocument, 'fields'>
  readonly terms: Terms
}

/** An endpoint as it is stored. */
export interface ReadDocument {
  readonly endpoint: number
  readonly serviceId: string
  readonly document: SearchDocument
}

/** Words of all held documents, some 9 bytes each: those of 40,000 endpoints of usual size. */
const HELD_WORDS_MAX = 4_000_000
/** The cost of a document beside its words, in words. */
const DOCUMENT_WORDS = 40
/** Distinct words, of which each is held once. */
const DISTINCT_WORDS_MAX = 200_000

/** Numbers are a database's own, and so is what they stand for. */
const heldByDatabase = new WeakMap<AppDatabase, HeldDocuments>()

/** The endpoints of these numbers, without those that have left the catalog. */
export async function readCandidates(app: AppDatabase, endpoints: readonly number[]): Promise<Candidate[]> {
  const held = heldByDatabase.get(app) ?? new HeldDocuments()
  heldByDatabase.set(app, held)
  const known = endpoints.flatMap((endpoint) => held.get(endpoint) ?? [])
  if (known.length === endpoints.length) return known
  const has = new Set(known.map(({ endpoint }) => endpoint))
  const missing = await readDocuments(
    app,
    endpoints.filter((endpoint) => !has.has(endpoint)),
  )
  // Documents are written by this program's import.
  const read = missing.map((row) => held.add({ ...row, document: row.document as SearchDocument }))
  return [...known, ...read]
}

export class HeldDocuments {
  readonly #held: BoundedMap<number, Candidate>
  readonly #distinct = new Map<string, string>()

  constructor(wordsMax: number = HELD_WORDS_MAX) {
    this.#held = new BoundedMap({ max: wordsMax, weigh: wordsIn })
  }

  get(endpoint: number): Candidate | undefined {
    return this.#held.use(endpoint)
  }

  /** The candidate as it is held: its words are those of the others. */
  add({ endpoint, serviceId, document }: ReadDocument): Candidate {
    const { fields, ...shown } = document
    const terms = termsOf(fields)
    const once = (words: readonly string[]) => words.map((word) => this.#once(word))
    const candidate: Candidate = {
      ...{ endpoint, serviceId, document: shown },
      terms: { ...terms, words: once(terms.words), names: once(terms.names) },
    }
    this.#held.set(endpoint, candidate)
    return candidate
  }

  #once(word: string): string {
    const known = this.#distinct.get(word)
    if (known !== undefined) return known
    if (this.#distinct.size === DISTINCT_WORDS_MAX) this.#distinct.clear()
    this.#distinct.set(word, word)
    return word
  }
}

const wordsIn = ({ terms }: Candidate): number => terms.words.length + terms.names.length + DOCUMENT_WORDS
