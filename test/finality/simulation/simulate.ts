/**
 * One seed: a network, nodes that lie, and the room of finality between them and the head lane, as the
 * program puts them together. Pure but for the seed.
 */

import { CertificateRefusedError } from '#ingest/finality/certificate/CertificateRefusedError.ts'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import { assertFinalizedBy } from '#ingest/finality/check/assertFinalized.ts'
import { isBoundary } from '#ingest/finality/keys/epochs.ts'
import { followKey } from '#ingest/finality/keys/followKey.ts'
import type { FinalityChecks, FinalityNetwork } from '#ingest/finality/watch/finalityNetwork.ts'
import { converge } from '#ingest/lanes/converge.ts'
import { remedyOf } from '#runtime/backoff.ts'
import type { Random } from '#runtime/runtime.ts'
import { jumpingRuntime } from '../../ingest/support/clock.ts'
import { decodeRefs } from '../../ingest/support/fakeChain.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { headerAt, headerOf, LAST, trueChain, trueHash } from './blocks.ts'
import type { FinalityBug } from './bugs.ts'
import { Court } from './court.ts'
import { Disk } from './disk.ts'
import { beHonest, branchOf, type SimNode, simNode, type Truth, turn, wordOf } from './liars.ts'
import { plantedSink } from './plantedSink.ts'
import { LyingSource } from './source.ts'
import { standIn } from './standIn.ts'
import { openWatch, type Watched } from './watched.ts'

export interface Outcome {
  readonly violations: readonly string[]
  readonly kills: number
  readonly finalized: number
  readonly proofs: number
}

const STEPS = 100
/** Rounds after the lies end in which everything must have become final that can. */
const CALM_ROUNDS = 40
/** Steps in which some seeds show no certificate, and none but an old one. */
const WORDS_STEPS = 15
const OLD_SHOWN_STEPS = 70
/** The highest block that a lane begins at. */
const LANE_FROM_MAX = 40

class Killed extends Error {}

class Simulation {
  readonly random: Random
  readonly runtime
  readonly truth: Truth
  readonly nodes: readonly SimNode[]
  readonly disk: Disk
  readonly court: Court
  readonly bug: FinalityBug | null
  readonly startBlock: number
  /** The newest certificate that is shown in the middle of the run. */
  readonly oldShown: number
  kills = 0
  /** Places that are passed before the process dies at one. */
  fuse = Number.POSITIVE_INFINITY
  /** Writes that a bug has put off; a kill loses them. */
  putOff: (() => Promise<void>)[] = []
  process: { readonly watch: Watched; readonly source: LyingSource } | null = null

  constructor(seed: number, bug: FinalityBug | null) {
    this.random = seededRandom(seed)
    this.bug = bug
    const count = 1 + Math.floor(this.random() * 3)
    this.nodes = Array.from({ length: count }, (_, index) => simNode(`node${index}`))
    const isAgreed = seed % 2 === 0
    // For long the first certificate of a quarter is an old one: what words made final lies above it.
    this.oldShown = seed % 4 === 0 ? 2 + Math.floor(this.random() * 12) : Number.POSITIVE_INFINITY
    const newestShown = seed % 4 === 0 ? -1 : Number.POSITIVE_INFINITY
    this.truth = { head: 3, views: new Map(), newestShown, isProved: false, isAgreed }
    this.court = new Court(isAgreed)
    // A third of the lanes begin inside the chain, above certificates or below them.
    this.startBlock = seed % 3 === 0 ? Math.floor(this.random() * LANE_FROM_MAX) : 0
    this.disk = new Disk(this.startBlock, {
      raising: (number, proofs) => this.court.raising(number, proofs),
      takingBack: (lowest) => this.court.takingBack(lowest, this.shownAt(lowest.number)),
    })
    this.runtime = { ...jumpingRuntime(seed), random: this.random, failpoint: () => this.visit() }
    for (const block of trueChain) headerOf(block)
  }

  visit(): void {
    if (--this.fuse > 0) return
    this.fuse = Number.POSITIVE_INFINITY
    throw new Killed()
  }

  get network(): FinalityNetwork {
    return {
      certificates: async (newest) => {
        const given = new Map<string, string[]>()
        const height = newest === 'latest' ? null : newest.height
        for (const node of this.nodes) {
          const text = wordOf(node, this.truth, height)
          if (text !== null) given.set(text, [...(given.get(text) ?? []), node.name])
        }
        return {
          given: [...given].map(([text, endpoints]) => ({
            bytes: new Uint8Array(Buffer.from(text, 'hex')),
            endpoints,
          })),
          without: [],
        }
      },
      headerOf: async (digest) => headerAt(digest),
    }
  }

  get checks(): FinalityChecks {
    return {
      check: async (bytes, header, keys) => {
        const { epoch, view } = readCertificate(bytes)
        if (this.bug === 'the view must be that of the header' && view !== header.number + 1)
          throw new CertificateRefusedError('vote', 'another view than the header’s')
        const isBound = this.bug !== 'the epoch is not bound to the height'
        const number = isBound ? header.number : epoch * TEST_EPOCH_BLOCKS
        return assertFinalizedBy(standIn, bytes, { ...header, number }, keys)
      },
      follow: async (keys, change) => followKey(keys, change),
    }
  }

  async open() {
    const keeper = this.disk.keeper(() => this.visit())
    const later: typeof keeper = {
      ...keeper,
      keepProof: async (proof) => void this.putOff.push(() => keeper.keepProof(proof)),
    }
    const watch = await openWatch({
      endpoints: this.nodes.map(({ name }) => name),
      choice: this.truth.isAgreed ? 'both' : 'certificate',
      wordsCountOn: this.bug === 'words of endpoints count after the first certificate',
      network: this.network,
      checks: this.checks,
      store: this.disk.store(),
      keeper: this.bug === 'a proof is stored after finality moved' ? later : keeper,
      head: () => this.truth.head,
      runtime: this.runtime,
    })
    const { nodes, truth, random } = this
    // A pass takes long, and the watch goes on beside it.
    const beside = async () => {
      if (random() < 0.5) await watch.look().catch(passKill)
    }
    const source = new LyingSource({ nodes, truth, watched: watch, random, beside })
    this.process = { watch, source }
    return this.process
  }

  /** The block that each node shows at a height; null where it has none. */
  shownAt(number: number): readonly (string | null)[] {
    const blocks = this.nodes.map((node) => branchOf(node, this.truth)[number])
    return blocks.map((block) => (block ? headerOf(block).hash : null))
  }

  /** One act of the program; anything but a kill is tried again on the next. */
  async act(): Promise<void> {
    try {
      const { watch, source } = this.process ?? (await this.open())
      if (this.random() < 0.5) await watch.look()
      else await this.converge(source)
      for (const write of this.putOff.splice(0)) if (this.random() < 0.5) await write()
    } catch (error) {
      if (error instanceof Killed) {
        this.kills++
        this.process = null
        this.putOff = []
      } else if (isOwn(error) || remedyOf(error) === 'stop') this.court.violations.push(String(error))
    }
  }

  async converge(source: LyingSource): Promise<void> {
    const { bug, startBlock } = this
    const { sink } = this.disk
    const planted = { bug, startBlock, sink, certified: () => this.disk.newestProof?.block.number ?? null }
    if (bug === 'words from before the first certificate count to the end of a pass')
      Object.assign(source, { grants: () => true })
    await converge({
      ...{ lane: 'head' as const, source, sink: plantedSink(planted), startBlock },
      ...{ decode: decodeRefs, failpoint: this.runtime.failpoint, batchBlocksMax: 8, sealGapBlocks: 1_000 },
    })
    if (this.bug !== 'ancestors are not linked') return
    const tip = await sink.tip()
    const { finalized } = await source.head()
    if (tip) await sink.finalize(Math.min(finalized, tip.number))
  }

  /** The network goes on: a block, or a certificate, in which the last of an epoch is never left out. */
  grow(): void {
    const { truth, random } = this
    truth.head = Math.min(LAST, truth.head + 1 + Math.floor(random() * 4))
    for (let number = 0; number < truth.head; number++)
      if (isBoundary(number, TEST_EPOCH_BLOCKS) && !truth.views.has(number))
        truth.views.set(number, number + 1 + Math.floor(random() * 3))
    if (random() < 0.6 && !truth.views.has(truth.head)) truth.views.set(truth.head, truth.head + 1)
  }

  async step(place: string): Promise<void> {
    const { random } = this
    const dice = random()
    if (dice < 0.25) this.grow()
    else if (dice < 0.4) for (const node of this.nodes) turn(node, this.truth, random)
    else if (dice < 0.45) this.fuse = 1 + Math.floor(random() * 12)
    else if (dice < 0.55) this.nodes.forEach(beHonest)
    else await this.act()
    this.truth.isProved = this.disk.proofs.length > 0
    this.court.judge(this.disk, place)
  }

  /** Ends all lies: what is certified has to become final. */
  async calm(): Promise<void> {
    this.nodes.forEach(beHonest)
    this.truth.head = LAST
    this.grow()
    this.truth.views.set(LAST, LAST + 1)
    this.fuse = Number.POSITIVE_INFINITY
    for (let round = 0; round < CALM_ROUNDS && this.disk.sink.finalizedNumber < LAST; round++) {
      await this.runtime.clock.sleep(20_000)
      await this.act()
      this.court.judge(this.disk, `calm ${round}`)
    }
    if (this.disk.sink.finalizedNumber < LAST || this.disk.held(LAST)?.hash !== trueHash(LAST))
      this.court.violations.push(`in the end ${this.disk.sink.finalizedNumber} is final, not ${LAST}`)
  }
}

function passKill(error: unknown): void {
  if (error instanceof Killed) throw error
}

/** Thrown by the disk, which refuses what no store would do. */
const isOwn = (error: unknown): boolean => error instanceof Error && error.constructor === Error

export async function simulate(seed: number, bug: FinalityBug | null = null): Promise<Outcome> {
  const simulation = new Simulation(seed, bug)
  for (let step = 0; step < STEPS; step++) {
    if (step === WORDS_STEPS) simulation.truth.newestShown = simulation.oldShown
    if (step === OLD_SHOWN_STEPS) simulation.truth.newestShown = Number.POSITIVE_INFINITY
    await simulation.step(`step ${step}`)
  }
  await simulation.calm()
  const { court, kills, disk } = simulation
  return {
    violations: court.violations,
    kills,
    finalized: disk.sink.finalizedNumber,
    proofs: disk.proofs.length,
  }
}
