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
