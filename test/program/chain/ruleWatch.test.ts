// Goal: what blocks prove is learned again when every endpoint's answer is refused alike for long, at
// most once in ten minutes, and never by the word of one endpoint of several, for a hiccup, or on a
// chain whose forks are known (L34).
// Method: a built chain that forks, as endpoints answer it that lie in their own ways; answers are
// really decoded, by the rules in force.
import { beforeAll, describe, expect, test } from 'vitest'
import type { EndpointStatus } from '#ingest/rpc/endpoints/Endpoint.ts'
import type { RawRange } from '#ingest/source.ts'
import { hash } from '#primitives.ts'
import { silentLogger } from '#telemetry.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { RuleWatch } from '../../../program/chain/RuleWatch.ts'
import { ManualClock } from '../../ingest/support/clock.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import type { ForeignBlock } from '../../support/foreignChain.ts'
import { type Fork, forkingChain } from '../../support/forkingChain.ts'

const FORK = 12
const HEAD = 20
const ROUND_MS = 6_000
const MANY_ROUNDS = 12
let forked: Readonly<Record<Fork, readonly ForeignBlock[]>>
let faithful: readonly ForeignBlock[]
beforeAll(async () => {
  const [receiptsRoot, header] = await Promise.all([
    forkingChain(HEAD + 1, FORK, 'receiptsRoot'),
    forkingChain(HEAD + 1, FORK, 'header'),
  ])
  forked = { receiptsRoot, header }
  faithful = await forkingChain(HEAD + 1, HEAD + 1, 'header')
})

/** An endpoint's version of a block; null while it does not answer about blocks. */
type Tell = (block: ForeignBlock) => ForeignBlock | null

const truth: Tell = (block) => block
const silence: Tell = () => null
const falseBloom: Tell = ({ block, receipts }) => ({
  block: { ...block, logsBloom: `0x${'11'.repeat(256)}` },
  receipts,
})
const falseStatus: Tell = ({ block, receipts }) => ({
  block,
  receipts: receipts.map((receipt) => ({ ...receipt, status: '0x0' })),
})

class Bench {
  readonly clock = new ManualClock()
  readonly kept: (readonly string[])[] = []
  profile: ChainProfile
  fetches = 0
  readonly #blocks: readonly ForeignBlock[]
  readonly #endpoints: Readonly<Record<string, Tell>>
  readonly #decode

  constructor(blocks: readonly ForeignBlock[], endpoints: Readonly<Record<string, Tell>>, chainId = 25) {
    this.#blocks = blocks
    this.#endpoints = endpoints
    this.profile = { chainId, kind: 'evm', headerRule: 'ethereum', checks: 'roots', loose: [] }
    const names = Object.keys(endpoints)
    const ref = { number: HEAD, hash: hash(`0x${'00'.repeat(32)}`), parentHash: hash(`0x${'00'.repeat(32)}`) }
    const watch = new RuleWatch({
      source: {
        answering: names.length,
        // The head alone is looked at.
        endpoints() {
          return names.slice(0, this.answering).map((name) => ({ name, head: HEAD }) as EndpointStatus)
        },
        head: async () => ({ head: ref, finalized: HEAD, finalizedBy: ref }),
        fetch: async ({ from }, options) => {
          this.fetches++
          const answering = names.filter((name) => this.#answerOf(name, from) !== null)
          const name = answering.find((one) => !options?.not?.has(one)) ?? answering[0]
          const raw = name === undefined ? null : this.#answerOf(name, from)
          if (!raw) throw new Error('nobody answers')
          return raw
        },
      },
      profile: () => this.profile,
      keep: async (loose) => {
        this.kept.push(loose)
        this.profile = { ...this.profile, loose }
        return true
      },
      clock: this.clock,
      log: silentLogger,
      stop: new AbortController().signal,
    })
    this.#decode = watch.watching(async ({ bytes, range }: RawRange) => {
      return decodeRange(this.profile, bytes, range).batch
    })
  }

  /** Every endpoint is asked for a block, again and again. @returns codes of the last refusals */
  async ask(number: number, rounds: number): Promise<readonly string[]> {
    let refused: string[] = []
    for (let round = 0; round < rounds; round++) {
      refused = []
      for (const name of Object.keys(this.#endpoints)) {
        const raw = this.#answerOf(name, number)
        if (!raw) continue
        await this.#decode(raw).catch(({ code }) => refused.push(String(code)))
      }
      await this.clock.advance(ROUND_MS)
    }
    return refused
  }

  #answerOf(name: string, number: number): RawRange | null {
    const block = this.#blocks[number]
    const told = block && this.#endpoints[name]?.(block)
    if (!told) return null
    return { range: { from: number, to: number }, bytes: answerBytes([{ number, ...told }]), endpoint: name }
  }
}

describe.each(['receiptsRoot', 'header'] as const)('a chain whose blocks stop proving their %s', (part) => {
  test.each([
    ['its only endpoint', { only: truth }],
    ['two endpoints', { a: truth, b: truth }],
    ['two endpoints beside a liar that is asked first', { liar: falseBloom, a: truth, b: truth }],
    ['two endpoints beside a liar that is asked last', { a: truth, b: truth, liar: falseStatus }],
  ])('is learned again of %s', async (_, endpoints) => {
    const bench = new Bench(forked[part], endpoints)
    expect(await bench.ask(FORK - 1, 1)).toEqual(
      Object.keys(endpoints).includes('liar') ? [expect.any(String)] : [],
    )
    await bench.ask(FORK, MANY_ROUNDS)
    expect(bench.kept).toEqual([[part]])
    expect(await bench.ask(FORK + 1, 1)).not.toContain(
      part === 'header' ? 'header_refuted' : 'receipts_root_refuted',
    )
  })

  test('is not by a hiccup, nor while one endpoint of two is silent', async () => {
    const short = new Bench(forked[part], { a: truth, b: truth })
    await short.ask(FORK, 2)
    const one = new Bench(forked[part], { a: truth, b: silence })
    await one.ask(FORK, MANY_ROUNDS)
    expect([short.kept, one.kept, short.fetches, one.fetches]).toEqual([[], [], 0, 0])
  })

  test('is not where its forks are known', async () => {
    const bench = new Bench(forked[part], { a: truth, b: truth }, 1)
    expect(await bench.ask(FORK, MANY_ROUNDS)).toHaveLength(2)
    expect([bench.kept, bench.fetches]).toEqual([[], 0])
  })
})

describe('a chain whose blocks prove all', () => {
  test.each([
    ['an honest endpoint', { liar: falseStatus, honest: truth }],
    ['a silent one', { liar: falseStatus, honest: silence }],
    ['two that are silent', { liar: falseStatus, a: silence, b: silence }],
    ['one that tells another lie', { liar: falseStatus, other: falseBloom }],
  ])('keeps its rules whatever one endpoint tells beside %s', async (_, endpoints) => {
    const bench = new Bench(faithful, endpoints)
    await bench.ask(FORK, MANY_ROUNDS)
    expect(bench.kept).toEqual([])
  })

  test('keeps them where an endpoint that was silent proves the block in the end', async () => {
    let isBack = false
    const liars = { a: falseStatus, b: falseStatus }
    const bench = new Bench(faithful, { ...liars, honest: (block) => (isBack ? block : falseBloom(block)) })
    await bench.ask(FORK, 3)
    isBack = true
    await bench.ask(FORK, MANY_ROUNDS)
    expect(bench.kept).toEqual([])
  })
})

test('nothing is learned more than once in ten minutes', async () => {
  // Nothing that could be learned takes a block of other transactions than its receipts.
  const broken: Tell = ({ block }) => ({ block, receipts: [] })
  const bench = new Bench(faithful, { only: broken })
  await bench.ask(FORK, 50)
  const first = bench.fetches
  await bench.ask(FORK, 49)
  expect([first > 0, bench.fetches]).toEqual([true, first])
  await bench.ask(FORK, MANY_ROUNDS)
  expect([bench.fetches, bench.kept]).toEqual([2 * first, []])
})
