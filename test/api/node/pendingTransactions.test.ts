// Goal: a transaction is served from the moment the node has it, through its block, and a lost node
// is told from a lost transaction. Method: a real dev chain that mines when told to, behind the
// API's own reader of nodes.
import { encodeFunctionData } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOOK_UPS_PER_CALLER_MAX } from '#api/node/NodeLookUps.ts'
import { CONTRACT_CALLS_MAX, CONTRACT_CALLS_PER_CALLER_MAX, nodeReader } from '#api/node/nodeReader.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { address, hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { mineBlocks, startTestDevChain } from '../../support/devchain.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { endlessCalls } from '../support/silentNode.ts'

const token = '0x20c0000000000000000000000000000000000000'
const template = '/v1/transactions/{transactionHash}'

describe('a transaction that is in no block of ours', () => {
  let devChain: Awaited<ReturnType<typeof startTestDevChain>>
  let source: RpcSource
  let rpc: DevRpc
  let api: ChainApi
  let check: ResponseCheck
  beforeAll(async () => {
    devChain = await startTestDevChain()
    rpc = new DevRpc(devChain.rpcUrl)
    source = createSource({
      chainId: devChain.chainId,
      urls: [devChain.rpcUrl],
      finalityDepth: 4,
      runtime: systemRuntime(),
      log: silentLogger,
    })
    api = await openChainApi({ node: nodeReader(source, systemRuntime().clock, endlessCalls) })
    check = await responseCheck(api)
  })
  afterAll(async () => {
    await api.close()
    await source.close()
    await devChain.remove()
  })

  async function send(): Promise<string> {
    const [from, to] = (await rpc.call('eth_accounts')) as [`0x${string}`, `0x${string}`]
    const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to, 7n] })
    return String(await rpc.call('eth_sendTransaction', { from, to: token, data, gas: '0x7a120' }))
  }

  test('comes from the node: pending without a place, then with its block and receipt', async () => {
    const hash = await send()
    const pending = await api.get(`/v1/transactions/${hash}?include=receipt,feeToken`)
    expect(check(template, pending)).toEqual([])
    expect(pending.body).toMatchObject({
      hash,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
      timestamp: null,
      recipient: token,
    })
    expect(pending.body.meta.rpc).toEqual(await rpc.call('eth_getTransactionByHash', hash))
    expect(pending.headers.get('cache-control')).toBe('no-store')
    expect(pending.headers.get('svc-source')).toBe('node')
    for (const path of [`/v1/receipts/${hash}`, `/v1/transactions/${hash}/receipt`]) {
      const { status, body, headers } = await api.get(path)
      expect([status, body.error.code]).toEqual([404, 'receipt_not_found'])
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect((await api.get(`/v1/transactions/${hash}/activities`)).body.error.code).toBe(
      'transaction_not_found',
    )

    await mineBlocks(devChain.rpcUrl, 1)
    const receipt = (await rpc.call('eth_getTransactionReceipt', hash)) as Record<string, string>
    const mined = await api.get(`/v1/transactions/${hash}`)
    expect(check(template, mined)).toEqual([])
    expect(mined.body).toMatchObject({
      blockHash: receipt['blockHash'],
      blockNumber: Number(receipt['blockNumber']),
      transactionIndex: 0,
    })
    expect(mined.headers.get('cache-control')).toBe('no-store')
    const found = await api.get(`/v1/receipts/${hash}`)
    expect(check('/v1/receipts/{transaction}', found)).toEqual([])
    expect(found.body).toMatchObject({ transactionHash: hash, status: 'succeeded', meta: { rpc: receipt } })
  })

  test('made-up hashes cost a bounded number of calls a second (C1)', async () => {
    let calls = 0
    const still = { ...systemRuntime().clock, monotonic: () => 0 }
    const reader = nodeReader({ ...source, call: async () => void calls++ }, still, endlessCalls)
    const answers = await Promise.allSettled(
      Array.from({ length: 400 }, (_, index) => {
        const made = hash(`0x${index.toString(16).padStart(64, '0')}`)
        const { signal } = new AbortController()
        return reader[index % 2 === 0 ? 'transaction' : 'receipt'](made, `party ${index % 8}`, signal)
      }),
    )
    expect(calls).toBe(2 * 4 * LOOK_UPS_PER_CALLER_MAX)
    const refused = answers.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(400 - calls)
    expect(refused[0]).toMatchObject({ reason: { code: 'overloaded' } })
  })

  test('so do questions to contracts, while our own answers are not ready (C1)', async () => {
    let calls = 0
    const clock = { ...systemRuntime().clock, monotonic: () => 0 }
    const callAll: RpcSource['callAll'] = async (asked) => {
      calls += asked.length
      return asked.map(() => null)
    }
    const reader = nodeReader({ ...source, callAll }, clock, endlessCalls)
    const holder = address(`0x${'56'.repeat(20)}`)
    const { signal } = new AbortController()
    const askAll = async (party: string) => {
      const before = calls
      const answers = await Promise.allSettled(
        Array.from({ length: 50 }, () => reader.balances(holder, Array(100).fill(holder), party, signal)),
      )
      const refused = answers.find(({ status }) => status === 'rejected')
      expect(refused).toMatchObject({ reason: { code: 'overloaded' } })
      return calls - before
    }
    expect(await askAll('greedy')).toBe(CONTRACT_CALLS_PER_CALLER_MAX)
    expect(await askAll('another')).toBe(CONTRACT_CALLS_PER_CALLER_MAX)
    expect(await askAll('a third')).toBe(0)
    expect(calls).toBe(CONTRACT_CALLS_MAX)
  })

  test('is not what the node says of another hash', async () => {
    const asked = hash(await send())
    const other = hash(`0x${'34'.repeat(32)}`)
    const confused = nodeReader(
      { ...source, call: (method, _params, signal) => source.call(method, [asked], signal) },
      systemRuntime().clock,
      endlessCalls,
    )
    const { signal } = new AbortController()
    expect(await confused.transaction(asked, 'party', signal)).toMatchObject({ hash: asked })
    expect(await confused.transaction(other, 'party', signal)).toBeNull()
    await mineBlocks(devChain.rpcUrl, 1)
    expect(await confused.receipt(asked, 'party', signal)).toMatchObject({ transactionHash: asked })
    expect(await confused.receipt(other, 'party', signal)).toBeNull()
  })

  test('is not found where the node knows none, and an outage is no answer', async () => {
    const absent = `0x${'12'.repeat(32)}`
    expect((await api.get(`/v1/transactions/${absent}`)).body.error.code).toBe('transaction_not_found')
    await devChain.stop()
    const { status, body } = await api.get(`/v1/transactions/${absent}`)
    expect([status, body.error.code]).toEqual([502, 'upstream_error'])
    expect(JSON.stringify(body)).not.toContain('127.0.0.1')
  })
})
