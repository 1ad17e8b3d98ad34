/**
 * Which of several endpoints is wrong about a final height: most of them say it, else parent links,
 * where two tell the same block higher up.
 */
import type { BlockRef } from '#primitives.ts'
import { readHeader } from '../../read/block.ts'
import { detectHeaderRule } from '../../verify/parts/header.ts'

/** A block as an endpoint tells it. */
export interface ToldHeader {
  readonly ref: BlockRef
  /** As it came; what its hash covers can be recomputed from it. */
  readonly header: unknown
}

/** One side of the question; null where it has no such block. @throws RpcError */
export type AskHeader = (number: number) => Promise<ToldHeader | null>

/** The block that two endpoints tell alike, and more than tell otherwise; null if there is none. */
export function mostTold(told: readonly { readonly ref: BlockRef }[]): BlockRef | null {
  const [most, second] = [...Map.groupBy(told, ({ ref }) => ref.hash).values()].toSorted(
    (a, b) => b.length - a.length,
  )
  const isMost = most !== undefined && most.length >= 2 && most.length > (second?.length ?? 0)
  return isMost ? (most[0]?.ref ?? null) : null
}

type Pair = readonly [ToldHeader, ToldHeader]

/** The one that is wrong, or null where links do not say. */
export type Wrong = 'first' | 'second' | null

/**
 * The lowest block above `differs` that both tell alike has one parent, and one of them tells
 * another block there. It is searched in halves: twenty questions over a million blocks.
 * @param tops heights above, at which both may agree
 */
export async function findWrong(
  first: AskHeader,
  second: AskHeader,
  differs: number,
  tops: readonly number[],
): Promise<Wrong> {
  const both = async (number: number): Promise<Pair | null> => {
    const [one, other] = await Promise.all([first(number), second(number)])
    return one && other ? [one, other] : null
  }
  for (const top of tops.filter((number) => number > differs)) {
    if (!isAlike(await both(top))) continue
    let [low, high] = [differs, top]
    while (high > low + 1) {
      const middle = Math.floor((low + high) / 2)
      if (isAlike(await both(middle))) high = middle
      else low = middle
    }
    // Asked again together: a chain may have changed above its finality meanwhile.
    const [child, parent] = [await both(high), await both(low)]
    return child && parent && isAlike(child) ? wrongOf(child, parent) : null
  }
  return null
}

const isAlike = (pair: Pair | null): boolean => pair !== null && pair[0].ref.hash === pair[1].ref.hash

function wrongOf(child: Pair, [one, other]: Pair): Wrong {
  const linked = parentOf(child)
  if (linked === null || one.ref.hash === other.ref.hash) return null
  if (one.ref.hash === linked) return 'second'
  return other.ref.hash === linked ? 'first' : null
}

/** Told alike by both, or by the header that hashes to the block's hash. */
function parentOf([one, other]: Pair): string | null {
  if (one.ref.parentHash === other.ref.parentHash) return one.ref.parentHash
  const proved = [one, other].find(({ header }) => isProvedHeader(header))
  return proved?.ref.parentHash ?? null
}

/** Whether the header, hashed in a known way, gives the hash that it names. */
export function isProvedHeader(header: unknown): boolean {
  try {
    return detectHeaderRule(readHeader(header)) !== 'unknown'
  } catch {
    return false
  }
}
