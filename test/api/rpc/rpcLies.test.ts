// Goal: one endpoint that lies about the chain's end never decides what clients are told, nor who
// answers them (W2). Method: nodes of a few lines, of which one names blocks that are not there, at
// each tag and in receipts, behind a real server; what a client gets is compared with what the
// honest nodes say.
import { describe, expect, test } from 'vitest'
import type { NodeAnswer, NodeCall } from '../../ingest/support/proxyNode.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { few } from '../../support/breadth.ts'
import { answersWith, door, hashAt, node, plainNode } from '../support/rpcApi.ts'

const HEAD = 9
const FAR = 2 ** 40
const account = `0x${'11'.repeat(20)}`
const tx = `0x${'77'.repeat(32)}`
const hex = (number: number) => `0x${number.toString(16)}`
const lieAt = (number: number, branch = 'b') => ({
  number: hex(number),
  hash: hashAt(number, branch),
  parentHash: hashAt(number - 1, branch),
})

type Extra = (call: NodeCall) => NodeAnswer | undefined

const honest = (extra: Extra = answersWith('eth_getBalance', { result: '0x600d' })) =>
  node({ call: plainNode(() => HEAD, extra) })

const lying = (lie: Extra) =>
  node({
    call: plainNode(
      () => HEAD,
      (call) => lie(call) ?? answersWith('eth_getBalance', { result: '0xbad' })(call),
    ),
  })

/** A lie at a tag: this block, each time or as often as said. */
function liesAt(tag: string, number: number, times = Number.POSITIVE_INFINITY): Extra {
  let left = times
  return ({ method, params }) => {
    if (method === 'eth_blockNumber' && tag === 'latest') return { result: hex(number) }
    if (method !== 'eth_getBlockByNumber' || params[0] !== tag || left-- <= 0) return undefined
    return { result: lieAt(number) }
  }
}

/** Both orders of RPC_URL: the first of equals is preferred. */
const orders = <T>(one: T, other: T): T[][] => [
  [one, other],
  [other, one],
]

const balance = '0x600d'

describe.each(['finalized', 'safe'])('a far block that one of two names once as %s', (tag) => {
  test('is not told, and what follows is answered as if it had not been', async () => {
    let isLying = false
    const lie = liesAt(tag, FAR)
    const bad = await lying((call) => (isLying ? lie(call) : undefined))
    const good = await honest()
    for (const urls of orders(bad.url, good.url)) {
      const api = await door({ urls, kind: 'evm' })
      const told = async () => Number((await api.call('eth_getBlockByNumber', tag, false)).result.number)
      expect(await told()).toBe(HEAD - 2)
      isLying = true
      expect(await told()).toBe(HEAD - 2)
      isLying = false
      expect(await told()).toBe(HEAD - 2)
      expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
      expect((await api.call('eth_getBalance', account, 'latest')).error).toBeUndefined()
    }
  })
})

describe.each([
  ['far', FAR],
  ['a few blocks', HEAD + 3],
])('one of two that stands %s above the chain', (_title, above) => {
  test.each(['latest', 'pending'])('at %s answers nobody', async (tag) => {
    const bad = await lying(liesAt(tag, above))
    const good = await honest()
    for (const urls of orders(bad.url, good.url)) {
      const api = await door({ urls, kind: 'evm' })
      for (let turn = 0; turn < 3; turn++) {
        expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
        expect(Number((await api.call('eth_getBlockByNumber', tag, false)).result.number)).toBe(HEAD)
        expect((await api.call('eth_getBlockByNumber', hex(above), false)).result).toBeNull()
        // Where it tells the truth of its head it is as good as another.
        if (tag === 'latest')
          expect((await api.call('eth_getBalance', account, 'latest')).result).toBe(balance)
      }
    }
  })
})

test('a head that one of three names alone is told only where its endpoint holds the block', async () => {
  const ahead = await node({
    call: plainNode(() => HEAD + 3, answersWith('eth_getBalance', { result: balance })),
  })
  const bad = await lying(liesAt('latest', HEAD + 5))
  const good = await honest()
  const api = await door({ urls: [bad.url, good.url, ahead.url], kind: 'evm' })
  expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD + 3)
  expect((await api.call('eth_getBalance', account, 'latest')).result).toBe(balance)
})

test('blocks made up above the chain are told until another endpoint has their height for the second time in a minute', async () => {
  let head = HEAD
  /** That the other endpoint has reached, when it was asked for them. */
  const shown = new Set<number>()
  const above = () => head + 2
  /** Its blocks link to the chain's, and it holds them. */
  const madeUp: Extra = ({ method, params: [first] }) => {
    if (method === 'eth_getBalance') return { result: '0xbad' }
    if (method !== 'eth_getBlockByNumber') return undefined
    const number = first === 'latest' ? above() : Number(first)
    if (number === head) shown.add(number)
    if (!(number > head)) return undefined
    const parent = number - 1 > HEAD ? 'b' : 'a'
    return { result: { ...lieAt(number), parentHash: hashAt(number - 1, parent) } }
  }
  const bad = await node({ call: plainNode(() => head, madeUp) })
  const good = await node({ call: plainNode(() => head, answersWith('eth_getBalance', { result: balance })) })
  const api = await door({ urls: [bad.url, good.url], kind: 'evm' })
  expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD + 2)
  // An endpoint that holds the other's block may have followed a reorganization: that excuses it once.
  head = HEAD + 1
  const isAsked = async () => (await api.call('eth_blockNumber')).result !== undefined && shown.has(head)
  await expect.poll(isAsked).toBe(true)
  await expect.poll(async () => Number((await api.call('eth_blockNumber')).result)).toBe(HEAD + 3)
  head = HEAD + 2
  await expect.poll(async () => (await api.call('eth_getBalance', account, 'latest')).result).toBe(balance)
  expect(Number((await api.call('eth_blockNumber')).result)).toBe(head)
})

describe('a block that a receipt names and nobody has', () => {
  const at = (number: number) => ({ transactionHash: tx, blockNumber: hex(number) })
  const sends = new Set([
    'eth_getTransactionReceipt',
    'eth_getTransactionByHash',
    'eth_sendRawTransactionSync',
  ])
  const tells =
    (number: number): Extra =>
    ({ method }) =>
      sends.has(method) ? { result: at(number) } : undefined

  test.each(['eth_getTransactionReceipt', 'eth_getTransactionByHash'])(
    '%s is asked elsewhere',
    async (method) => {
      const bad = await lying(tells(FAR))
      const good = await honest(
        (call) => tells(HEAD)(call) ?? answersWith('eth_getBalance', { result: balance })(call),
      )
      for (const urls of orders(bad.url, good.url)) {
        const api = await door({ urls, kind: 'evm' })
        expect((await api.call(method, tx)).result).toEqual(at(HEAD))
        expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
        expect((await api.call('eth_getBalance', account, 'latest')).error).toBeUndefined()
      }
    },
  )

  test('eth_sendRawTransactionSync moves nothing for the calls that follow', async () => {
    const bad = await lying(tells(FAR))
    const good = await honest()
    const api = await door({ urls: [bad.url, good.url], kind: 'evm' })
    expect((await api.call('eth_sendRawTransactionSync', '0x76c0ffee')).result).toEqual(at(FAR))
    expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
    expect((await api.call('eth_getBalance', account, 'latest')).error).toBeUndefined()
  })

  test('of the one and only endpoint is passed on, and moves nothing far', async () => {
    const api = await door({ urls: [(await lying(tells(FAR))).url], kind: 'evm' })
    expect((await api.call('eth_getTransactionReceipt', tx)).result).toEqual(at(FAR))
    expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
  })
})

test('what the one and only endpoint called final once is not told again', async () => {
  const only = await lying(liesAt('finalized', FAR, 1))
  const api = await door({ urls: [only.url], kind: 'evm' })
  await api.call('eth_getBlockByNumber', 'finalized', false)
  expect(Number((await api.call('eth_getBlockByNumber', 'finalized', false)).result.number)).toBe(HEAD - 2)
  expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
  expect((await api.call('eth_getBalance', account, 'latest')).result).toBe('0xbad')
})

test('what ingest holds decides where one of two endpoints stands still', async () => {
  let head = HEAD
  const stuck = await node({ call: plainNode(() => HEAD) })
  const good = await node({ call: plainNode(() => head) })
  const api = await door({ urls: [stuck.url, good.url] })
  expect(Number((await api.call('eth_blockNumber')).result)).toBe(HEAD)
  head = HEAD + 1_000
  api.relay.heed({ tip: head, finalized: head - 2 })
  await expect.poll(async () => Number((await api.call('eth_blockNumber')).result)).toBe(head)
  expect(Number((await api.call('eth_getBlockByNumber', 'finalized', false)).result.number)).toBe(head - 2)
})

describe.each([2, 3])('one of %i endpoints that lies at every tag and in receipts', (count) => {
  const calls = [
    ['eth_blockNumber'],
    ...['latest', 'finalized', 'safe', 'pending'].map((tag) => ['eth_getBlockByNumber', tag, false] as const),
    ['eth_getBalance', account, 'latest'],
    ['eth_getTransactionReceipt', tx],
  ] as const
  const seeds = few([1, 2, 3, 4, 5, 6], 2)
  test.each(seeds)('changes no answer (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    let head = HEAD
    const content: Extra = ({ method, params }) => {
      if (method === 'eth_getBalance')
        return { result: hex(params[1] === 'latest' ? head : Number(params[1])) }
      if (method === 'eth_getTransactionReceipt')
        return { result: { transactionHash: tx, blockNumber: hex(head) } }
      return undefined
    }
    /** Somewhere else than the truth: far, near, at zero or behind. */
    const elsewhere = () => {
      const places = [FAR, head + 1 + Math.floor(random() * 5), head + 5_000, 0, Math.max(0, head - 7)]
      return places[Math.floor(random() * places.length)] ?? 0
    }
    const lies: Extra = ({ method, params: [first] }) => {
      if (random() < 0.3) return undefined
      if (method === 'eth_blockNumber') return { result: hex(elsewhere()) }
      if (method === 'eth_getTransactionReceipt')
        return { result: { transactionHash: tx, blockNumber: hex(FAR + Math.floor(random() * 100)) } }
      const isTag = method === 'eth_getBlockByNumber' && Number.isNaN(Number(first))
      return isTag ? { result: lieAt(elsewhere()) } : undefined
    }
    const nodes = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        node({
          call: plainNode(
            () => head,
            (call) => (index === 0 ? lies(call) : undefined) ?? content(call),
          ),
        }),
      ),
    )
    const place = Math.floor(random() * count)
    const urls = nodes.slice(1).map(({ url }) => url)
    urls.splice(place, 0, nodes[0]?.url ?? '')
    const api = await door({ urls, kind: 'evm' })
    let told = 0
    /** No newer than the honest chain, and no older than told before. */
    const see = (value: unknown, what: string) => {
      const number = Number(value)
      expect(number, `${what}, head ${head}`).toBeLessThanOrEqual(head)
      expect(number, `${what}, head ${head}`).toBeGreaterThanOrEqual(told)
      told = number
    }
    for (let turn = 0; turn < 120; turn++) {
      if (random() < 0.15) head++
      const kind = Math.floor(random() * calls.length)
      const [method = '', ...params] = calls[kind] ?? []
      const { result, error } = await api.call(method, ...params)
      expect([turn, kind, error]).toEqual([turn, kind, undefined])
      if (kind === 0) see(result, 'eth_blockNumber')
      if (kind === 1) see(result.number, 'latest')
      // A state tells no height, so that it may be newer than the newest block told.
      if (kind === 5) expect(Number(result)).toBeGreaterThanOrEqual(told)
      if (kind === 5) expect(Number(result)).toBeLessThanOrEqual(head)
      if (kind === 6) see(result.blockNumber, 'receipt')
      if (kind === 2 || kind === 3) expect(Number(result.number)).toBeLessThanOrEqual(head - 2)
      if (kind === 4) expect(Number(result.number)).toBeLessThanOrEqual(head + 1)
      if (kind > 0 && kind < 4) expect(result.hash).toBe(hashAt(Number(result.number)))
    }
    await expect.poll(async () => Number((await api.call('eth_blockNumber')).result)).toBe(head)
  })
})
