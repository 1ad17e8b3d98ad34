// Goal: a transaction is sent once, and its client is told what became of it. Method: nodes that
// take a transaction and then break off, lie, or were away; what they took is counted.
import { keccak256 } from 'viem'
import { expect, test } from 'vitest'
import type { NodeAnswer, NodeBehaviour } from '../../ingest/support/proxyNode.ts'
import { door, plainNode, node as startedNode } from '../support/rpcApi.ts'

const raw = '0x76c0ffee'
const hash = keccak256(raw)

/** Nodes of one mempool: what one takes all know. */
function mempool() {
  const taken = new Set<string>()
  const sends: string[] = []
  const node = async (name: string, deliver: 'well' | 'cut' | 'busy at first' | NodeAnswer | number) => {
    const behaviour: NodeBehaviour = {
      call: plainNode(
        () => 9,
        ({ method, params: [first] }) => {
          if (method === 'eth_getTransactionByHash')
            return { result: taken.has(String(first)) ? { hash: first, blockNumber: null } : null }
          if (method === 'eth_getTransactionReceipt')
            return {
              result: taken.has(String(first)) ? { transactionHash: first, blockNumber: '0x9' } : null,
            }
          if (!method.startsWith('eth_sendRaw')) return undefined
          sends.push(name)
          if (typeof deliver === 'object') return deliver
          taken.add(keccak256(first as `0x${string}`))
          return { result: keccak256(first as `0x${string}`) }
        },
      ),
      request: (calls, response) => {
        const { method, params }: { method?: string; params?: readonly `0x${string}`[] } = Object(calls)
        if (!method?.startsWith('eth_sendRaw') || deliver === 'well' || typeof deliver === 'object')
          return false
        if (deliver === 'busy at first' && sends.includes(name)) return false
        sends.push(name)
        if (typeof deliver === 'number') response.writeHead(deliver).end('<html>')
        else if (deliver === 'busy at first') response.writeHead(429).end('slow down')
        else {
          taken.add(keccak256(params?.[0] ?? '0x'))
          response.destroy()
        }
        return true
      },
    }
    return (await startedNode(behaviour)).url
  }
  return { node, sends, taken }
}

test('a send that is cut off after delivery is one transaction, and success is told', async () => {
  const { node, sends } = mempool()
  const api = await door({ urls: [await node('a', 'cut'), await node('b', 'cut')] })
  expect(await api.call('eth_sendRawTransaction', raw)).toEqual({ jsonrpc: '2.0', id: 1, result: hash })
  expect(sends).toHaveLength(1)
})

test('the same for eth_sendRawTransactionSync, which answers with the receipt', async () => {
  const { node, sends } = mempool()
  const api = await door({ urls: [await node('a', 'cut'), await node('b', 'cut')] })
  expect((await api.call('eth_sendRawTransactionSync', raw)).result).toEqual({
    transactionHash: hash,
    blockNumber: '0x9',
  })
  expect(sends).toHaveLength(1)
})

test.each(['already known', 'nonce too low', 'ALREADY_EXISTS: already known'])(
  'of a transaction that is there, `%s` is success; of another it is the error, with the hash',
  async (message) => {
    const { node, sends, taken } = mempool()
    const api = await door({ urls: [await node('a', { error: { code: -32000, message } })] })
    expect((await api.call('eth_sendRawTransaction', raw)).error).toEqual({
      code: -32000,
      message,
      data: { transactionHash: hash },
    })
    taken.add(hash)
    expect((await api.call('eth_sendRawTransaction', raw)).result).toBe(hash)
    expect(sends).toHaveLength(2)
  },
)

test('where nobody knows what became of it, the error names the hash and no provider', async () => {
  const { node, sends } = mempool()
  const api = await door({ urls: [await node('a', 503), await node('b', 503)] })
  expect((await api.call('eth_sendRawTransaction', raw)).error).toEqual({
    code: -32603,
    message: 'internal error: no node answered',
    data: { transactionHash: hash },
  })
  expect(sends).toHaveLength(1)
})

test("a node's refusal passes unchanged; what was not sent goes to the next node", async () => {
  const refusal = { error: { code: -32000, message: 'insufficient funds' } }
  const { node, sends } = mempool()
  const refusing = await door({ urls: [await node('a', refusal), await node('b', 'well')] })
  expect((await refusing.call('eth_sendRawTransaction', raw)).error).toEqual(refusal.error)
  const limited = await door({ urls: [await node('c', 429), await node('d', 'well')] })
  expect((await limited.call('eth_sendRawTransaction', raw)).result).toBe(hash)
  const away = await door({ urls: ['http://127.0.0.1:9', await node('e', 'well')] })
  expect((await away.call('eth_sendRawTransaction', raw)).result).toBe(hash)
  expect(sends).toEqual(['a', 'c', 'd', 'e'])
})

test('a method that a node lacks goes to the next, and is -32601 as any other where none has it', async () => {
  const missing = { error: { code: -32601, message: 'Method not found' } }
  const { node, sends } = mempool()
  const none = await door({ urls: [await node('a', missing), await node('b', missing)] })
  for (const method of ['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])
    expect((await none.call(method, raw)).error).toEqual(missing.error)
  expect((await none.call('eth_sendRawTransactionLater', raw)).error.code).toBe(-32601)
  const one = await door({ urls: [await node('c', missing), await node('d', 'well')] })
  expect((await one.call('eth_sendRawTransaction', raw)).result).toBe(hash)
  expect(sends.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'd'])
})

test('what no node took goes round again, and is told as failed only where none takes it', async () => {
  const { node, sends } = mempool()
  const busy = await door({ urls: [await node('a', 'busy at first'), await node('b', 'busy at first')] })
  expect((await busy.call('eth_sendRawTransaction', raw)).result).toBe(hash)
  expect(sends.toSorted()).toEqual(['a', 'a', 'b'])
  const never = await door({ urls: [await node('c', 429)] })
  const { status, text } = await never.send(
    `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${raw}"]}`,
  )
  expect([status, JSON.parse(text).error.code]).toEqual([502, 'upstream_error'])
})

test('what is no transaction is the mistake of its caller, and is not sent', async () => {
  const { node, sends } = mempool()
  const api = await door({ urls: [await node('a', 'well')] })
  for (const params of [[], ['0x'], ['0x1'], [5], ['76']])
    expect((await api.call('eth_sendRawTransaction', ...params)).error.code).toBe(-32602)
  expect(sends).toEqual([])
})
