/**
 * Walks over what changes while they go on (holders, open orders): each is pinned to the block of
 * its first page, and shows the state after that block however long it takes.
 */
import type { Queryable } from '../../ledger/lane.ts'
import { type PageRequest, passedOf, reorgOf, type WalkPage } from './read.ts'

interface PinSource {
  readonly client: Queryable
  readonly schema: string
  readonly finalized: number
}

/** The block a page shows, and what its walk has to know of the chain. */
export interface Pin {
  readonly block: number
  readonly marks: Pick<WalkPage<never>, 'passed' | 'reorgedFrom'>
}

/** `pinned`: the block that the walk's cursor names; on its first page the tip. */
export async function pinOf(
  source: PinSource,
  page: Pick<PageRequest, 'passed'>,
  {
    pinned,
    atBlock,
    tip,
  }: { readonly pinned: number; readonly atBlock: number | undefined; readonly tip: number },
): Promise<Pin> {
  const reorg = await reorgOfPinned(source, page)
  // The walk goes on at the newest block of its own that is left.
  const left = reorg.reorgedFrom === undefined ? pinned : reorg.reorgedFrom - 1
  const block = atBlock ?? Math.min(pinned, left, tip)
  return { block, marks: { ...(await passedOf(source, block)), ...reorg } }
}

/**
 * The first change of the chain below the block the walk is pinned to; none if that block has come back
 * since.
 */
async function reorgOfPinned(
  source: PinSource,
  page: Pick<PageRequest, 'passed'>,
): Promise<{ reorgedFrom?: number }> {
  if (!page.passed) return {}
  const now = await passedOf({ ...source, finalized: -1 }, page.passed.number)
  return now.passed?.hash === page.passed.hash ? {} : reorgOf(source, page)
}
