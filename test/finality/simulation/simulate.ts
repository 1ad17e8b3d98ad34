/**
 * One seed: a network, nodes that lie, and the room of finality between them and the head lane, as the
 * program puts them together. Pure but for the seed.
 */
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import { CertificateRefusedError } from '#ingest/finality/certificate/certificateRefusedError.ts'
import { assertFinalizedBy } from '#ingest/finality/check/assertFinalized.ts'
import { isBoundary } from '#ingest/finality/keys/epochs.ts'
import { followKey } from '#ingest/finality/keys/followKey.ts'
import type { FinalityChecks, FinalityNetwork } from '#ingest/finality/watch/finalityNetwork.ts'
import { converge } from '#ingest/lanes/converge.ts'
import type { Random } from '#runtime/runtime.ts'
import { jumpingRuntime } from '../../ingest/support/clock.ts'
import { decodeRefs } from '../../ingest/support/fakeChain.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { headerAt, headerOf, LAST, trueChain, trueHash } from './blocks.ts'
import type { FinalityBug } from './bugs.ts'
import { Court } from './court.ts'
import { Disk } from './disk.ts'
import { beHonest, type SimNode, simNode, type Truth, turn, wordOf } from './liars.ts'
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

class Killed extends Error {}

class Simulation {
  readonly random: Random
  readonly runtime
  readonly truth: Truth
  readonly nodes: readonly SimNode[]
  readonly disk = new Disk()
  readonly court: Court
  readonly bug: FinalityBug | null
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
    this.truth = { head: 3, views: new Map(), isProved: false, isAgreed }
    this.court = new Court(isAgreed)
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
    this.process = { watch, source: new LyingSource(this.nodes, this.truth, watch, this.random) }
    return this.process
  }

  /** What the program does on one occasion; anything but a kill is tried again on the next. */
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
      } else if (isOwn(error)) this.court.violations.push(String(error))
    }
  }

  async converge(source: LyingSource): Promise<void> {
    const { sink } = this.disk
    await converge({
      ...{ lane: 'head' as const, source, sink, startBlock: 0, batchBlocksMax: 8, sealGapBlocks: 1_000 },
      ...{ decode: decodeRefs, failpoint: this.runtime.failpoint },
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

  /** Nobody lies any more: what is certified has to become final. */
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

/** Thrown by the disk, which refuses what no store would do. */
const isOwn = (error: unknown): boolean => error instanceof Error && error.constructor === Error

export async function simulate(seed: number, bug: FinalityBug | null = null): Promise<Outcome> {
  const simulation = new Simulation(seed, bug)
  for (let step = 0; step < STEPS; step++) await simulation.step(`step ${step}`)
  await simulation.calm()
  const { court, kills, disk } = simulation
  return {
    violations: court.violations,
    kills,
    finalized: disk.sink.finalizedNumber,
    proofs: disk.proofs.length,
  }
}
