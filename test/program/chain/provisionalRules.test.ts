// Goal: what one endpoint of several told alone at the first start is told apart, and learned again when
// a second one answers: the stricter rules win, and what both show is confirmed (L40). Where the others
// stay away, one alone teaches what nobody taught before.
// Method: built chains as endpoints answer them that lie, are silent about blocks, or are gone.
import { beforeAll, describe, expect, test } from 'vitest'
import type { EndpointStatus } from '#ingest/rpc/endpoints/Endpoint.ts'
import { hash } from '#primitives.ts'
import { silentLogger } from '#telemetry.ts'
import { type ChainRules, learnRules } from '../../../program/chain/chainRules.ts'
import { ProvisionalRules } from '../../../program/chain/ProvisionalRules.ts'
import { ManualClock } from '../../ingest/support/clock.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import { type ForeignBlock, foreignChain } from '../../support/foreignChain.ts'
import { forkingChain } from '../../support/forkingChain.ts'

const HEAD = 40
const MINUTE_MS = 60_000
const CHAIN_ID = 25

type Tell = (told: ForeignBlock) => ForeignBlock | null
const truth: Tell = (told) => told
const falseStatus: Tell = ({ block, receipts }) => ({
  block,
  receipts: receipts.map((receipt) => ({ ...receipt, status: '0x0' })),
})
const falseHeader: Tell = ({ block, receipts }) => ({
  block: { ...block, stateRoot: `0x${'12'.repeat(32)}` },
  receipts,
})

let faithful: readonly ForeignBlock[]
let foreign: readonly ForeignBlock[]
beforeAll(async () => {
  faithful = await forkingChain(HEAD + 1, HEAD + 1, 'header')
  foreign = await foreignChain(HEAD + 1, 'restart')
})

/** Two endpoints; each answers about blocks, about heads alone, or not at all. */
class Bench {
  readonly clock = new ManualClock()
  readonly #blocks: readonly ForeignBlock[]
  readonly #tells: Readonly<Record<string, Tell>>
  readonly silent = new Set<string>()
  readonly away = new Set<string>()
  /** How many count as those that answer, where one of them must not be believed alone. */
  answering = 2
  dropped: readonly string[] = []
  rules: ChainRules = { headerRule: 'unknown', loose: [], alone: [] }
  lessons = 0

  constructor(blocks: readonly ForeignBlock[], tells: Readonly<Record<string, Tell>>) {
    this.#blocks = blocks
    this.#tells = tells
  }

  #refOf(number: number) {
    const block = this.#blocks[number]?.block
    return { number, hash: hash(String(block?.hash)), parentHash: hash(String(block?.parentHash)) }
  }

  get source() {
    const answering = () => this.answering
    return {
      get answering() {
        return answering()
      },
      endpoints: () =>
        Object.keys(this.#tells).map(
          (name) => ({ name, state: 'healthy', head: this.away.has(name) ? null : HEAD }) as EndpointStatus,
        ),
      head: async () => {
        this.lessons++
        const ref = this.#refOf(HEAD)
        return {
          head: ref,
          finalized: this.away.size > 0 && this.answering > 1 ? -1 : HEAD,
          finalizedBy: ref,
        }
      },
      blockRef: async (number: number) => this.#refOf(number),
      fetch: async (
        { from }: { readonly from: number },
        { not }: { readonly not?: ReadonlySet<string> } = {},
      ) => {
        const heard = Object.entries(this.#tells).filter(
          ([name]) => !this.silent.has(name) && !this.away.has(name),
        )
        const [name, tell] = heard.find(([one]) => !not?.has(one)) ?? heard[0] ?? []
        const block = this.#blocks[from]
        const told = block && tell?.(block)
        if (!told || name === undefined) throw new Error('nobody answers')
        const range = { from, to: from }
        return { range, bytes: answerBytes([{ number: from, ...told }]), endpoint: name }
      },
    }
  }

  async start(): Promise<void> {
    this.rules = await learnRules(this.source, CHAIN_ID, this.clock)
  }

  async pass(ms: number): Promise<void> {
    const stop = new AbortController()
    const running = new ProvisionalRules({
      ...{ source: this.source, chainId: CHAIN_ID, clock: this.clock, log: silentLogger },
      rules: () => this.rules,
      keep: async (rules, dropped) => {
        this.rules = rules
        this.dropped = dropped
      },
    }).run(stop.signal)
    for (let passed = 0; passed < ms; passed += 1_000) await this.clock.advance(1_000)
    stop.abort()
    await running
  }
}

describe('on a chain whose blocks prove all', () => {
  test('what a liar told alone holds until the honest endpoint tells blocks, and no longer', async () => {
    const bench = new Bench(faithful, { liar: falseStatus, honest: truth })
    bench.silent.add('honest')
    await bench.start()
    const lonely = { headerRule: 'ethereum', loose: ['receiptsRoot'], alone: ['receiptsRoot'] }
    expect(bench.rules).toEqual(lonely)
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual(lonely)
    bench.silent.clear()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'ethereum', loose: [], alone: [] })
    expect(bench.dropped).toEqual(['receiptsRoot'])
  })

  test('headers that a liar garbled alone are learned again', async () => {
    const bench = new Bench(faithful, { liar: falseHeader, honest: truth })
    bench.away.add('honest')
    await bench.start()
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose: [], alone: ['header'] })
    await bench.pass(MINUTE_MS)
    expect(bench.lessons).toBe(2)
    bench.away.clear()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'ethereum', loose: [], alone: [] })
    expect(bench.dropped).toEqual(['header'])
  })

  test('an honest endpoint that told everything alone is confirmed', async () => {
    const bench = new Bench(faithful, { away: truth, honest: truth })
    bench.away.add('away')
    await bench.start()
    expect(bench.rules).toEqual({ headerRule: 'ethereum', loose: [], alone: ['header'] })
    bench.away.clear()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'ethereum', loose: [], alone: [] })
    expect(bench.dropped).toEqual([])
  })
})

describe('on a chain with roots of its own', () => {
  const loose = ['transactionsRoot', 'receiptsRoot', 'logIndexes']

  test('what one endpoint told alone is confirmed by the second', async () => {
    const bench = new Bench(foreign, { first: truth, second: truth })
    bench.silent.add('second')
    await bench.start()
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose, alone: loose })
    bench.silent.clear()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose, alone: [] })
    expect(bench.dropped).toEqual([])
  })

  test('the only endpoint that is left teaches, provisionally, once the other is gone', async () => {
    const bench = new Bench(foreign, { first: truth, gone: truth })
    bench.away.add('gone')
    await bench.start()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose: [], alone: ['header'] })
    bench.answering = 1
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose, alone: ['header', ...loose] })
    bench.answering = 2
    bench.away.clear()
    await bench.pass(MINUTE_MS)
    expect(bench.rules).toEqual({ headerRule: 'unknown', loose, alone: [] })
  })
})
