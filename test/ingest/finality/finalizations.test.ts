// Goal: certificates of finality are asked of every endpoint, each different one is given once with
// those that gave it, and no answer of whatever form is more than one certificate less.
// Method: nodes in memory behind the real source, which answer with the certificates of one secret.
import { afterEach, describe, expect, test } from 'vitest'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import { chosenRule } from '#ingest/finality/rules/chosenRule.ts'
import { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { finalityNetwork } from '#ingest/rpc/finality/finalityEndpoints.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { digestOf, finalityVectors, signingNetwork } from '../../support/signedFinality.ts'
import { FakeChain } from '../support/fakeChain.ts'
import { memoryNodes } from '../support/memoryNodes.ts'

const closers: (() => Promise<void>)[] = []
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

type Answer = { result: unknown } | { error: unknown }
type Answers = Readonly<Record<string, Answer>>

/** Endpoints of one chain, each with its own answers to some methods. */
function sourceOf(...answers: readonly Answers[]) {
  const openTransport = memoryNodes(
    new FakeChain(3),
    new Map(),
    (host, method) => answers[Number(host.slice(4))]?.[method] ?? null,
  )
  const source = createSource({
    ...{ chainId: 1, finalityDepth: 1, runtime: systemRuntime(), log: silentLogger, openTransport },
    ...{ announcements: false, urls: answers.map((_, index) => `http://node${index}`) },
  })
  closers.push(() => source.close())
  return source
}

const never = new AbortController().signal
const asking = ({ pool }: ReturnType<typeof sourceOf>) => finalityNetwork(pool, systemRuntime().clock)

const network = signingNetwork(`0x${'02'.repeat(32)}`)
const certificateOf = (byte: number) => {
  const bytes = network.certificate({ epoch: 0, view: byte, parentView: 1, digest: digestOf(byte) })
  return { bytes, text: Buffer.from(bytes).toString('hex') }
}
const [first, second] = [certificateOf(5), certificateOf(6)]
const finalization = (answer: Answer): Answers => ({ consensus_getFinalization: answer })
const told = (text: string) => finalization({ result: { epoch: 0, view: 5, certificate: text } })
const missing = finalization({ error: { code: -32_601, message: 'the method does not exist' } })

describe('certificates', () => {
  test('are given once each, with the endpoints that gave them', async () => {
    const source = sourceOf(told(first.text), told(second.text), told(first.text), missing)
    const [one, two, three, four] = source.pool.endpoints.map(({ name }) => name)
    expect(await asking(source).certificates('latest', never)).toEqual({
      given: [
        { bytes: first.bytes, endpoints: [one, three] },
        { bytes: second.bytes, endpoints: [two] },
      ],
      without: [four],
      isPart: false,
    })
  })

  test.each<[string, Answers]>([
    ['that is not ready', finalization({ error: { code: 204, message: 'not ready' } })],
    ['that has none', finalization({ error: { code: 503, message: 'no data', data: 'certificate' } })],
    ['that tells null', finalization({ result: null })],
    ['that tells another spelling', told(`0x${first.text}`)],
    [
      'that tells more than may be read',
      finalization({ result: { certificate: first.text, pad: 'x'.repeat(9_000_000) } }),
    ],
  ])('are not given by an endpoint %s, which loses nothing by it', async (_what, answers) => {
    const source = sourceOf(answers, told(first.text))
    const { given, without } = await asking(source).certificates({ height: 5 }, never)
    expect([given.map(({ bytes }) => bytes), without]).toEqual([[first.bytes], []])
    expect(source.endpoints()).toMatchObject([{ lastFailure: null }, { lastFailure: null }])
    expect((await source.head()).head.number).toBe(2)
  })
})

describe('the header that a certificate names', () => {
  const { block } = finalityVectors('mainnet').boundary
  const header = (change: object) => ({ eth_getBlockByHash: { result: { ...block, ...change } } })
  const digest = hash(String(block['hash']))

  test('comes from the endpoint whose fields give its hash', async () => {
    const source = sourceOf(header({ gasUsed: '0x1' }), header({}), missing)
    const names = source.pool.endpoints.map(({ name }) => name)
    const headerOf = (from: readonly string[] | null) => asking(source).headerOf(digest, from, never)
    expect(await headerOf(names)).toMatchObject({ number: 32_723_999, hash: digest })
    expect(await headerOf(null)).toMatchObject({ hash: digest })
    expect(await headerOf(names.slice(0, 1))).toBeNull()
    expect(await headerOf([])).toBeNull()
  })

  test('is none where it was told with the hash alone', async () => {
    const source = sourceOf(header({ hash: digestOf(9) }))
    const names = source.pool.endpoints.map(({ name }) => name)
    expect(await asking(source).headerOf(digestOf(9), names, never)).toBeNull()
    expect(await asking(source).headerOf(digest, names, never)).toMatchObject({ hash: digest })
  })
})

test('with certificates alone nothing is final by the word of endpoints', async () => {
  const openTransport = memoryNodes(new FakeChain(3), new Map())
  const proved = new ProvedFinality()
  const source = createSource({
    ...{ chainId: 1, finalityDepth: 1, runtime: systemRuntime(), log: silentLogger, openTransport },
    ...{ announcements: false, urls: ['http://node0', 'http://node1'] },
    finality: (agreed) => chosenRule('certificate', agreed, proved),
  })
  closers.push(() => source.close())
  expect((await source.head()).finalized).toBe(-1)
})

test('words of endpoints that were told count until the first certificate', async () => {
  const chain = new FakeChain(10)
  chain.finalized = 8
  const proved = new ProvedFinality()
  const source = createSource({
    ...{ chainId: 1, finalityDepth: 1, runtime: systemRuntime(), log: silentLogger },
    ...{ openTransport: memoryNodes(chain, new Map()), announcements: false },
    urls: ['http://node0', 'http://node1'],
    finality: (agreed) => chosenRule('both', agreed, proved),
  })
  closers.push(() => source.close())
  const told = await source.head()
  expect([told.finalized, source.grants?.(told)]).toEqual([8, true])
  const certificate = readCertificate(first.bytes)
  proved.take({ certificate, block: { ...told.head, number: 5, hash: digestOf(5) }, endpoint: 'one' })
  expect(source.grants?.(told)).toBe(false)
})

test('a header of a certified branch is asked for once', async () => {
  const { block } = finalityVectors('mainnet').boundary
  const digest = hash(String(block['hash']))
  let asked = 0
  const counting = (_host: string, method: string) => {
    if (method !== 'eth_getBlockByHash') return null
    asked++
    return { result: block }
  }
  const source = createSource({
    ...{ chainId: 1, finalityDepth: 1, runtime: systemRuntime(), log: silentLogger },
    ...{ openTransport: memoryNodes(new FakeChain(3), new Map(), counting), announcements: false },
    urls: ['http://node0'],
  })
  closers.push(() => source.close())
  const { number, parentHash } = (await source.certified?.(digest)) ?? {}
  expect(await source.certified?.(digest)).toEqual({ number, hash: digest, parentHash })
  expect([number, asked]).toEqual([32_723_999, 1])
  expect(await source.certified?.(digestOf(9))).toBeNull()
})
