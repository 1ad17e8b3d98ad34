// Goal: no endpoint that hangs, is away, is false or sends too much holds up the certificates of the
// others, or is asked so often that it costs the program its time; and what it says later counts.
// Method: nodes in memory behind the real source, of which some do not answer before they are let; a
// clock that moves when told to, so that "at once" is without any of its time.
import { afterEach, describe, expect, test } from 'vitest'
import type { CertificatePart } from '#ingest/finality/certificate/CertificateRefusedError.ts'
import type { OpenTransport } from '#ingest/rpc/client/client.ts'
import { finalityNetwork } from '#ingest/rpc/finality/finalityEndpoints.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { type Hash, hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { digestOf, finalityVectors, signingNetwork } from '../../support/signedFinality.ts'
import { ManualClock, settled } from '../support/clock.ts'
import { FakeChain } from '../support/fakeChain.ts'
import { memoryNodes } from '../support/memoryNodes.ts'

const closers: (() => Promise<void>)[] = []
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

const never = new AbortController().signal
const signing = signingNetwork(`0x${'02'.repeat(32)}`)
const { block } = finalityVectors('mainnet').boundary
const digest = hash(String(block['hash']))

const certificate = (of: Hash, view = 5) =>
  Buffer.from(signing.certificate({ epoch: 0, view, parentView: 1, digest: of })).toString('hex')
const [first, second] = [certificate(digest), certificate(digestOf(6))]

const FINALIZATION = 'consensus_getFinalization'
const HEADER = 'eth_getBlockByHash'

/** More than any answer of a node in memory takes. */
const TURNS = 200

/** Two endpoints: `a.example` and `b.example`. */
class Endpoints {
  readonly clock = new ManualClock()
  /** By name and method, what is asked of nobody who answers. */
  readonly hanging = new Set<string>()
  readonly #held: (() => void)[] = []
  readonly asked = new Map<string, number>()
  readonly said = new Map<string, unknown>([
    [`a.example ${FINALIZATION}`, { certificate: first }],
    [`b.example ${FINALIZATION}`, { certificate: first }],
    [`a.example ${HEADER}`, block],
    [`b.example ${HEADER}`, block],
  ])
  readonly network
  readonly source

  constructor() {
    const answers = memoryNodes(new FakeChain(3), new Map(), (host, method) => {
      const result = this.said.get(`${host} ${method}`)
      return result === undefined ? null : { result }
    })
    const openTransport: OpenTransport = (origin, connections) => {
      const transport = answers(origin, connections)
      return {
        dispatch: (options, handler) => {
          const calls = [JSON.parse(String(options.body))].flat()
          const names = calls.map(({ method }) => `${new URL(origin).host} ${method}`)
          for (const name of names) this.asked.set(name, (this.asked.get(name) ?? 0) + 1)
          if (!names.some((name) => this.hanging.has(name))) return transport.dispatch(options, handler)
          this.#held.push(() => transport.dispatch(options, handler))
          return true
        },
        destroy: () => transport.destroy(),
      } as typeof transport
    }
    const runtime = { ...systemRuntime(), clock: this.clock }
    this.source = createSource({
      ...{ chainId: 1, finalityDepth: 1, runtime, log: silentLogger, openTransport },
      ...{ announcements: false, urls: ['http://a.example', 'http://b.example'] },
    })
    closers.push(() => this.source.close())
    this.network = finalityNetwork(this.source.pool, this.clock)
  }

  /** Those that hang answer now. */
  async letAnswer(): Promise<void> {
    this.hanging.clear()
    for (const answer of this.#held.splice(0)) answer()
    for (let turn = 0; turn < TURNS; turn++) await settled()
  }

  count(name: string): number {
    return this.asked.get(name) ?? 0
  }

  /** Which endpoints give a certificate at this look, by its digits. */
  async look(): Promise<Map<string, readonly string[]>> {
    const { given } = await this.network.certificates('latest', never)
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    return new Map(given.map(({ bytes, endpoints }) => [text(bytes), endpoints.map(hostOf)]))
  }

  /** Looks once a second; what each gave. */
  async lookFor(seconds: number) {
    const looks = []
    for (let second = 0; second < seconds; second++) {
      looks.push(await atOnce(this.look()))
      await this.clock.advance(1_000)
    }
    return looks
  }

  header(hosts: readonly string[] | null = ['a.example', 'b.example']) {
    return this.network.headerOf(digest, hosts && this.#namesOf(hosts), never)
  }

  refused(hosts: readonly string[], part: CertificatePart): void {
    this.network.refused?.(this.#namesOf(hosts), part)
  }

  #namesOf(hosts: readonly string[]): string[] {
    return this.source.pool.endpoints.map(({ name }) => name).filter((name) => hosts.includes(hostOf(name)))
  }
}

/** @throws where it takes any time of the clock */
async function atOnce<Result>(work: Promise<Result>): Promise<Result> {
  const isOver = await isSettled(work)
  if (!isOver) throw new Error('it waits')
  return await work
}

async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  work.then(over, over)
  for (let turn = 0; turn < TURNS && !isOver; turn++) await settled()
  return isOver
}

/** Names tell addresses apart that are shown alike. */
const hostOf = (name: string) => name.split('#')[0] ?? ''

const namesOf = (look: Map<string, readonly string[]>) => [...look.values()].flat()
const both = ['a.example', 'b.example']

describe('an endpoint that hangs', () => {
  test('holds up one look for two seconds, and none after it', async () => {
    const endpoints = new Endpoints()
    endpoints.hanging.add(`a.example ${FINALIZATION}`)
    const look = endpoints.look()
    expect(await isSettled(look)).toBe(false)
    await endpoints.clock.advance(2_000)
    expect(namesOf(await atOnce(look))).toEqual(['b.example'])
    const looks = await endpoints.lookFor(60)
    expect(looks.every((one) => namesOf(one).join() === 'b.example')).toBe(true)
    // One question takes 15 seconds, and is followed by a pause.
    expect(endpoints.count(`a.example ${FINALIZATION}`)).toBeLessThanOrEqual(5)
    expect(endpoints.count(`b.example ${FINALIZATION}`)).toBe(61)
  })

  test('counts at the next look when it has answered, and is waited for again when it is in time', async () => {
    const endpoints = new Endpoints()
    endpoints.hanging.add(`a.example ${FINALIZATION}`)
    const look = endpoints.look()
    await isSettled(look)
    await endpoints.clock.advance(2_000)
    await atOnce(look)
    await endpoints.letAnswer()
    const looks = await endpoints.lookFor(3)
    expect([0, 2].map((at) => namesOf(looks[at] ?? new Map()).toSorted())).toEqual([both, both])
  })

  test('on its way to the header gives the same certificate until the header has come', async () => {
    const endpoints = new Endpoints()
    endpoints.said.delete(`b.example ${FINALIZATION}`)
    for (const name of both) endpoints.hanging.add(`${name} ${HEADER}`)
    expect((await atOnce(endpoints.look())).get(first)).toEqual(['a.example'])
    const header = endpoints.header(['a.example'])
    await isSettled(header)
    await endpoints.clock.advance(2_000)
    expect(await atOnce(header)).toBeNull()
    endpoints.said.set(`a.example ${FINALIZATION}`, { certificate: second })
    expect((await atOnce(endpoints.look())).get(first)).toEqual(['a.example'])
    await endpoints.letAnswer()
    expect(await atOnce(endpoints.header(['a.example']))).toMatchObject({ hash: digest })
    expect(endpoints.count(`a.example ${HEADER}`)).toBe(1)
    // It was late, and is not waited for before it was in time once.
    await endpoints.clock.advance(1_000)
    const looks = await endpoints.lookFor(2)
    expect(looks.at(-1)?.get(second)).toEqual(['a.example'])
  })

  test('does not keep the header of another one waiting', async () => {
    const endpoints = new Endpoints()
    endpoints.hanging.add(`a.example ${HEADER}`)
    expect(await atOnce(endpoints.header())).toMatchObject({ hash: digest })
    expect(await atOnce(endpoints.header(null))).toMatchObject({ hash: digest })
  })
})

test('an endpoint that is away is not met anew at each look', async () => {
  const endpoints = new Endpoints()
  endpoints.hanging.add('a.example eth_chainId')
  const look = endpoints.look()
  await isSettled(look)
  await endpoints.clock.advance(2_000)
  await atOnce(look)
  await endpoints.lookFor(120)
  expect(endpoints.count('a.example eth_chainId')).toBeLessThanOrEqual(8)
  await endpoints.letAnswer()
  // Its last probe takes up to 15 seconds, and its pause as long.
  const looks = await endpoints.lookFor(40)
  expect(namesOf(looks.at(-1) ?? new Map()).toSorted()).toEqual(both)
})

describe('an endpoint that is false', () => {
  test('rests twice as long each time, a minute at most, and its truth counts then', async () => {
    const endpoints = new Endpoints()
    endpoints.said.set(`a.example ${FINALIZATION}`, { certificate: second })
    let seconds = 0
    for (; seconds < 600; seconds++) {
      const liars = (await atOnce(endpoints.look())).get(second)
      if (liars) endpoints.refused(liars, 'vote')
      await endpoints.clock.advance(1_000)
    }
    // After 1, 2, 4, 8, 16 and 32 seconds, and then each minute.
    expect(endpoints.count(`a.example ${FINALIZATION}`)).toBeLessThanOrEqual(17)
    endpoints.said.set(`a.example ${FINALIZATION}`, { certificate: first })
    const looks = await endpoints.lookFor(61)
    expect(namesOf(looks.at(-1) ?? new Map()).toSorted()).toEqual(both)
  })

  test('rests ten seconds at most where its epoch’s key alone is not known', async () => {
    const endpoints = new Endpoints()
    for (let seconds = 0; seconds < 100; seconds++) {
      const given = namesOf(await atOnce(endpoints.look()))
      if (given.includes('a.example')) endpoints.refused(['a.example'], 'key')
      await endpoints.clock.advance(1_000)
    }
    const asked = endpoints.count(`a.example ${FINALIZATION}`)
    expect([asked >= 10, asked <= 15]).toEqual([true, true])
  })

  test.each([
    ['tells more than may be read', { certificate: first, pad: 'x'.repeat(9_000_000) }, 7],
    ['pads what it tells, up to that', { certificate: first, pad: 'x'.repeat(7_000_000) }, 6],
  ])('that %s is asked less often', async (_what, said, times) => {
    const endpoints = new Endpoints()
    endpoints.said.set(`a.example ${FINALIZATION}`, said)
    const looks = await endpoints.lookFor(62)
    expect(endpoints.count(`a.example ${FINALIZATION}`)).toBeLessThanOrEqual(times)
    expect(looks.every((one) => namesOf(one).includes('b.example'))).toBe(true)
    endpoints.said.set(`a.example ${FINALIZATION}`, { certificate: first })
    expect(namesOf((await endpoints.lookFor(61)).at(-1) ?? new Map()).toSorted()).toEqual(both)
  })

  test('that tells another header than was asked for rests, too', async () => {
    const endpoints = new Endpoints()
    endpoints.said.set(`a.example ${HEADER}`, { ...block, gasUsed: '0x1' })
    expect(await atOnce(endpoints.header(['a.example']))).toBeNull()
    expect(namesOf(await atOnce(endpoints.look()))).toEqual(['b.example'])
  })
})
