/**
 * A seed's switches: each run has its own mixture of faults, so that rare combinations come up among many
 * seeds.
 */
import type { Kernel } from './kernel.ts'
import { type Lie, lies, loneLies, witnessedLies } from './lies.ts'

export interface Swarm {
  readonly nodes: number
  readonly finalityDepth: number
  /** Blocks the chain has when the indexer first starts. */
  readonly startLength: number
  readonly faultsMs: number
  /** Blocks by which the chain grows while nobody indexes, once amid the faults; 0 for never. */
  readonly outageBlocks: number
  readonly blockMs: number
  readonly reorgRate: number
  readonly rpcErrorRate: number
  readonly lieRate: number
  readonly lies: readonly Lie[]
  /** Lies of the first endpoint alone. */
  readonly loneLieRate: number
  readonly loneLies: readonly Lie[]
  /** It goes on lying when the other faults have ended. */
  readonly liarStays: boolean
  /** The lane stands where a false head had sent it. */
  readonly misled: boolean
  readonly lagMs: number
  readonly latencyMs: readonly [number, number]
  readonly tailMs: number
  readonly postgresErrorRate: number
  readonly postgresLostRate: number
  readonly clickhouseErrorRate: number
  readonly clickhouseLostRate: number
  /** The engine restarts and has lost an insert that nobody had read back yet. */
  readonly engineLossRate: number
  readonly diskFull: boolean
  /** Chance of a kill after each event. */
  readonly crashRate: number
  readonly stopRate: number
  readonly clockSteps: boolean
  readonly writers: 1 | 2
  readonly batchBlocksMax: number
  readonly windowMax: number
  readonly partitionBlocks: number
  readonly chunkBlocks: number
  readonly sealGapBlocks: number
  readonly inFlightBytesMax: number
  readonly cacheBytesMax: number
  readonly decodeMs: number
  /** Some blocks have numbers that came with Tempo's T12. */
  readonly forked: boolean
  /** Clients ask through the relay what the newest and the final block is. */
  readonly clients: boolean
  /** Blocks of a downtime's gap that move at a time; 0: all. */
  readonly movedBlocks: number
}

export function drawSwarm(kernel: Kernel): Swarm {
  const often = <T>(...items: readonly T[]): T => kernel.pick(items)
  return {
    nodes: often(1, 2, 3),
    finalityDepth: kernel.between(2, 14),
    startLength: often(1, 3, 25, 50),
    faultsMs: kernel.between(8_000, 25_000),
    outageBlocks: 0,
    blockMs: often(250, 500, 1_000),
    reorgRate: often(0, 0.05, 0.2, 0.5),
    rpcErrorRate: often(0, 0.02, 0.1),
    lieRate: often(0, 0.05, 0.2),
    lies: lies.filter(() => kernel.chance(0.5)).concat(kernel.pick(lies)),
    lagMs: often(0, 200, 3_000),
    latencyMs: often([1, 3], [5, 50], [20, 200]),
    tailMs: often(0, 1_000, 20_000),
    postgresErrorRate: often(0, 0.01, 0.05),
    postgresLostRate: often(0, 0.02, 0.1),
    clickhouseErrorRate: often(0, 0.02, 0.1),
    clickhouseLostRate: often(0, 0.05, 0.2),
    engineLossRate: often(0, 0, 0.02),
    diskFull: kernel.chance(0.2),
    crashRate: often(0, 0.001, 0.01),
    stopRate: often(0, 0.001, 0.005),
    clockSteps: kernel.chance(0.3),
    writers: often(1, 1, 2),
    batchBlocksMax: often(1, 2, 5, 20),
    windowMax: often(1, 3, 6),
    partitionBlocks: often(3, 10, 1_000),
    chunkBlocks: often(4, 16, 64),
    sealGapBlocks: often(5, 20, 1_000),
    inFlightBytesMax: often(60_000, 400_000),
    cacheBytesMax: often(20_000, 1_000_000),
    decodeMs: often(1, 30),
    // Not drawn: seeds that once found something stay as they were.
    forked: false,
    clients: false,
    movedBlocks: 0,
    ...drawLiar(kernel),
  }
}

function drawLiar(kernel: Kernel) {
  return {
    loneLieRate: kernel.pick([0, 0, 0.05, 0.3]),
    loneLies,
    liarStays: kernel.chance(0.5),
    misled: kernel.chance(0.1),
  }
}

/**
 * Two endpoints, of which the first lies in all ways that one alone can, for as long as the run
 * goes on.
 */
export const oneLiar: Partial<Swarm> = {
  nodes: 2,
  loneLieRate: 0.3,
  loneLies: [...loneLies, ...witnessedLies],
  liarStays: true,
  rpcErrorRate: 0.02,
}

/** Today's chain beside the liar: numbers of 64 bits, and some that no column holds. */
export const forkedChain: Partial<Swarm> = { ...oneLiar, forked: true }

/** Clients at the RPC door beside the liar. */
export const askedChain: Partial<Swarm> = { ...oneLiar, clients: true, misled: false }

/**
 * A fast chain, and an indexer that is away again and again for longer than it catches up: each time
 * its lane begins anew, and the gap moves into what it held, piece by piece.
 */
export const outages: Partial<Swarm> = {
  ...{ nodes: 2, startLength: 25, faultsMs: 25_000, blockMs: 250, batchBlocksMax: 2, windowMax: 1 },
  ...{ sealGapBlocks: 5, chunkBlocks: 16, movedBlocks: 3 },
  ...{ crashRate: 0.005, stopRate: 0.01, lieRate: 0, loneLieRate: 0, misled: false, reorgRate: 0.05 },
}

/** Two endpoints, of which the first serves another chain from the start and goes on doing so. */
export const wrongChain: Partial<Swarm> = {
  nodes: 2,
  loneLieRate: 1,
  loneLies: ['L15 another chain id'],
  liarStays: true,
  // Otherwise both tell another chain at times, and there is nothing to go on with.
  lieRate: 0,
}

/**
 * One address with several nodes behind it, of which one answers each request: some have dropped
 * the old blocks, which have long been final.
 */
export const prunedNode: Partial<Swarm> = {
  nodes: 1,
  startLength: 50,
  finalityDepth: 4,
  lieRate: 0.5,
  lies: ['L42 old blocks are pruned'],
  loneLieRate: 0,
  misled: false,
  rpcErrorRate: 0,
  // A start after another may find history filled.
  faultsMs: 25_000,
  batchBlocksMax: 5,
}

/**
 * The program is away for many more blocks than the head lane catches up with, and comes back amid
 * all other faults. What it holds by then is more than a seal may look at.
 */
export const longOutage: Partial<Swarm> = {
  outageBlocks: 2_000,
  startLength: 100,
  batchBlocksMax: 20,
  movedBlocks: 20,
}

/**
 * A slow node that answers from a cache while the indexer is often away, so that history is filled
 * where the chain was replaced, and ClickHouse has taken of it what nothing continues: one seed in
 * thousands draws all of this.
 */
export const staleHistory: Partial<Swarm> = {
  nodes: 1,
  finalityDepth: 6,
  faultsMs: 25_000,
  blockMs: 250,
  reorgRate: 0.5,
  lieRate: 0.4,
  lies: ['L7 an old block from a cache'],
  latencyMs: [100, 400],
  crashRate: 0.001,
  stopRate: 0.001,
  batchBlocksMax: 2,
  windowMax: 1,
  chunkBlocks: 16,
  sealGapBlocks: 5,
  // Nothing fits: ClickHouse waits for no more of a chunk, and makes its rows from the archive.
  cacheBytesMax: 1_000,
  engineLossRate: 0,
  // Heads that are none keep the lane from where the cache lies.
  loneLieRate: 0,
  misled: false,
}
