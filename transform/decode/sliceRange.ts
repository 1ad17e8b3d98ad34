/**
 * Cuts a range's answer into each block's two results without parsing it: items are found by how
 * the first one begins. Where an item really ends is for the parser of its result to confirm; a cut
 * elsewhere gives no valid JSON.
 */
import type { BlockRange } from '#ingest/range.ts'

/** The bytes of what a node answered for one height. */
export interface AnswerBytes {
  readonly number: number
  readonly block: Buffer
  readonly receipts: Buffer
}

/**
 * Null when the answer is not a batch of results in the usual form; `parseRange` knows what it is
 * then.
 */
export function sliceRange(bytes: Uint8Array, range: BlockRange): readonly AnswerBytes[] | null {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = 2 * (range.to - range.from + 1)
  const results = sliceResults(source, count)
  if (results === null) return null
  const answers: AnswerBytes[] = []
  for (let id = 0; id < count; id += 2) {
    const [block, receipts] = [results[id], results[id + 1]]
    if (block === undefined || receipts === undefined) return null
    answers.push({ number: range.from + id / 2, block, receipts })
  }
  return answers
}

/** How nodes begin an item up to its id; the second is short for benches and tests. */
const beginnings = ['{"jsonrpc":"2.0","id":', '{"id":'].map((text) => Buffer.from(text))
const beforeResult = Buffer.from(',"result":')
const ID_DIGITS_MAX = 9

/** Results by id, or null when the items do not follow each other as expected. */
function sliceResults(source: Buffer, count: number): readonly Buffer[] | null {
  const beginning = beginnings.find((text) => source.subarray(1, 1 + text.length).equals(text))
  if (beginning === undefined) return null
  const between = Buffer.concat([Buffer.from('},'), beginning])
  const results: Buffer[] = new Array(count)
  let start = 1
  for (let seen = 0; seen < count; seen++) {
    const next = nextOf(between, source, start)
    const end = next < 0 ? source.length - 2 : next
    const from = start + beginning.length
    const id = idAt(source, from)
    const result = from + String(id).length + beforeResult.length
    if (id < 0 || id >= count || id in results || result > end) return null
    if (!source.subarray(result - beforeResult.length, result).equals(beforeResult)) return null
    results[id] = source.subarray(result, end)
    start = end + 2
  }
  const isWhole = source[0] === OPEN_LIST && source.subarray(-2).equals(ending) && start === source.length
  return isWhole ? results : null
}

/**
 * The border between an item and the next, or -1. Looked for from the letter on that stands in no hex and
 * hardly a key: the search for a first letter goes at the speed of memory, three times that of one for
 * braces and quotes.
 */
function nextOf(between: Buffer, source: Buffer, start: number): number {
  const before = Math.max(between.indexOf('j'), 0)
  const searched = between.subarray(before)
  let at = source.indexOf(searched, start + before)
  while (at >= 0 && between.compare(source, at - before, at, 0, before) !== 0) {
    at = source.indexOf(searched, at + 1)
  }
  return at < 0 ? -1 : at - before
}

const OPEN_LIST = 0x5b
const ending = Buffer.from('}]')

function idAt(source: Buffer, at: number): number {
  const [digits] = /^(0|[1-9]\d*)/.exec(source.toString('latin1', at, at + ID_DIGITS_MAX)) ?? []
  return digits === undefined ? -1 : Number(digits)
}
