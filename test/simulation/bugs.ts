/**
 * The bug bank: mistakes that were made in real indexers, each planted by a flag where it would be
 * made. A simulation that does not find them proves nothing by finding none.
 */
import {
  askedChain,
  forkedChain,
  longOutage,
  oneLiar,
  outages,
  prunedNode,
  type Swarm,
  staleHistory,
  wrongChain,
} from './swarm.ts'

export const bugNames = [
  'links are the only check',
  'finality is believed without comparing hashes',
  'the head is taken for final',
  'history reaches above finality',
  'fetched ranges are kept for ever',
  'block references are kept for ever',
  'a replaced head is not noticed',
  'a revert that does nothing',
  'the cache keeps what was taken back',
  'the archive keeps what was taken back',
  'the tip is stored apart from the rows',
  "a chunk's tip is stored apart from its rows",
  'coverage is stored apart from the chunk',
  'an append that forgets its last block',
  'a chunk resumes a block early',
  'a failed commit of the journal is taken for success',
  'writes do not look at the fence',
  'a new writer does not claim the lane',
  'block zero is skipped',
  'covered before it was written',
  'an insert is believed without reading back',
  'a retry under the same token',
  'tokens of a random number',
  'a late insert is not ended before a delete',
  'deletes that have not happened yet',
  'open batches are forgotten',
  'blocks that are not final go to ClickHouse',
  'the newest block as the cursor',
  'history is taken back from Postgres alone',
  'fetches are not bounded',
  'the cache is not bounded',
  'senders are taken as told',
  'one endpoint alone makes blocks final',
  'a lane above the chain stays there',
  'what cannot be proved is taken as told',
  'what no column holds stops the program',
  'an endpoint of another chain stops the lane',
  'one pruned answer ends history',
  'a nonce above 2^63 stops the program',
  'nonces lose digits',
  'clients are shown the highest head',
  'one endpoint’s finality is told to clients',
  'a move covers more than it moved',
  'a gap above held history is forgotten',
  'a seal looks at every row',
] as const

export type BugName = (typeof bugNames)[number]

/** Mixtures that bring a bug out that the seeds' own hardly ever meet. */
export const bugSwarms: Partial<Record<BugName, Partial<Swarm>>> = {
  'history is taken back from Postgres alone': staleHistory,
  'one endpoint alone makes blocks final': { ...oneLiar, reorgRate: 0.5 },
  'what cannot be proved is taken as told': oneLiar,
  'what no column holds stops the program': oneLiar,
  'a lane above the chain stays there': { misled: true },
  'an endpoint of another chain stops the lane': wrongChain,
  'one pruned answer ends history': prunedNode,
  'a nonce above 2^63 stops the program': forkedChain,
  'nonces lose digits': forkedChain,
  'clients are shown the highest head': askedChain,
  'one endpoint’s finality is told to clients': askedChain,
  'a move covers more than it moved': outages,
  'a gap above held history is forgotten': outages,
  'a seal looks at every row': longOutage,
  'senders are taken as told': { lieRate: 0.2, lies: ['L20 another transaction hash or sender'] },
}

export class Bugs {
  readonly #planted: ReadonlySet<BugName>

  constructor(planted: readonly BugName[] = []) {
    this.#planted = new Set(planted)
  }

  planted(name: BugName): boolean {
    return this.#planted.has(name)
  }
}
