// Goal: the door of JSON-RPC is JSON-RPC 2.0 to the letter, passes what the list names and nothing
// else, and keeps every byte. Method: a node of a few lines behind a real server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BATCH_CALLS_MAX, readMessage } from '#api/rpc/message.ts'
import { insteadOf, methods, methodsOf } from '#api/rpc/methods.ts'
import { ApiError } from '#http/errors.ts'
import { type Access, anonymous } from '#http/request/access.ts'
import { type FakeNode, type NodeCall, startNode } from '../../ingest/support/proxyNode.ts'
import { openRpcApi, plainNode, type RpcApi } from '../support/rpcApi.ts'
import { listedMethods, oddNames } from './support/methodNames.ts'

const bigResult = '{"n":12345678901234567890,"s":"\\u00e9 ünï"}'
let node: FakeNode
let api: RpcApi
let seen: NodeCall[] = []
const extra = (call: NodeCall) => {
  seen.push(call)
  if (call.method === 'eth_gasPrice') return { result: '0x7' }
  if (call.method === 'eth_estimateGas')
    return { error: { code: 3, message: 'execution reverted: rate limit exceeded', data: '0x08c379a0' } }
  if (call.method === 'consensus_getLatest') return { result: { epoch: 1 } }
  if (call.method === 'eth_call') return { result: call.params[0] }
  return undefined
}
beforeAll(async () => {
  node = await startNode({
    call: plainNode(() => 9, extra),
    request: (calls, response) => {
      if (Array.isArray(calls) || Object(calls).method !== 'eth_getProof') return false
      response.setHeader('content-type', 'application/json')
      response.end(`{"jsonrpc":"2.0","result": ${bigResult} ,"id":${Object(calls).id}}`)
      return true
    },
  })
  api = await openRpcApi({ urls: [node.url] })
})
afterAll(async () => {
  await api.close()
  await node.close()
})
const gasPrice = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"eth_gasPrice","params":[]}`

describe('a body', () => {
  test.each(['1', '12345678901234567890', '1.0', '"a\\u0062"', '"ü"', 'null', '-0'])(
    'with the id %s is answered under that id, as it was written',
    async (id) => {
      const { status, text, headers } = await api.send(gasPrice(id))
      expect([status, text]).toEqual([200, `{"jsonrpc":"2.0","id":${id},"result":"0x7"}`])
      expect(headers.get('svc-source')).toBe('node')
    },
  )

  test.each([
    ['{}', -32600, 'null'],
    ['1', -32600, 'null'],
    ['[]', -32600, 'null'],
    ['{"jsonrpc":"2.0","method":"eth_gasPrice","id":{}}', -32600, 'null'],
    ['{"jsonrpc":"1.0","method":"eth_gasPrice","id":7}', -32600, '7'],
    ['{"jsonrpc":"2.0","method":5,"id":"x"}', -32600, '"x"'],
    ['{"jsonrpc":"2.0","method":"eth_gasPrice","params":{"a":1},"id":8}', -32602, '8'],
    ['{"jsonrpc":"2.0","method":"ETH_gasPrice","id":9}', -32601, '9'],
  ])('%s is answered by an error of the call', async (body, code, id) => {
    const { status, text } = await api.send(body)
    expect(status).toBe(200)
    expect(text.startsWith(`{"jsonrpc":"2.0","id":${id},"error":{"code":${code}`)).toBe(true)
  })

  test.each([
    ['{"jsonrpc"', 400, 'body_invalid'],
    ['', 400, 'body_invalid'],
    [
      `[${Array.from({ length: BATCH_CALLS_MAX + 1 }, () => gasPrice('1')).join(',')}]`,
      413,
      'body_too_large',
    ],
    [`["${'x'.repeat(1024 * 1024)}"]`, 413, 'body_too_large'],
    ['['.repeat(100), 400, 'body_invalid'],
  ])('that is no request is refused by the envelope', async (body, status, code) => {
    const answer = await api.send(body)
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code])
  })

  test('with ill-formed text refuses the calls that hold it, and answers the others', async () => {
    const filter = (id: string, text: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"eth_getFilterChanges","params":["${text}"]}`
    const id = '{"jsonrpc":"2.0","id":4,"method":"eth_chainId"}'
    const { status, text } = await api.send(
      `[${filter('1', '\\u0000')},${filter('2', '\\ud800')},${filter('"\\u0000"', '0x1')},${id}]`,
    )
    const answers: { id: unknown; error?: { code: number } }[] = JSON.parse(text)
    expect(status).toBe(200)
    expect(answers.map((answer) => [answer.id, answer.error?.code])).toEqual([
      [1, -32602],
      [2, -32602],
      [null, -32600],
      [4, undefined],
    ])
  })

  test('of notifications is not answered; in a batch they are left out, and order is kept', async () => {
    const silent = '{"jsonrpc":"2.0","method":"eth_gasPrice"}'
    expect(await api.send(silent)).toMatchObject({ status: 204, text: '' })
    expect(await api.send(`[${silent}]`)).toMatchObject({ status: 204, text: '' })
    const batch = `[ ${gasPrice('3')} , ${silent}, 5, ${gasPrice('"z"')}, {"jsonrpc":"2.0","id":4,"method":"eth_chainId"}]`
    const { text } = await api.send(batch)
    expect(JSON.parse(text)).toEqual([
      { jsonrpc: '2.0', id: 3, result: '0x7' },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
      { jsonrpc: '2.0', id: 'z', result: '0x7' },
      { jsonrpc: '2.0', id: 4, result: '0x1079' },
    ])
  })

  test('and its answer keep their bytes', async () => {
    const { text } = await api.send(
      '{"jsonrpc":"2.0","id":1,"method":"eth_getProof","params":["0x1",[],"0x5"]}',
    )
    expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${bigResult}}`)
    const call = '[{"to":"0x00","value":98765432109876543210,"data":"\\u0030x"},"latest"]'
    const body = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${call}}`
    const [entry] = readMessage(body).entries
    expect(entry).toEqual({ id: '1', method: 'eth_call', params: call })
  })
})

describe('methods', () => {
  test('are these 43, each with its class, units and block', () => {
    expect(
      methods.map(
        ({ name, class: of, units, block, keeps }) =>
          `${name} ${of} ${units} ${block}${keeps ? ' kept' : ''}`,
      ),
    ).toEqual(listedMethods)
    expect(methods).toHaveLength(43)
  })

  test('that are no names of the list are refused, 1,000 of them, and no node is asked', async () => {
    const known = new Set(methodsOf('tempo', []).keys())
    const odd = oddNames([...known], 1_000)
    seen = []
    for (let at = 0; at < odd.length; at += BATCH_CALLS_MAX) {
      const batch = odd
        .slice(at, at + BATCH_CALLS_MAX)
        .map((method) => ({ jsonrpc: '2.0', id: 1, method, params: [] }))
      const answers: { error: { code: number } }[] = JSON.parse((await api.send(JSON.stringify(batch))).text)
      expect(answers.map(({ error }) => error?.code)).toEqual(batch.map(() => -32601))
    }
    expect(seen.map(({ method }) => method).filter((name) => !known.has(name))).toEqual([])
  })

  test('that nodes serve no more say where to find what they told, and no node is asked', async () => {
    seen = []
    expect((await api.call('consensus_getIdentityTransitionProof', 2042, true)).error).toEqual({
      code: -32601,
      message: expect.stringMatching(/is gone.*v1\.11\.0.*extraData.*consensus_getFinalization/),
    })
    expect(seen.filter(({ method }) => method.startsWith('consensus_'))).toEqual([])
    expect(methods.filter((one) => one.class === 'gone').map(({ name }) => name)).toEqual(
      Object.keys(insteadOf),
    )
  })

  test('of the chain go by its prefix, those of operators need their word, those of sockets name it', async () => {
    expect((await api.call('tempo_fundAddress')).error).toMatchObject({
      code: -32004,
      message: expect.stringContaining('not_enabled'),
    })
    expect((await api.call('svc_fundAddress')).error.code).toBe(-32004)
    expect((await api.call('admin_validatorKey')).error.code).toBe(-32004)
    expect((await api.call('consensus_subscribe')).error).toMatchObject({
      code: -32601,
      message: expect.stringContaining('WebSocket'),
    })
    expect([...methodsOf('evm', []).keys()]).not.toContain('svc_forkSchedule')
    expect([...methodsOf('evm', []).keys()]).toEqual(
      expect.arrayContaining(['eth_getBalance', 'net_version', 'web3_clientVersion']),
    )
    expect([...methodsOf('tempo', []).keys()]).not.toContain('eth_getBalance')
    expect(methodsOf('tempo', ['trace_block', 'tempo_fundAddress']).get('tempo_fundAddress')?.class).toBe(
      'node',
    )
  })
})

test('keys may ask for consensus, and the default chain has a path of its own', async () => {
  expect((await api.call('consensus_getLatest')).result).toEqual({ epoch: 1 })
  const answer = await fetch(api.url.replace(/\/\d+$/, ''), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
  })
  expect([await answer.json(), answer.headers.get('svc-source')]).toEqual([
    { jsonrpc: '2.0', id: 1, result: '0x1079' },
    'store',
  ])
})

test('a block by hash, also where it must be in the chain, passes as it was written', async () => {
  const blocks = [
    { blockHash: `0x${'0A'.repeat(32)}`, requireCanonical: true },
    { blockHash: `0x${'0b'.repeat(32)}` },
    { blockNumber: '0x05' },
    '0x05',
  ]
  for (const block of blocks) {
    seen = []
    const { result } = await api.call('eth_call', { to: null, value: '0x00' }, block)
    expect(result).toEqual({ to: null, value: '0x00' })
    expect(seen.filter(({ method }) => method === 'eth_call').map(({ params }) => params[1])).toEqual([block])
  }
})

test("an execution's error passes unchanged, whatever its words", async () => {
  expect((await api.call('eth_estimateGas', {})).error).toEqual({
    code: 3,
    message: 'execution reverted: rate limit exceeded',
    data: '0x08c379a0',
  })
})

describe('access', () => {
  const spent: number[] = []
  const strangers: Access = {
    identify: () => ({ ...anonymous, isOperator: false }),
    admit: (_caller, _request, rule, units) => {
      spent.push(units)
      if (units > 20) throw new ApiError(rule.payable ? 'payment_required' : 'rate_limit_exceeded')
      return { kind: 'admitted', headers: {} }
    },
  }
  test('without a key is for eth_ alone, counts a batch whole, and is 429 above the quota', async () => {
    const guarded = await openRpcApi({ urls: [node.url], server: { access: strangers } })
    try {
      const mixed = JSON.stringify(
        ['eth_gasPrice', 'consensus_getLatest'].map((method, id) => ({ jsonrpc: '2.0', id, method })),
      )
      expect(await guarded.send(mixed)).toMatchObject({
        status: 401,
        text: expect.stringContaining('api_key_missing'),
      })
      expect(spent).toEqual([])
      expect((await guarded.call('eth_gasPrice')).result).toBe('0x7')
      const logs = JSON.stringify(
        Array.from({ length: 5 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_getLogs' })),
      )
      expect(await guarded.send(logs)).toMatchObject({
        status: 429,
        text: expect.stringContaining('rate_limit_exceeded'),
      })
      expect(spent).toEqual([1, 25])
    } finally {
      await guarded.close()
    }
  })

  test('counts what a call takes of a node, also methods that the operator added', async () => {
    const enabled = ['debug_traceTransaction', 'trace_block', 'txpool_content', 'eth_etherbase']
    const keyed: Access = { ...strangers, identify: () => ({ ...anonymous, kind: 'key' }) }
    const guarded = await openRpcApi({ urls: [node.url], enabled, server: { access: keyed } })
    spent.length = 0
    try {
      const asked = ['eth_call', 'eth_estimateGas', ...enabled, 'debug_traceBlockByNumber', 'eth_chainId']
      for (const method of asked) await guarded.call(method)
      expect(spent).toEqual([2, 4, 20, 20, 10, 5, 1, 1])
    } finally {
      await guarded.close()
    }
  })
})
