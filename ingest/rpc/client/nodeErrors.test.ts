import { expect, test } from 'vitest'
import type { RpcFailure } from './errors.ts'
import { classifyNodeError, readNodeError } from './nodeErrors.ts'

// Texts as the vendors send them, collected from their documentation and issue trackers.
const seen: readonly (readonly [string, number, string, RpcFailure])[] = [
  ['geth', -32601, 'the method eth_getBlockReceipts does not exist/is not available', 'method_missing'],
  ['geth', -32003, 'response too large', 'too_large'],
  ['geth', -32600, 'batch too large', 'batch_refused'],
  ['geth', -32002, 'request timed out', 'timed_out'],
  ['geth', 4444, 'pruned history unavailable', 'pruned'],
  ['geth', -32000, 'missing trie node 3ac1 (path 0102) state is not available', 'pruned'],
  ['geth', -32000, 'header not found', 'block_missing'],
  ['geth', -32000, 'unknown block', 'block_missing'],
  ['reth', -32602, 'query exceeds max block range 100000', 'too_large'],
  ['reth', -32602, 'query exceeds max results 20000, retry with the range 17000000-17000500', 'too_large'],
  ['reth', -32008, 'Response is too big', 'too_large'],
  ['reth', -32005, 'Batched requests are not supported by this server', 'batch_refused'],
  ['reth', -32010, 'The batch request was too large', 'batch_refused'],
  [
    'erigon',
    -32000,
    'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 200',
    'batch_refused',
  ],
  ['erigon', -32000, 'old data not available due to pruning', 'pruned'],
  ['nethermind', -32000, 'No historical state available for block 100', 'pruned'],
  ['nethermind', -32001, 'Cannot find header for block 100', 'block_missing'],
  ['anvil', -32602, 'BlockOutOfRangeError: block height is 10 but requested was 20', 'block_missing'],
  ['besu', -32000, 'Requested range exceeds maximum range limit', 'too_large'],
  [
    'alchemy',
    -32602,
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
    'too_large',
  ],
  ['alchemy', 429, 'Your app has exceeded its compute units per second capacity.', 'rate_limited'],
  ['alchemy', -32600, 'Must be authenticated!', 'unauthorized'],
  [
    'infura',
    -32005,
    'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
    'too_large',
  ],
  ['infura', -32005, 'daily request count exceeded, request rate limited', 'rate_limited'],
  ['infura', -32029, 'Too Many Requests', 'rate_limited'],
  ['quicknode', -32007, '50/second request limit reached - reduce calls per second', 'rate_limited'],
  ['quicknode', -32614, 'eth_getLogs is limited to a 10,000 range', 'too_large'],
  ['ankr', -32600, 'block range is too wide', 'too_large'],
  ['ankr', -32000, 'Unauthorized: You must authenticate your request with an API key', 'unauthorized'],
  ['avalanche', -32000, 'requested too many blocks from 0 to 16777216, maximum is set to 2048', 'too_large'],
  ['bsc', -32000, 'exceed maximum block range: 5000', 'too_large'],
  [
    'cloudflare',
    -32047,
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    'too_large',
  ],
  ['publicnode', -32701, 'exceed maximum block range: 50000', 'too_large'],
  ['drpc', 35, 'ranges over 10000 blocks are not supported on freetier', 'too_large'],
  ['1rpc', -32000, 'eth_getLogs is limited to 0 - 10000 blocks range', 'too_large'],
  ['proxyd', -32020, 'backend response too large', 'too_large'],
  ['proxyd', -32016, 'over rate limit', 'rate_limited'],
  [
    'zksync',
    -32602,
    'Query returned more than 10000 results. Try with this block range [0x1, 0x10].',
    'too_large',
  ],
  ['thirdweb', -32602, 'Maximum allowed number of requested blocks is 1000', 'too_large'],
  ['blast', -32000, 'block range limit exceeded', 'too_large'],
  ['any gateway', -32603, 'no healthy upstream', 'overloaded'],
  ['any node', -32005, 'limit exceeded', 'rate_limited'],
  ['any node', -32603, 'internal error', 'node_error'],
  ['any node', -32000, 'execution reverted', 'node_error'],
  // The contract's words follow the node's, and may say anything.
  ['older geth', -32000, 'execution reverted: rate limit exceeded', 'node_error'],
  ['besu', -32000, 'Execution reverted (missing trie node)', 'node_error'],
  ['nethermind', -32015, 'VM execution error: Reverted header not found', 'node_error'],
  ['ethermint', -32000, 'rpc error: code = Internal desc = execution reverted: unauthorized', 'node_error'],
  [
    'hardhat',
    -32603,
    "Error: VM Exception while processing transaction: reverted with reason string 'try again'",
    'node_error',
  ],
  ['lotus', -32000, 'message execution failed (exit=[33], revert reason=[request timeout])', 'node_error'],
]

test.each(seen)('%s: %i "%s" is %s', (_vendor, code, message, failure) => {
  expect(classifyNodeError({ code, message })).toBe(failure)
})

test('an error of odd shape is still an error', () => {
  expect(readNodeError('boom')).toEqual({ code: 0, message: '"boom"' })
  expect(readNodeError({ code: '12', message: 5 }).code).toBe(0)
  expect(readNodeError(undefined).message).toBe('null')
})
