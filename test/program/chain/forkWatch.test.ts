// Goal: forks that endpoints announce and this version does not know are told while they are active
// or within a week, and make less provable only by the word of two endpoints, where there are two;
// an endpoint without the method, or with anything else as its answer, changes nothing.
// Method: nodes in memory behind the real source; a clock that the test moves.
import { afterEach, describe, expect, test } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { newestKnownFork } from '#transform/forks.ts'
import { ForkWatch } from '../../../program/chain/ForkWatch.ts'
import { FakeChain } from '../../ingest/support/fakeChain.ts'
import { memoryNodes } from '../../ingest/support/memoryNodes.ts'

const now = Date.parse('2026-11-24T12:00:00Z') / 1_000
const week = 7 * 24 * 3_600
const known = [
  { name: 'T0', activationTime: 0, active: true },
  { name: 'T12', activationTime: 1_791_900_000, active: true },
]
const scheduled = (name: string, activationTime: number | null) => ({
  result: { schedule: [...known, { name, activationTime, active: false }], active: 'T12' },
})
const missing = { error: { code: -32_601, message: 'the method does not exist' } }

type Answer = { result: unknown } | { error: unknown }

const closers: (() => Promise<void>)[] = []
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

const watchOf = (...answers: readonly Answer[]) => watchOn(4217, 'tempo_forkSchedule', answers)

function watchOn(chainId: number, asked: string, answers: readonly Answer[]) {
  const state = { nowSeconds: now, answers: [...answers] }
  const warnings: string[] = []
  const openTransport = memoryNodes(new FakeChain(3), new Map(), (host, method) => {
    const answer = state.answers[Number(host.slice(4))]
    return method === asked && answer !== undefined ? answer : null
  })
  const runtime = systemRuntime()
  const source = createSource({
    ...{ chainId: 1, finalityDepth: 1, runtime, log: silentLogger, openTransport, announcements: false },
    urls: answers.map((_, index) => `http://node${index}`),
  })
  closers.push(() => source.close())
  const adopted: (number | null)[] = []
  const clock = { ...runtime.clock, now: () => state.nowSeconds * 1_000 }
  const log = { ...silentLogger, warn: (_: object, text: string) => warnings.push(text) }
  const watch = new ForkWatch({ source, chainId, adopt: (from) => adopted.push(from), clock, log })
  return { watch, state, adopted, warnings, source }
}

describe('forks that the endpoints announce', () => {
  test('are told a week ahead, as active from their time on, and logged once', async () => {
    const { watch, state, adopted, warnings } = watchOf(scheduled('T15', now + week + 60))
    await watch.look()
    expect([watch.forks, watch.problem]).toEqual([[], null])
    state.nowSeconds += 120
    await watch.look()
    const fork = { name: 'T15', activatesAt: now + week + 60, isDraft: false, toldBy: 1 }
    expect(watch.forks).toEqual([{ ...fork, isActive: false }])
    expect(watch.problem).toMatch(/^fork T15 begins at 2026-12-01T12:01:00Z, as 1 endpoint tells: .*unproved/)
    state.nowSeconds += week
    expect(watch.forks).toEqual([{ ...fork, isActive: true }])
    expect(watch.problem).toMatch(/^fork T15 is active since 2026-12-01T12:01:00Z/)
    await watch.look()
    expect(warnings).toHaveLength(1)
    expect(adopted).toEqual([now + week + 60, now + week + 60, now + week + 60])
  })

  test('that this version knows are not told, in whatever case they are named', async () => {
    const { watch, adopted } = watchOf({ result: { schedule: [{ name: 't12', activationTime: 5 }] } })
    expect(await watch.look()).toBe(true)
    expect([watch.forks, adopted]).toEqual([[], [null]])
  })

  test('that it knows as a draft are told as drafts', async () => {
    const { watch } = watchOf(scheduled('T14', now - 60))
    await watch.look()
    expect(watch.forks).toMatchObject([{ name: 'T14', isActive: true, isDraft: true }])
    expect(watch.problem).toContain('knows a draft of it alone')
  })

  test('are told of one endpoint, and make less provable only where two tell them', async () => {
    const { watch, state, adopted } = watchOf(scheduled('T15', now), scheduled('T13', null))
    await watch.look()
    expect(watch.forks).toMatchObject([{ name: 'T15', toldBy: 1 }])
    state.answers[1] = scheduled('t15', now + 60)
    await watch.look()
    expect(watch.forks).toMatchObject([{ name: 'T15', activatesAt: now, toldBy: 2 }])
    expect(adopted).toEqual([null, now + 60])
  })

  test('make nothing less provable that the newest known fork proved', async () => {
    const { watch, adopted } = watchOf(scheduled('T99', 0))
    await watch.look()
    expect(watch.forks).toMatchObject([{ name: 'T99', activatesAt: 0, isActive: true }])
    expect(adopted).toEqual([newestKnownFork(4217)])
  })

  test('count once for an endpoint that tells one twice, and are few', async () => {
    const schedule = Array.from({ length: 256 }, (_, index) => ({
      ...{ name: `X${index % 100}`, activationTime: index },
    }))
    const { watch } = watchOf({ result: { schedule } })
    await watch.look()
    expect(watch.forks).toHaveLength(8)
    expect(watch.forks[0]).toEqual({
      ...{ name: 'X0', activatesAt: 0, isActive: true, isDraft: false, toldBy: 1 },
    })
  })

  test.each<[string, Answer]>([
    ['without the method', missing],
    ['that tells null', { result: null }],
    ['that tells a text', { result: 'T15' }],
    ['that tells a list of other things', { result: { schedule: [1, 2] } }],
    ['that tells a time as a text', { result: { schedule: [{ name: 'T15', activationTime: '1' }] } }],
    ['that tells more than may be read', { result: { schedule: [], pad: 'x'.repeat(70_000) } }],
  ])('are not changed by an endpoint %s, nor is the endpoint', async (_, answer) => {
    const { watch, state, adopted, source } = watchOf(scheduled('T15', now))
    await watch.look()
    const before = watch.forks
    state.answers[0] = answer
    expect(await watch.look()).toBe(false)
    expect(watch.forks).toEqual(before)
    expect(adopted).toHaveLength(1)
    expect(source.endpoints()).toMatchObject([{ lastFailure: null }])
    expect(source.endpoints()[0]?.state).not.toBe('quarantined')
    expect((await source.head()).head.number).toBe(2)
  })
})

describe('forks of Ethereum, which its nodes tell by their configuration', () => {
  const amsterdam = newestKnownFork(11_155_111)
  const brings = { BUILDER_DEPOSIT_CONTRACT_ADDRESS: `0x${'82'.repeat(20)}` }
  const newer = { ...brings, NEWER_ADDRESS: `0x${'83'.repeat(20)}` }
  const config = (activationTime: number, systemContracts: object = brings) => ({
    ...{
      activationTime,
      forkId: `0x${activationTime.toString(16).padStart(8, '0')}`,
      precompiles: {},
      systemContracts,
    },
  })
  const answer = (current: object, next: object | null = null) => ({ result: { current, next, last: next } })

  test('are known by time and contracts on Sepolia, with later ones of blobs, and told where they are others', async () => {
    const { watch, state, adopted } = watchOn(11_155_111, 'eth_config', [answer(config(amsterdam))])
    expect(await watch.look()).toBe(true)
    expect([watch.forks, watch.problem, adopted]).toEqual([[], null, [null]])
    state.answers[0] = answer(config(amsterdam), config(now + 30))
    await watch.look()
    expect([watch.forks, adopted]).toEqual([[], [null, null]])
    state.answers[0] = answer(config(amsterdam), config(now + 60, newer))
    await watch.look()
    const name = `0x${(now + 60).toString(16)}`
    expect(watch.forks).toEqual([{ name, activatesAt: now + 60, isActive: false, isDraft: false, toldBy: 1 }])
    expect(watch.problem).toContain('this version does not know it')
    expect(adopted).toEqual([null, null, now + 60])
  })

  test('have no date on the main network: its announcement is told, parameters of blobs are not', async () => {
    const { watch, state } = watchOn(1, 'eth_config', [answer(config(5, {}), config(now + 60, {}))])
    expect(await watch.look()).toBe(true)
    expect(watch.forks).toEqual([])
    state.answers[0] = answer(config(5, {}), config(now + 60))
    await watch.look()
    expect(watch.forks).toMatchObject([{ activatesAt: now + 60, toldBy: 1 }])
  })
})

test('are asked for at the start, and again each day, or sooner where nobody told them', async () => {
  const { watch, state } = watchOf(missing)
  const slept: number[] = []
  const end = new AbortController()
  const clock = {
    now: () => now * 1_000,
    monotonic: () => 0,
    sleep: async (ms: number) => {
      slept.push(ms)
      if (slept.length === 2) end.abort()
      state.answers[0] = scheduled('T15', now)
    },
  }
  const answers = () => (state.answers[0] === missing ? [] : [Object(state.answers[0]).result])
  const source = { endpoints: () => [], callEach: async () => answers() }
  const other = new ForkWatch({ source, chainId: 4217, adopt: () => {}, clock, log: silentLogger })
  await other.run(end.signal)
  expect(slept).toEqual([3_600_000, 24 * 3_600_000])
  expect(other.forks).toMatchObject([{ name: 'T15' }])
  expect(watch.forks).toEqual([])
})
