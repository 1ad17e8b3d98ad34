/**
 * A made-up network whose finality one secret signs: blocks that are true to Tempo's headers, in
 * branches, with epochs of ten blocks and keys that change as a schedule says.
 */

import { hexOf, type Proposal } from '#ingest/finality/certificate/certificate.ts'
import { epochOf, isBoundary } from '#ingest/finality/keys/epochs.ts'
import { type Hash, type Hex, hash } from '#primitives.ts'
import { outcomeExtraData, type SigningNetwork, signingNetwork } from './signedFinality.ts'
import { type TempoBlock, tempoBlock } from './tempoBlock.ts'

export const TEST_EPOCH_BLOCKS = 10

/** Which group signs an epoch, and what its chain says of that. */
export interface KeySchedule {
  /** The group whose key stands in the last block before this epoch. */
  groupOf(epoch: number): SigningNetwork
  /** Whether the last block before this epoch announces that the next epoch has a new group. */
  announces(epoch: number): boolean
}

export const networkA = signingNetwork(`0x${'0a'.repeat(32)}`)
export const networkB = signingNetwork(`0x${'0b'.repeat(32)}`)

/** One group for ever. */
export const steadyKeys = keysChangingAt(Number.POSITIVE_INFINITY)

/** The first group until this epoch, and the second from it on. */
export function keysChangingAt(changed: number, isAnnounced = true): KeySchedule {
  return {
    groupOf: (epoch) => (epoch >= changed ? networkB : networkA),
    announces: (epoch) => isAnnounced && epoch === changed - 1,
  }
}

/** Blocks from 0 on, each the parent of the next. */
export type Branch = readonly TempoBlock[]

const FIRST_SECOND = 1_791_900_000

/**
 * The branch with so many blocks more.
 * @param miner makes blocks of one branch other ones than those of another
 */
export function grown(
  branch: Branch,
  count: number,
  { schedule = steadyKeys, miner = '0x00000000000000000000000000000000000000aa' as Hex } = {},
): Branch {
  const blocks = [...branch]
  for (let added = 0; added < count; added++) {
    const number = blocks.length
    const epoch = epochOf(number, TEST_EPOCH_BLOCKS)
    const outcome = number === 0 ? 0 : isBoundary(number, TEST_EPOCH_BLOCKS) ? epoch + 1 : null
    blocks.push(
      tempoBlock(
        {
          ...{ number, miner, epoch, timestamp: FIRST_SECOND + number },
          parentHash: blocks.at(-1)?.block.hash ?? `0x${'00'.repeat(32)}`,
          ...(outcome !== null && {
            extraData: outcomeExtraData({
              epoch: outcome,
              key: schedule.groupOf(outcome).key,
              isNextFullDkg: schedule.announces(outcome),
            }),
          }),
        },
        [],
      ),
    )
  }
  return blocks
}

/** Another branch from `above` on, as long as the given one. */
export const forkedAbove = (branch: Branch, above: number, schedule = steadyKeys): Branch =>
  grown(branch.slice(0, above + 1), branch.length - above - 1, {
    schedule,
    miner: '0x00000000000000000000000000000000000000bb',
  })

export function blockAt(branch: Branch, number: number): TempoBlock {
  const block = branch[number]
  if (!block) throw new RangeError(`the branch has no block ${number}`)
  return block
}

export const hashAt = (branch: Branch, number: number): Hash => hash(blockAt(branch, number).block.hash)

const signed = new Map<string, string>()

/** A certificate as nodes write it. Signing takes 50 ms, so that each is made once. */
export function certificateOf(
  branch: Branch,
  number: number,
  { group = networkA, ...other }: Partial<Proposal> & { readonly group?: SigningNetwork } = {},
): string {
  const proposal = {
    ...{ epoch: epochOf(number, TEST_EPOCH_BLOCKS), view: number + 1, parentView: number },
    ...{ digest: hashAt(branch, number), ...other },
  }
  const name = `${group.key} ${JSON.stringify(proposal)}`
  const text = signed.get(name) ?? hexOf(group.certificate(proposal)).slice(2)
  signed.set(name, text)
  return text
}
