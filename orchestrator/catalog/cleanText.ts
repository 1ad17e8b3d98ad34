/**
 * Text of strangers, cleaned once, where it enters: catalog texts are shown to people and read by
 * models, and must not look like anything that they are not.
 */

/**
 * Characters that are not seen: controls, formats (zero-width, bidirectional, tags), surrogates,
 * private use, the blank of Braille, and what Unicode says to ignore: fillers, and the variation
 * selectors, in which data can be hidden.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * One line: what separates becomes one space, what is not seen is gone, and the rest ends at
 * `charactersMax`.
 */
export function cleanText(text: string, charactersMax: number): string {
  const seen = text
    .normalize('NFC')
    .replaceAll(/[\s\p{Z}]+/gu, ' ')
    .replaceAll(unseen, '')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  return cut(seen, charactersMax)
}

/** Never ends inside a character, and says that something is missing. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const kept: string[] = []
  let length = 1
  for (const { segment } of graphemes.segment(text)) {
    length += segment.length
    if (length > charactersMax) break
    kept.push(segment)
  }
  return `${kept.join('').trimEnd()}…`
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * What a name looks like at a glance: names of one skeleton imitate each other. Covers the letters
 * of other alphabets that are drawn as Latin ones, digits drawn as letters, accents, case, and
 * everything between the letters.
 */
export function skeletonOf(name: string): string {
  const latin = [...name.normalize('NFKD').toLowerCase()].map((letter) => lookalikes.get(letter) ?? letter)
  return latin
    .join('')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

const lookalikes = new Map<string, string>(
  Object.entries({
    a: 'аɑα',
    b: 'ьƅ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еєε',
    g: 'ɡ',
    h: 'һ',
    i: 'іıιl1|!',
    j: 'ј',
    k: 'кκ',
    m: 'м',
    n: 'ոп',
    o: 'оοσ0օ',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕ5$',
    t: 'тτ',
    u: 'υս',
    v: 'ѵν',
    w: 'ԝω',
    x: 'хχ',
    y: 'уγ',
    z: '2',
  }).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
)
