// Goal: no server, however broken or hostile, gets anything but an RpcError out of the client,
// within bounds.
import { afterEach, expect, test } from 'vitest'
import { RpcClient } from '#ingest/rpc/client/client.ts'
import { parseEndpointUrl } from '#ingest/rpc/client/endpointUrl.ts'
import { Identities } from '#ingest/rpc/endpoints/Identities.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { ManualClock } from '../support/clock.ts'
import { type NodeBehaviour, startNode } from '../support/proxyNode.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function clientOf(behaviour: Partial<NodeBehaviour>, path = '', clock: Clock = systemRuntime().clock) {
  const node = await startNode({ call: () => ({ result: '0x1' }), ...behaviour })
  const client = new RpcClient(parseEndpointUrl(node.url + path), clock, 2)
  closers.push(
    () => node.close(),
    () => client.close(),
  )
  return { node, client }
}

const answering = (
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Partial<NodeBehaviour> => ({
  request: (_calls, response) => {
    response.writeHead(status, headers).end(body)
    return true
  },
})

test.each([
  ['429 with a wait in seconds', 429, '', { 'retry-after': '2' }, 'rate_limited', 2_000],
  ['429 with an absurd wait', 429, '', { 'retry-after': '86400' }, 'rate_limited', 60_000],
  ['503 in HTML', 503, '<html>', {}, 'overloaded', undefined],
  ['413', 413, '', {}, 'too_large', undefined],
  ['401', 401, '{"error":"bad key"}', {}, 'unauthorized', undefined],
  ['404', 404, 'not here', {}, 'malformed', undefined],
  [
    '400 around a JSON-RPC error',
    400,
    '{"error":{"code":-32005,"message":"daily limit exceeded"}}',
    {},
    'rate_limited',
    undefined,
  ],
  ['200 in HTML', 200, '<html>hello</html>', {}, 'malformed', undefined],
  ['an answer to another call', 200, '{"id":77,"result":"0x1"}', {}, 'malformed', undefined],
  ['a compressed answer', 200, 'xx', { 'content-encoding': 'gzip' }, 'malformed', undefined],
  ['a redirect', 302, '', { location: 'http://127.0.0.1:1/' }, 'malformed', undefined],
] as const)('%s is classified', async (_title, status, body, headers, failure, retryAfterMs) => {
  const { client } = await clientOf(answering(status, body, headers))
  const call = client.call('eth_chainId', [])
  await expect(call).rejects.toMatchObject({ code: 'rpc_failed', failure, retryAfterMs })
})

test('an answer that is not UTF-8 is refused instead of being repaired', async () => {
  const { client } = await clientOf({
    request: (_calls, response) => {
      response.end(Buffer.concat([Buffer.from('{"id":1,"result":"'), Buffer.from([0xff]), Buffer.from('"}')]))
      return true
    },
  })
  await expect(client.call('eth_chainId', [])).rejects.toMatchObject({ failure: 'malformed' })
})

test('a body longer than allowed is refused, announced or not', async () => {
  const long = 'x'.repeat(100_000)
  const { client } = await clientOf(answering(200, long))
  await expect(client.post('{}', 50_000)).rejects.toMatchObject({ failure: 'too_large' })
  const chunked = await clientOf({
    request: (_calls, response) => {
      response.write(long.slice(0, 40_000))
      response.end(long)
      return true
    },
  })
  await expect(chunked.client.post('{}', 50_000)).rejects.toMatchObject({ failure: 'too_large' })
  expect((await chunked.client.post('{}', 200_000)).length).toBe(140_000)
})

test('a server that drips without end is cut off at the deadline', async () => {
  const clock = new ManualClock()
  let arrived = () => {}
  const asked = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const { client } = await clientOf(
    {
      request: (_calls, response) => {
        response.write('{')
        arrived()
        return true
      },
    },
    '',
    clock,
  )
  const call = client.call('eth_chainId', [])
  const failed = expect(call).rejects.toMatchObject({ failure: 'timed_out' })
  await asked
  await clock.advance(15_000)
  await failed
})

test('a caller that gives up gets its own reason at once', async () => {
  const { client } = await clientOf({ request: () => true })
  const stop = new AbortController()
  const call = client.call('eth_chainId', [], stop.signal)
  stop.abort(new Error('shutdown'))
  await expect(call).rejects.toThrow('shutdown')
})

test('batch answers may come in any order, but each exactly once', async () => {
  const shuffled = (change: (answers: object[]) => object[]): Partial<NodeBehaviour> => ({
    request: (calls, response) => {
      const answers = [calls].flat().map(({ id, method }) => ({ id, result: method }))
      response.end(JSON.stringify(change(answers)))
      return true
    },
  })
  const calls = [
    { method: 'a', params: [] },
    { method: 'b', params: [] },
  ]
  const reversed = await clientOf(shuffled((answers) => answers.toReversed()))
  expect((await reversed.client.batch(calls)).map((answer) => answer.ok && answer.result)).toEqual(['a', 'b'])
  const doubled = await clientOf(shuffled((answers) => answers.map(() => answers[0] ?? {})))
  await expect(doubled.client.batch(calls)).rejects.toMatchObject({ failure: 'malformed' })
  const short = await clientOf(shuffled((answers) => answers.slice(1)))
  await expect(short.client.batch(calls)).rejects.toMatchObject({ failure: 'malformed' })
})

test('no error shows the key in the address, even when the node repeats it', async () => {
  const { client, node } = await clientOf(
    answering(500, '{"error":{"code":-32000,"message":"key s3cr3ts3cr3t is unknown"}}'),
    '/v2/s3cr3ts3cr3t?apikey=0th3rs3cr3t',
  )
  const error: unknown = await client.call('eth_chainId', []).catch((thrown: unknown) => thrown)
  expect(String(error)).not.toMatch(/s3cr3t/)
  await node.close()
  const gone: unknown = await client.call('eth_chainId', []).catch((thrown: unknown) => thrown)
  expect(gone).toMatchObject({ failure: 'unreachable' })
  expect(String(gone)).not.toMatch(/s3cr3t/)
})

/** The words told within the time that a start waits for the second one. */
async function tellsOf(urls: readonly string[], clock: Clock = systemRuntime().clock) {
  const identities = new Identities(urls, clock)
  try {
    return await identities.told(3_000)
  } finally {
    await identities.close()
  }
}

const wideId = '{"jsonrpc":"2.0","id":1,"result":"0x20000000000001"}'

test.each([
  ['is no JSON-RPC node', answering(200, '<html>welcome</html>'), 'setting_invalid', 'RPC_URL'],
  ['refuses the key', answering(401, ''), 'setting_invalid', 'credentials'],
  ['is down for the moment', answering(503, ''), 'source_unavailable', 'the chain id'],
  ['has an id above 2^53', answering(200, wideId), 'setting_invalid', 'serves chain 9007199254740993'],
] as const)(
  'identifying a chain behind an address that %s says so',
  async (_title, behaviour, code, text) => {
    const { node } = await clientOf(behaviour)
    const identified = tellsOf([node.url])
    await expect(identified).rejects.toMatchObject({ code })
    await expect(identified).rejects.toThrow(text)
  },
)

const block0 = { number: '0x0', hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}` }

const holding = (genesis: object | null): Partial<NodeBehaviour> => ({
  call: ({ method, params }) => ({
    result: method === 'eth_chainId' ? '0x7' : params[0] === '0x0' ? genesis : null,
  }),
})

test('a silent endpoint is not waited for to its end where another one can tell the chain', async () => {
  const silent = await startNode({
    call: () => ({ result: null }),
    request: () => true,
  })
  closers.push(() => silent.close())
  const { node } = await clientOf(holding(block0))
  const { clock } = systemRuntime()
  const hurried = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 100, signal) }
  expect(await tellsOf([silent.url, node.url], hurried)).toMatchObject([{ chainId: 7 }])
})

test('a chain is told apart by an endpoint that holds block 0, wherever it stands', async () => {
  const pruned = await clientOf(holding(null))
  const whole = await clientOf(holding(block0))
  expect(await tellsOf([pruned.node.url, whole.node.url])).toContainEqual(
    expect.objectContaining({ chainId: 7, genesisHash: block0.hash }),
  )
  expect(await tellsOf([pruned.node.url])).toMatchObject([{ chainId: 7, genesisHash: null }])
})

test.each(['0x', '1', -1, 0.5, '0x20000000000000', null, '0xzz'])(
  'the chain id %j is refused',
  async (result) => {
    const { node } = await clientOf({ call: () => ({ result }) })
    await expect(tellsOf([node.url])).rejects.toMatchObject({
      code: 'setting_invalid',
    })
  },
)
