/** The Accept header (RFC 9110, 12.5.1): media types that a client takes. */

/** A media type or range, in lower case, and how much it is liked: 0 for not at all. */
export interface MediaRange {
  readonly mediaType: string
  readonly quality: number
}

/** In the order in which they are written. */
export const wishesOf = (accept: string | undefined): MediaRange[] =>
  (accept?.match(element) ?? []).map(readWish).filter(({ mediaType }) => mediaType !== '')

/** Up to the next comma outside a quoted text. */
const element = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g

const quoted = /"(?:\\.|[^"\\])*"?/g

function readWish(text: string): MediaRange {
  const parts = text.replaceAll(quoted, '').split(';')
  const [mediaType = '', ...parameters] = parts.map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return { mediaType, quality: quality === undefined ? 1 : Number(quality) || 0 }
}

/** Whether a client takes a media type. The nearest of its ranges decides; without a header it takes any. */
export function isTaken(mediaType: string, accept: string | undefined): boolean {
  const wishes = wishesOf(accept)
  if (wishes.length === 0) return true
  const [kind] = mediaType.split('/')
  const ranges = [[mediaType], [`${kind}/*`], anything]
  const nearest = ranges.map((range) => wishes.filter((wish) => range.includes(wish.mediaType)))
  return nearest.find((found) => found.length > 0)?.some(({ quality }) => quality > 0) ?? false
}

/** The second is what older Java clients send. */
const anything = ['*/*', '*']
