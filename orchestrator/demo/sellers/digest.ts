/** Shortens texts to their most telling sentences. The price is by the length of the text. */
import { ok, type Seller, textOrEmpty } from '../seller.ts'

/** Dollars for each thousand characters begun. */
const PRICE_MICROS = 500
const TEXT_CHARACTERS_MAX = 100_000

/** Sentences whose words are the text's most frequent ones, in the order of the text. */
function summaryOf(whole: string, count: number): string {
  const sentences = whole.match(/[^.!?]+[.!?]*/g) ?? []
  const wordsOf = (sentence: string) => sentence.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  const counts = new Map<string, number>()
  for (const word of wordsOf(whole)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weightOf = (sentence: string) => {
    const words = wordsOf(sentence)
    return words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0) / Math.max(1, words.length)
  }
  const best = sentences.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, count)
  return sentences
    .filter((sentence) => best.includes(sentence))
    .map((sentence) => sentence.trim())
    .join(' ')
}

export const digest: Seller = {
  id: 'demo-digest',
  name: 'Demo Digest',
  description: 'Summaries of texts, by their most telling sentences. Runs on this machine.',
  categories: ['text'],
  endpoints: [
    {
      method: 'POST',
      path: '/summarize',
      listing: {
        description: 'Summarizes a text: its most telling sentences, unchanged.',
        aliases: ['shorten text', 'tl;dr'],
        capabilities: ['summarization'],
        examples: ['summarize this article'],
        inputSchema: {
          type: 'object',
          properties: {
            text: { type: 'string', minLength: 1, maxLength: TEXT_CHARACTERS_MAX },
            sentences: { type: 'integer', minimum: 1, maximum: 20 },
          },
          required: ['text'],
          additionalProperties: false,
        },
        inputExample: { text: 'One sentence. Another sentence.', sentences: 1 },
      },
      price: ({ text: whole }) => ({
        kind: 'charge',
        amount: ((Math.ceil(textOrEmpty(whole).length / 1_000) * PRICE_MICROS) / 1e6).toFixed(6),
      }),
      problemOf: ({ text: whole }) =>
        textOrEmpty(whole).length > 0 && textOrEmpty(whole).length <= TEXT_CHARACTERS_MAX
          ? null
          : '`text` is missing',
      answer: ({ text: whole, sentences }) =>
        ok({ summary: summaryOf(textOrEmpty(whole), Number(sentences ?? 3)) }),
    },
  ],
}
