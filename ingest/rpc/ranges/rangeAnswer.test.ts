import { expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { RpcClient } from '../client/client.ts'
import { parseEndpointUrl } from '../client/endpointUrl.ts'
import { assertRangeAnswer, rangeBody } from './rangeAnswer.ts'

const client = new RpcClient(parseEndpointUrl('http://127.0.0.1:1'), systemRuntime().clock, 1)
const bytes = (text: string) => new TextEncoder().encode(text)

test('a range asks for each block and its receipts with the ids of RawRange', () => {
  const calls: { id: number; method: string; params: unknown[] }[] = JSON.parse(
    rangeBody({ from: 9, to: 10 }),
  )
  expect(calls.map(({ id, method, params }) => [id, method, params])).toEqual([
    [0, 'eth_getBlockByNumber', ['0x9', true]],
    [1, 'eth_getBlockReceipts', ['0x9']],
    [2, 'eth_getBlockByNumber', ['0xa', true]],
    [3, 'eth_getBlockReceipts', ['0xa']],
  ])
})

test.each([
  ['[{"id":0,"result":{}}]'],
  [' \n[{"id":0,"result":{}}]\n'],
  ['[{"id":0,"error":null,"result":{}}]'],
  ['[{"jsonrpc":"2.0","id":0,"result":{}},{"jsonrpc":"2.0","id":1,"result":[]}]'],
  ['[{"jsonrpc":"2.0","id":0,"result":{"a":"}"}},{"id":1,"jsonrpc":"2.0","result":[]}]'],
  ['[{"id":0,"result":{"extra":"\\"error\\":\\"result\\":null"}}]'],
])('%s passes on to the workers', (text) => {
  expect(() => assertRangeAnswer(bytes(text), { from: 7, to: 7 }, client)).not.toThrow()
})

test.each([
  ['', 'malformed'],
  ['<html>busy</html>', 'malformed'],
  ['[{"id":0,"result":{}}', 'malformed'],
  ['{"id":null,"error":{"code":-32600,"message":"invalid request"}}', 'batch_refused'],
  ['{"id":null,"error":{"code":-32005,"message":"limit exceeded"}}', 'rate_limited'],
  ['{"id":1,"result":{}}', 'node_error'],
  ['[{"id":0,"result":null}]', 'block_missing'],
  ['[{"id":0,"result": null}]', 'block_missing'],
  ['[{"jsonrpc":"2.0","id":0,"result":null}]', 'block_missing'],
  ['[{"jsonrpc":"2.0","id":0,"result":{}},{"jsonrpc":"2.0","id":1,"result":null}]', 'block_missing'],
  [
    '[{"jsonrpc":"2.0","id":0,"result":{}},{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}]',
    'rate_limited',
  ],
  [
    '[{"jsonrpc":"2.0","id":0,"result":{}},{"id":1,"error":{"code":-32601,"message":"no such method"}}]',
    'method_missing',
  ],
  ['[{"jsonrpc":"2.0","id":', 'malformed'],
  ['[{"id":0,"error":{"code":-32601,"message":"no such method"}}]', 'method_missing'],
  [
    '[{"id":0,"error":{"code":-32000,"message":"header not found"}},{"id":1,"error":{"code":-32008,"message":"too big"}}]',
    'too_large',
  ],
])('%s is %s', (text, failure) => {
  expect(() => assertRangeAnswer(bytes(text), { from: 7, to: 7 }, client)).toThrow(
    expect.objectContaining({ failure }),
  )
})
