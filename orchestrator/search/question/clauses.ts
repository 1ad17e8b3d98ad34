/** The wish in a question: unwanted things are left out, and remarks beside the wish count little. */

export interface Clause {
  readonly text: string
  /** 0 to 1. */
  readonly weight: number
}

/** A sentence that tells about the one who asks, beside one that says what is wanted. */
const BACKGROUND = 0.4
/** The weight of a clause about something that is settled already. */
const SETTLED = 0.1

const unwanted =
  /\b(?:no(?! longer\b)|not(?! (?:only|know|sure|able)\b)|without|neither|nor|rather than|instead of|except(?: for)?|(?:do|does|did|is|are|was)(?:n['’]?t| not) (?:\w+ )?(?:need|want|care|mean|require|like|looking|interested)(?:ed)?)\b.*$/is
const useless = /\bof (?:\w+ ){0,2}no use\b|\bno use\b|\b(?:any more|anymore|no longer)\b/i
const settled =
  /\balready\b|\btaken care of\b|\b(?:is|are|was|were) (?:booked|done|paid|settled|solved)\b|\buntil now\b|\bused to\b|\bso far\b/i
const wish =
  /\b(?:needs?|needed|wants?|wanted|would like|['’]d like|looking for|search(?:ing)? for|find|please|should|must|could you|can you|only|what i|what we|how (?:much|many|do|can|long|wet|often)|which|tell me|help me|give me|get me|goal)\b/i
/** A wish with what leads to it: the part behind is what is asked for. */
const leading =
  /^(.{24,}?)\b((?:i|we|they|he|she|you)(?: (?:still|really|now|just|only|therefore))? (?:need|want|would like|am looking for|are looking for|have to|must|should)\b.*)$/is

/** A question of fewer words is one wish. */
const LONG_WORDS = 12

export function clausesOf(question: string): Clause[] {
  const isLong = question.split(/\s+/).length > LONG_WORDS
  const sentences = question.split(/(?<=[.!?;\n])\s+|\s+[-–—]\s+/).filter((text) => text.trim() !== '')
  const hasWish = sentences.some((sentence) => wish.test(sentence))
  const clauses = sentences.flatMap((sentence) => {
    const weight = isLong ? weightOf(sentence, hasWish) : 1
    return partsOf(sentence).flatMap((text) => {
      const wanted = useless.test(text) ? '' : text.replace(unwanted, '')
      if (wanted.trim() === '') return []
      return isLong ? apart(wanted, weight) : [{ text: wanted, weight }]
    })
  })
  return clauses.length > 0 ? clauses : [{ text: question, weight: 1 }]
}

function weightOf(sentence: string, hasWish: boolean): number {
  if (wish.test(sentence) || !hasWish) return 1
  return settled.test(sentence) ? SETTLED : BACKGROUND
}

/** A comma ends what a "no" or "not" is about. */
const partsOf = (sentence: string): string[] => sentence.split(/,\s+|\s+but\s+|\s+so that\s+/i)

/** The words that lead to a wish, and the wish. */
function apart(text: string, weight: number): Clause[] {
  if (settled.test(text)) return [{ text, weight: Math.min(weight, SETTLED) }]
  const [, before, after] = leading.exec(text) ?? []
  if (before === undefined || after === undefined) return [{ text, weight }]
  return [
    { text: before, weight: Math.min(weight, BACKGROUND) },
    { text: after, weight },
  ]
}
