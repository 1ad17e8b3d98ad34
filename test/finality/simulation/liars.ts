/**
 * Nodes that lie together or each for itself. They have every true certificate, and a key that once
 * signed or never did, but not the one that signs now.
 */

import type { Random } from '#runtime/runtime.ts'
import { type Branch, TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { CHANGED_EPOCH, forgedAbove, LAST, trueChain } from './blocks.ts'
import { finalizationText } from './finalizations.ts'
import { groupA, stranger } from './standIn.ts'

export const words = ['true', 'hidden', 'stale', 'stranger', 'retired', 'otherEpoch', 'flipped'] as const
export type Word = (typeof words)[number]

/** The truth at the moment: the newest block, and the certificates that exist, by height. */
export interface Truth {
  head: number
  /** The view in which each was finalized. */
  readonly views: Map<number, number>
  /** The newest certificate that anybody gives when asked for the newest. */
  newestShown: number
  /** The program has a proof: until then a pin's key counts for later epochs too, also one that is over. */
  isProved: boolean
  /** Words of endpoints count until then: nodes tell true blocks, and lie of certificates alone. */
  readonly isAgreed: boolean
}

export interface SimNode {
  readonly name: string
  /** Height above which it shows forged blocks; null: it shows the true chain. */
  fork: number | null
  forgedLength: number
  word: Word
}

export const simNode = (name: string): SimNode => ({ name, fork: null, forgedLength: 0, word: 'true' })

export function branchOf({ fork, forgedLength }: SimNode, { head }: Truth): Branch {
  if (fork === null) return trueChain.slice(0, head + 1)
  return forgedAbove(fork).slice(0, fork + 1 + forgedLength)
}

/** Its certificate of the newest block, or of one height; null where it says that it has none. */
export function wordOf(node: SimNode, truth: Truth, height: number | null): string | null {
  const { views, newestShown } = truth
  const heights = [...views.keys()].filter((at) => at <= newestShown).toSorted((one, other) => one - other)
  const certified = height ?? heights.at(-1)
  const trueText = (number: number | undefined) => {
    const view = number === undefined ? undefined : truth.views.get(number)
    return number === undefined || view === undefined ? null : finalizationText(trueChain, number, { view })
  }
  const branch = branchOf(node, truth)
  const newest = branch.length - 1
  const isLate = newest >= TEST_EPOCH_BLOCKS * CHANGED_EPOCH
  const isOver = isLate && truth.isProved
  switch (node.word) {
    case 'true':
      return trueText(certified)
    case 'hidden':
      return null
    case 'stale':
      return trueText(height === null ? heights[Math.floor(heights.length / 2)] : height)
    case 'stranger':
      return finalizationText(branch, newest, { group: stranger })
    case 'retired':
      // Before that it was the key that signs.
      return isOver ? finalizationText(branch, newest, { group: groupA }) : null
    case 'otherEpoch':
      return isOver ? finalizationText(branch, newest, { group: groupA, epoch: CHANGED_EPOCH - 1 }) : null
    case 'flipped': {
      const text = trueText(certified)
      return text && `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
    }
  }
}

/** A node changes what it says. */
export function turn(node: SimNode, truth: Truth, random: Random): void {
  node.word = words[Math.floor(random() * words.length)] ?? 'true'
  const isForging = random() < 0.5 && (truth.isProved || !truth.isAgreed)
  node.fork = isForging ? Math.floor(random() * (Math.min(truth.head, LAST) + 1)) : null
  node.forgedLength = 1 + Math.floor(random() * 13)
}

export function beHonest(node: SimNode): void {
  Object.assign(node, { fork: null, word: 'true' } satisfies Partial<SimNode>)
}
