/**
 * A catalog of as many distinct endpoints as asked for, and questions to it: words are as frequent
 * as those of a language, so that common words have thousands of endpoints and most have a few.
 */
import { createHash } from 'node:crypto'

const VOCABULARY = 6_000
const ENDPOINTS_PER_SERVICE = 12
const consonants = 'bcdfghjklmnprstvwz'

/** Numbers in [0, 1) that are the same in every run. */
function numbers(seed: string): () => number {
  let index = 0
  return () => createHash('sha1').update(`${seed} ${index++}`).digest().readUInt32BE() / 2 ** 32
}

/** Consonants and vowels by turns, four to nine letters, no two alike. */
const words = makeWords()

function makeWords(): readonly string[] {
  const random = numbers('words')
  const letter = (of: string) => of[Math.floor(random() * of.length)] ?? ''
  const made = new Set<string>()
  while (made.size < VOCABULARY) {
    const length = 4 + Math.floor(random() * 6)
    made.add(Array.from({ length }, (_, at) => letter(at % 2 === 0 ? consonants : 'aeiou')).join(''))
  }
  return [...made]
}

/** Words that a language has more often, and texts of services leave to stop words. */
const SKIPPED = 30

/** As in a language each word is rarer than the one before (Zipf); the first is in a quarter of all. */
const wordAt = (chance: number): string =>
  words[Math.floor(SKIPPED * ((VOCABULARY + SKIPPED) / SKIPPED) ** chance) - SKIPPED] ?? ''

const text = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => wordAt(random())).join(' ')

/** Services of our own format, with the origin that their calls go to. */
export function generateServices(endpoints: number, origin: string): readonly object[] {
  const random = numbers('catalog')
  return Array.from({ length: Math.ceil(endpoints / ENDPOINTS_PER_SERVICE) }, (_, service) => ({
    id: `service-${service}`,
    name: `${text(random, 2)} ${service}`,
    description: text(random, 20),
    serviceUrl: `${origin}/s${service}`,
    tags: [wordAt(random()), wordAt(random())],
    endpoints: Array.from({ length: ENDPOINTS_PER_SERVICE }, (_each, endpoint) => ({
      method: 'POST',
      path: `/${wordAt(random())}/e${endpoint}`,
      description: text(random, 14),
      aliases: [text(random, 2)],
      examples: [text(random, 5)],
      inputExample: { q: 'x' },
      paymentOffers: [{ protocol: 'mpp', intent: 'charge', method: 'tempo', amount: '10000', decimals: 6 }],
    })),
  }))
}

/** Distinct questions of two to five words, one of six with a word that is spelled wrong. */
export function generateQueries(count: number): readonly string[] {
  const random = numbers('queries')
  return Array.from({ length: count }, (_, index) => {
    const asked = text(random, 2 + Math.floor(random() * 4))
    return index % 6 === 0 ? `${asked.slice(0, -1)}q` : asked
  })
}
