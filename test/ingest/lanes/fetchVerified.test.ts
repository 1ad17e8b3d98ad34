// Goal: an answer that is wrong counts against the endpoint that gave it, and a lost worker against
// none.
import { expect, test } from 'vitest'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import type { Witnessing } from '#ingest/lanes/UnprovedAnswers.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { SenderRefutedError } from '#ingest/verify/senders/SenderRefutedError.ts'
import { EncodeError } from '#transform/encode/values.ts'
import { DecodeWorkerError } from '../../../ingest/DecodeWorkerError.ts'
import { RefutedError } from '../../../ingest/verify/RefutedError.ts'
import { decodeRefs, FakeChain, FakeSource, type RefBatch } from '../support/fakeChain.ts'

/** A fetcher whose first decodings fail in turn, and who was blamed for it. */
function fetcherFailing(errors: Error[]) {
  const source = new FakeSource(new FakeChain(20))
  const blamed: string[] = []
  source.reportRefuted = (endpoint) => blamed.push(endpoint)
  const decode: typeof decodeRefs = async (raw) => {
    const error = errors.shift()
    if (error) throw error
    return decodeRefs(raw)
  }
  return { fetcher: { source, decode, failpoint: () => {}, lane: 'history' as const }, blamed }
}

const range = { from: 1, to: 8 }
const lost = () => new DecodeWorkerError(range.from, range.to, { cause: new Error('heap') })

test('a lost worker is not counted against the endpoint that answered', async () => {
  const { fetcher, blamed } = fetcherFailing([lost()])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toEqual([])
})

test('an answer that is wrong is', async () => {
  const { fetcher, blamed } = fetcherFailing([
    new NodeAnswerError('json_invalid', '', 1),
    new RefutedError('header', 1),
  ])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toHaveLength(2)
})

test('so is one that says another sender than signed', async () => {
  const { fetcher, blamed } = fetcherFailing([new SenderRefutedError(1, 0, '0x55', '0x66')])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toHaveLength(1)
})

test('workers that keep dying are told about in the end', async () => {
  const { fetcher, blamed } = fetcherFailing([lost(), lost(), lost()])
  await expect(fetchVerified(fetcher, range)).rejects.toMatchObject({ code: 'decode_worker_lost' })
  expect(blamed).toEqual([])
})

/**
 * Endpoints that are asked in turn, those named by `not` last, and what decoding the answer of each
 * comes to.
 */
function fetcherOf(tell: Readonly<Record<string, () => Partial<Told>>>) {
  const source = new FakeSource(new FakeChain(20))
  const names = Object.keys(tell)
  const blamed: string[] = []
  source.reportRefuted = (endpoint) => blamed.push(endpoint)
  const fetch = source.fetch.bind(source)
  source.fetch = async (asked, options: { not?: ReadonlySet<string> } = {}) => {
    const endpoint = names.find((name) => !options.not?.has(name)) ?? names[0] ?? ''
    return { ...(await fetch(asked, {})), endpoint }
  }
  const alone: number[] = []
  const sure: number[] = []
  const witnessing: Witnessing<Told> = {
    isProved: ({ proved }) => proved,
    isSame: (one, other) => one.content === other.content,
    takenAlone: ({ range: { from } }) => alone.push(from),
    takenSurely: ({ range: { from } }) => sure.push(from),
  }
  const decode = async (raw: Parameters<typeof decodeRefs>[0]): Promise<Told> => ({
    ...(await decodeRefs(raw)),
    proved: true,
    content: 'true',
    ...tell[raw.endpoint]?.(),
  })
  const answering = { answering: names.length }
  const fetcher = {
    source: Object.assign(source, answering),
    decode,
    failpoint: () => {},
    lane: 'head' as const,
  }
  return { fetcher: { ...fetcher, witnessing }, blamed, alone, sure }
}

type Told = RefBatch & { readonly proved: boolean; readonly content: string }

const unstorable = () => {
  throw new EncodeError('blocks', 'size', '18446744073709551615', 1)
}
const broken = () => {
  throw new RangeError('Invalid array length')
}
const unproved = (content: string) => () => ({ proved: false, content })

test.each([
  ['that no column holds', unstorable],
  ['that breaks the worker', broken],
])('an answer %s is its endpoint’s fault, and another one is asked (L24)', async (_, failing) => {
  const { fetcher, blamed } = fetcherOf({ liar: failing, honest: () => ({}) })
  expect((await fetchVerified(fetcher, range)).endpoint).toBe('honest')
  expect(blamed).toEqual(['liar'])
})

const dying = () => {
  throw lost()
}

test('a worker that dies of one endpoint’s answer, and not of another’s, is that endpoint’s fault (L24)', async () => {
  const { fetcher, blamed } = fetcherOf({ liar: dying, honest: () => ({}) })
  expect((await fetchVerified(fetcher, range)).endpoint).toBe('honest')
  expect(blamed).toEqual(['liar'])
})

const impossible = () => {
  throw new NodeAnswerError('quantity_invalid', 'gasUsed', range.from)
}

test('a number that no block can hold is never the end, whoever tells it: all are asked again later', async () => {
  const { fetcher, blamed } = fetcherOf({ a: impossible, b: impossible })
  await expect(fetchVerified(fetcher, range)).rejects.toMatchObject({ remedy: 'retry' })
  expect(new Set(blamed)).toEqual(new Set(['a', 'b']))
  const beside = fetcherOf({ a: impossible, b: () => ({}) })
  expect((await fetchVerified(beside.fetcher, range)).endpoint).toBe('b')
})

test('what no column holds stops the lane when two endpoints say it, and makes it wait when one does', async () => {
  const two = fetcherOf({ a: unstorable, b: unstorable })
  await expect(fetchVerified(two.fetcher, range)).rejects.toMatchObject({ remedy: 'stop' })
  const one = fetcherOf({ a: unstorable })
  await expect(fetchVerified(one.fetcher, range)).rejects.toMatchObject({
    code: 'answer_unusable',
    remedy: 'retry',
    endpoint: 'a',
  })
})

test('what cannot be proved is taken when a second endpoint tells the same (L23)', async () => {
  const { fetcher, alone, sure, blamed } = fetcherOf({ a: unproved('true'), b: unproved('true') })
  expect((await fetchVerified(fetcher, range)).endpoint).toBe('b')
  expect([alone, sure, blamed]).toEqual([[], [range.from], []])
})

test('a proved answer wins over one that cannot be proved, whose endpoint is to blame (L23)', async () => {
  const { fetcher, blamed } = fetcherOf({ liar: unproved('forged'), honest: () => ({}) })
  expect((await fetchVerified(fetcher, range)).batch.content).toBe('true')
  expect(blamed).toEqual(['liar'])
})

test('where endpoints tell different things that cannot be proved none is taken, but a third one decides (L23)', async () => {
  const two = fetcherOf({ liar: unproved('forged'), honest: unproved('true') })
  await expect(fetchVerified(two.fetcher, range)).rejects.toMatchObject({
    code: 'unproved_differ',
    remedy: 'retry',
  })
  const three = fetcherOf({ liar: unproved('forged'), b: unproved('true'), c: unproved('true') })
  expect((await fetchVerified(three.fetcher, range)).batch.content).toBe('true')
})

test('the only endpoint is believed, and what it alone told is marked (L23)', async () => {
  const { fetcher, alone, sure } = fetcherOf({ only: unproved('true') })
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect([alone, sure]).toEqual([[range.from], []])
})
