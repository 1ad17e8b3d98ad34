// Goal: what a watch proves is stored before it counts; keys are followed through epochs, also those
// that passed while nobody looked; and what cannot be proved moves nothing and is told.
// Method: a network of one secret for each epoch, in memory, with epochs of ten blocks; the real
// checks, and Postgres as the store.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { assertFinalized } from '#ingest/finality/check/assertFinalized.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { followKey } from '#ingest/finality/keys/followKey.ts'
import { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { FinalityWatch, MISSING_MS } from '#ingest/finality/watch/FinalityWatch.ts'
import type { FinalityNetwork } from '#ingest/finality/watch/finalityNetwork.ts'
import { type Hash, type Hex, hash } from '#primitives.ts'
import { type Failpoint, systemRuntime } from '#runtime/runtime.ts'
import { forgetRefusal, keepKey, readKeys } from '#store/finality/finalityKeys.ts'
import { comparedProofs, keepProof, newestProof, proofAt } from '#store/finality/finalityProofs.ts'
import { silentLogger } from '#telemetry.ts'
import { outcomeExtraData, type SigningNetwork, signingNetwork } from '../../support/signedFinality.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'

const EPOCH_BLOCKS = 10
const [old, young, october, stranger] = ['02', '03', '04', '05'].map((byte) =>
  signingNetwork(`0x${byte.repeat(32)}`),
) as [SigningNetwork, SigningNetwork, SigningNetwork, SigningNetwork]
const never = new AbortController().signal
const hashAt = (height: number, branch = 0): Hash =>
  hash(`0x${(branch * 1_000_000 + Math.max(0, height)).toString(16).padStart(64, '0')}`)

/** A chain whose epochs up to `changes` are signed by the old key, and by the young one from then on. */
class MadeUpNetwork implements FinalityNetwork {
  latest: number[] = []
  branch = 0
  changes = Number.POSITIVE_INFINITY
  announced = true
  /** Heights whose certificates nobody has. */
  readonly lost = new Set<number>()
  readonly asked: (number | 'latest')[] = []
  /** A liar's certificate beside: the old key's of a height, or one that nobody signed. */
  lie: { readonly height: number; readonly isSigned: boolean } | null = null
  readonly told: string[] = []

  async certificates(what: Parameters<FinalityNetwork['certificates']>[0]) {
    this.asked.push(what === 'latest' ? 'latest' : what.height)
    const heights = what === 'latest' ? this.latest : this.lost.has(what.height) ? [] : [what.height]
    const given = heights.map((height) => ({ bytes: this.#certificate(height), endpoints: ['a.example'] }))
    if (what === 'latest' && this.lie)
      given.push({ bytes: this.#false(this.lie), endpoints: ['liar.example'] })
    return { given, without: [] }
  }

  refused(endpoints: readonly string[], part: string): void {
    this.told.push(`${endpoints.join()} ${part}`)
  }

  #false({ height, isSigned }: { height: number; isSigned: boolean }): Uint8Array {
    const epoch = Math.floor(height / EPOCH_BLOCKS)
    const view = (height % EPOCH_BLOCKS) + 1
    const signer = isSigned ? old : stranger
    return signer.certificate({ epoch, view, parentView: view - 1, digest: hashAt(height) })
  }

  async headerOf(digest: Hash) {
    const value = Number(digest)
    const [height, branch] = [value % 1_000_000, Math.floor(value / 1_000_000)]
    const block = { number: height, hash: digest, parentHash: hashAt(height - 1, branch) }
    return { ...block, extraData: this.#extraData(height) }
  }

  #certificate(height: number): Uint8Array {
    const epoch = Math.floor(height / EPOCH_BLOCKS)
    const view = (height % EPOCH_BLOCKS) + 1
    return this.#signer(epoch).certificate({
      ...{ epoch, view, parentView: view - 1 },
      digest: hashAt(height, this.branch),
    })
  }

  #signer = (epoch: number) => (epoch >= this.changes ? young : old)

  #extraData(height: number): Hex {
    if ((height + 1) % EPOCH_BLOCKS !== 0) return '0x'
    const epoch = (height + 1) / EPOCH_BLOCKS
    const isNextFullDkg = this.announced && epoch === this.changes - 1
    return outcomeExtraData({ epoch, key: this.#signer(epoch).key, isNextFullDkg })
  }
}

const keys: EpochKeys = {
  epochBlocks: EPOCH_BLOCKS,
  keys: [{ fromEpoch: 0, key: old.key, origin: 'configured' }],
  unknownFrom: [],
}

let store: ChainStore
let network: MadeUpNetwork
let nowMs: number

beforeAll(async () => {
  store = await openChainStore({ headFrom: 0 })
})
afterAll(() => store.close())

beforeEach(async () => {
  const { postgres, schema } = store
  await postgres.pool.query(`TRUNCATE ${schema}.finality_proofs, ${schema}.finality_keys`)
  network = new MadeUpNetwork()
  nowMs = 1_790_000_000_000
})

/** A process that opens the chain; its rule is what it holds to be final. */
async function opened({ isWriter = true, failpoint = (() => {}) as Failpoint, pinned = keys } = {}) {
  const { postgres, chainId } = store
  const place = { postgres, chainId, fence: 1n }
  const rule = new ProvedFinality()
  const keeper = {
    keepProof: (proof: Parameters<typeof keepProof>[1]) => keepProof(place, proof, EPOCH_BLOCKS),
    keepKey: (decision: Parameters<typeof keepKey>[1]) => keepKey(place, decision),
    forgetRefusal: (epoch: number) => forgetRefusal(place, epoch),
  }
  const watch = new FinalityWatch({
    ...{ chainId, keys: pinned, rule, network, failpoint, log: silentLogger, certificatesAlone: false },
    checks: {
      check: async (...[bytes, header, held]) => assertFinalized(bytes, header, held),
      follow: async (...[held, change]) => followKey(held, change),
    },
    store: {
      proofs: () => comparedProofs(postgres.pool, chainId),
      keys: () => readKeys(postgres.pool, chainId),
      proofAt: (height) => proofAt(postgres.pool, chainId, height),
      blockAt: async () => null,
    },
    keeper: () => (isWriter ? keeper : null),
    head: () => Math.max(...network.latest) + 1,
    clock: { ...systemRuntime().clock, now: () => nowMs, monotonic: () => nowMs },
  })
  await watch.load()
  const look = async (...heights: number[]) => {
    network.latest = heights
    nowMs += 20_000
    await watch.look(never)
    return rule.number
  }
  return { rule, watch, look }
}

const stored = async () => (await newestProof(store.postgres.pool, store.chainId))?.block.number ?? -1

describe('a certificate', () => {
  test('is stored, counts here, at the next start and in a process that stands by', async () => {
    const { look, watch } = await opened()
    expect(await look(12)).toBe(12)
    expect(await look(15)).toBe(15)
    expect(await stored()).toBe(15)
    expect([watch.identity, watch.endpointsServing, watch.problems]).toEqual([old.key, 1, []])
    network.asked.splice(0)
    expect((await opened()).rule.number).toBe(15)
    const { rule, watch: standby } = await opened({ isWriter: false })
    await look(16)
    network.asked.splice(0)
    await standby.look(never)
    expect([rule.number, network.asked]).toEqual([16, []])
  })

  test.each([
    ['finality.keep.before', -1, -1],
    ['finality.keep.after', 12, -1],
    ['finality.taken', 12, 12],
  ])('is stored before it counts: killed at %s', async (at, kept, final) => {
    const killed: Failpoint = (name) => {
      if (name === at) throw new Error('killed')
    }
    const { rule, look } = await opened({ failpoint: killed })
    await expect(look(12)).rejects.toThrow('killed')
    expect([await stored(), rule.number]).toEqual([kept, final])
    expect(await (await opened()).look(12)).toBe(12)
  })

  test('that contradicts another one ends finality, here and at the next start', async () => {
    const { look, watch } = await opened()
    await look(12)
    network.branch = 1
    expect(await look(12)).toBe(-1)
    expect(watch.problems.map(({ kind }) => kind)).toEqual(['finality_equivocated'])
    network.branch = 0
    expect(await look(15)).toBe(-1)
    const again = await opened()
    expect(await again.look(15)).toBe(-1)
    expect(again.rule.equivocation?.map(({ block }) => block.hash)).toEqual([hashAt(12), hashAt(12, 1)])
  })

  test('of a lower block that contradicts a stored one ends finality, also in a process that stands by', async () => {
    const { look, watch } = await opened()
    await look(12)
    await look(15)
    network.branch = 1
    expect(await look(12)).toBe(-1)
    const standby = await opened({ isWriter: false })
    for (const one of [watch, standby.watch])
      expect(one.problems.map(({ kind }) => kind)).toEqual(['finality_equivocated'])
    expect(standby.rule.equivocation?.map(({ block }) => block.number)).toEqual([12, 12])
  })

  test('that does not come for long is told while the head moves', async () => {
    const { look, watch } = await opened()
    await look(12)
    network.latest = [13]
    nowMs += MISSING_MS
    expect(watch.problems.map(({ kind }) => kind)).toEqual(['finality_certificates_missing'])
    await look(13)
    expect(watch.problems).toEqual([])
  })
})

describe('after a restart', () => {
  test('the age of the newest proof counts from when it was checked', async () => {
    await (await opened()).look(12)
    nowMs += MISSING_MS
    const { look, watch } = await opened()
    await look(12)
    expect(watch.problems.map(({ kind }) => kind)).toEqual(['finality_certificates_missing'])
    await look(13)
    expect(watch.problems).toEqual([])
  })

  test('a proof that is newer, or of a clock that is ahead, is no problem', async () => {
    await (await opened()).look(12)
    nowMs += MISSING_MS / 2
    const { look, watch } = await opened()
    await look(12)
    expect(watch.problems).toEqual([])
    nowMs -= MISSING_MS
    const behind = await opened()
    await behind.look(12)
    expect(behind.watch.problems).toEqual([])
  })

  test('of a process that stands by it counts, too', async () => {
    const { look } = await opened()
    await look(12)
    nowMs += MISSING_MS
    const { watch } = await opened({ isWriter: false })
    await watch.look(never)
    expect(watch.problems.map(({ kind }) => kind)).toEqual(['finality_certificates_missing'])
    await look(13)
    await watch.look(never)
    expect(watch.problems).toEqual([])
  })
})

describe('a liar', () => {
  test('is named with what it gave, and nobody else is', async () => {
    const { look } = await opened()
    await look(12)
    network.lie = { height: 15, isSigned: false }
    expect(await look(14)).toBe(14)
    expect(network.told).toEqual(['liar.example vote'])
  })

  test.each([
    ['the old key', { height: 305, isSigned: true }],
    ['nobody', { height: 305, isSigned: false }],
  ])(
    'that invents a block behind a later pin, by %s, moves nothing of what is followed',
    async (_whose, lie) => {
      Object.assign(network, { changes: 4 })
      const later = { fromEpoch: 20, key: october.key, origin: 'stated' } as const
      const { look, watch } = await opened({ pinned: { ...keys, keys: [...keys.keys, later] } })
      for (const height of [29, 39, 49]) network.lost.add(height)
      expect(await look(25)).toBe(25)
      network.lie = lie
      expect(await look(26)).toBe(26)
      // The old key goes on signing behind its end.
      network.lie = { height: 57, isSigned: true }
      expect(await look(27)).toBe(27)
      network.lie = null
      network.lost.clear()
      for (const height of [35, 41, 52]) expect(await look(height)).toBe(height)
      expect([watch.identity, watch.problems]).toEqual([young.key, []])
    },
  )
})

describe('a key', () => {
  test('behind a gap is gone on with from the pin, once that was seen signing', async () => {
    network.changes = 20
    const later = { fromEpoch: 20, key: young.key, origin: 'stated' } as const
    const { look, watch } = await opened({ pinned: { ...keys, keys: [...keys.keys, later] } })
    await look(12)
    network.lost.add(19)
    expect(await look(285)).toBe(269)
    expect(await look(285)).toBe(285)
    expect([watch.identity, watch.problems]).toEqual([young.key, []])
  })

  test('is followed by certificates that are stored, where no endpoint has them any more', async () => {
    network.changes = 3
    const { look } = await opened()
    expect([await look(19), await look(29)]).toEqual([19, 29])
    network.lost.add(19).add(29)
    expect(await look(35)).toBe(35)
    expect(await readKeys(store.postgres.pool, store.chainId)).toMatchObject([
      { fromEpoch: 3, key: young.key, refusal: null },
    ])
  })

  test('that is stated alone is told until a certificate under it was checked, also at the next start', async () => {
    const stated = { fromEpoch: 3, key: young.key, origin: 'stated' } as const
    const pinned = { ...keys, keys: [...keys.keys, stated] }
    const { look, watch } = await opened({ pinned })
    await look(12)
    expect(watch.statedKey).toEqual(stated)
    network.changes = 3
    await look(35)
    expect([watch.statedKey, (await opened({ pinned })).watch.statedKey]).toEqual([null, null])
  })

  test('is followed while the program was off for three epochs, and found again', async () => {
    const { look } = await opened()
    await look(12)
    network.changes = 3
    const { look: later, watch } = await opened()
    expect(await later(47)).toBe(47)
    expect(watch.identity).toBe(young.key)
    expect(await readKeys(store.postgres.pool, store.chainId)).toEqual([
      { fromEpoch: 3, key: young.key, boundaryHash: hashAt(29), refusal: null },
    ])
    network.asked.splice(0)
    expect(await (await opened()).look(48)).toBe(48)
    expect(network.asked).toEqual(['latest'])
  })

  test('that was not announced is refused, here and at the next start, until it is configured', async () => {
    Object.assign(network, { changes: 3, announced: false })
    const { look } = await opened()
    expect(await look(25)).toBe(25)
    expect(await look(35)).toBe(29)
    const again = await opened()
    expect(await again.look(35)).toBe(29)
    expect(again.watch.problems.map(({ kind }) => kind)).toEqual(['finality_key_unknown'])
    const configured = [...keys.keys, { fromEpoch: 3, key: young.key, origin: 'configured' as const }]
    const { look: mended, watch } = await opened({ pinned: { ...keys, keys: configured } })
    expect(await mended(35)).toBe(35)
    expect(watch.problems).toEqual([])
  })

  test('waits for the certificate of the block that tells it', async () => {
    network.changes = 3
    const { look, watch } = await opened()
    await look(25)
    network.lost.add(29)
    expect(await look(35)).toBe(25)
    expect(watch.problems.map(({ kind }) => kind)).toEqual(['finality_key_unknown'])
    network.lost.clear()
    expect(await look(35)).toBe(35)
    expect(watch.problems).toEqual([])
  })

  test('is the pin at a start in the middle of an epoch, and the way from it where it changed', async () => {
    expect(await (await opened()).look(55)).toBe(55)
    expect(network.asked).toEqual(['latest'])
  })

  test('is walked to from an old pin, a few epochs at a look', async () => {
    network.changes = 9
    const { look } = await opened()
    expect(await look(105)).toBe(79)
    expect(await look(105)).toBe(105)
  })
})
