import { describe, expect, it } from 'vitest'
import { wordsOf } from '../words.ts'
import { askersIn } from './concepts.ts'
import { translated } from './translations.ts'

const inEnglish = (question: string) =>
  translated(question)
    .map(({ english }) => english)
    .join(' ')
const found = (question: string) =>
  askersIn(wordsOf(question)).flatMap(({ finds }) => finds.map(({ words }) => words.join(' ')))
const stems = (text: string) => wordsOf(text).join(' ')

describe('other languages', () => {
  it.each([
    ['Wettervorhersage für München', 'weather forecast munchen'],
    ['Umsatzsteuer-Identifikationsnummer prüfen', 'vat number verify'],
    ['Flugpreise vergleichen', 'flight price vergleichen'],
    ['traducir un documento', 'translate document'],
    ['envoyer un sms', 'send sms'],
    ['перевести текст', 'translate text'],
    ['比特币价格', 'bitcoin price'],
    ['网页截图', 'website screenshot'],
    ['東京の天気', '東京 weather'],
  ])('%s is %s', (question, english) => expect(inEnglish(question)).toBe(english))

  it('keeps what was written beside it', () =>
    expect(translated('погода')).toEqual([{ english: 'weather', written: 'погода' }]))

  it.each([
    'restaurant location',
    'meeting brief',
    'a post about art',
    'resume parsing',
    'video transcription',
  ])('leaves English alone: %s', (question) =>
    expect(translated(question).every(({ written }) => written === null)).toBe(true),
  )
})

describe('concepts', () => {
  it('a narrower word finds the broader ones, never the other way round', () => {
    expect(found('umbrella')).toContain(stems('weather'))
    expect(found('weather')).not.toContain(stems('umbrella'))
  })

  it('a name in parentheses is found and asks for nothing', () => {
    expect(found('crypto')).toContain(stems('price'))
    expect(found('price')).not.toContain(stems('crypto'))
  })

  it('a phrase is known with a word between its words, and not the other way round', () => {
    expect(found('remove the photo background')).toContain(stems('background removal'))
    expect(found('late plane')).not.toContain(stems('flight status'))
    expect(found('is my plane late')).toContain(stems('flight status'))
  })
})
