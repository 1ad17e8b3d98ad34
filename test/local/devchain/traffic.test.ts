// Goal: traffic of the dev chain shows every event, envelope and signature, and goes on after a
// reorg.
import { rm } from 'node:fs/promises'
import { createClient, encodeFunctionData, http, toEventSelector } from 'viem'
import { sendTransaction } from 'viem/actions'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseBlock, parseReceipts } from '#ingest/read/block.ts'
import { detectHeaderRule } from '#ingest/verify/parts/header.ts'
import { verifyBlock } from '#ingest/verify/verifyBlock.ts'
import { DevRpc, field, hexQuantity, textField } from '#local/devchain/DevRpc.ts'
import { type DevChain, startDevChain } from '#local/devchain/node.ts'
import { startTraffic, type Traffic } from '#local/devchain/traffic.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import { clock, reorg, temporaryFolder } from '#test/support/devchain.ts'
import { accountOf, balanceOf, PATH_USD } from '../../payments/support/shop.ts'
import { fullTest, onceDescribe, onceTest } from '../../support/breadth.ts'
import { scanned } from '../../support/scanned.ts'
import { events, listIn, listOf, missingFrom, wrappings, wrappingsOf } from './support/shownByTraffic.ts'

const pace = { blockMs: 100, transactionsPerSecond: 30 }
/** Less than a test may take, so that what is missing is told. */
const patienceMs = 240_000

let dataDir: string
let chain: DevChain
let traffic: Traffic
let end: AbortController
/** Told when the traffic has come to its pause between two blocks, which lasts until `over`. */
let held: { readonly reached: () => void; readonly over: Promise<void> } | undefined
const warnings: string[] = []
const log: Logger = { ...silentLogger, warn: (_, text) => warnings.push(text) }

beforeAll(async () => {
  dataDir = await temporaryFolder()
  await start()
})

afterAll(async () => {
  await stop()
  await rm(dataDir, { recursive: true, force: true })
})

describe('traffic', () => {
  test('shows every event, envelope and signature within two decks', async () => {
    const seen = await watchFrom(0)
    expect(missingFrom(seen, [masterRegistered, ...wanted])).toEqual([])
  })

  onceTest('is proved block by block by our own rules', async () => {
    const rpc = new DevRpc(chain.rpcUrl)
    const head = await rpc.quantity('eth_blockNumber')
    const proofs = new Set<string>()
    for (let number = 0; number <= head; number++) proofs.add(JSON.stringify(await prove(rpc, number)))
    expect([...proofs]).toEqual([JSON.stringify(proved)])
  })

  onceTest('goes on after a reorg, on the blocks that replaced the old ones', async () => {
    const rpc = new DevRpc(chain.rpcUrl)
    const head = await rpc.quantity('eth_blockNumber')
    const old = await hashAt(rpc, head - 5)
    await betweenBlocks(() => reorg(chain.rpcUrl, 20))
    expect(await hashAt(rpc, head - 5)).not.toBe(old)
    const seen = await watchFrom(head + 1, ['0x76'])
    expect(missingFrom(seen, ['0x76'])).toEqual([])
    await assertLinked(rpc, head - 25, head + 2)
  })

  fullTest('after a restart shows everything again on the same chain', async () => {
    const { generation } = chain
    await stop()
    await start()
    expect(chain).toMatchObject({ fresh: false, generation })
    const resumed = await new DevRpc(chain.rpcUrl).quantity('eth_blockNumber')
    const seen = await watchFrom(resumed + 1)
    expect(missingFrom(seen, wanted)).toEqual([])
    expect(warnings).toEqual([])
  })

  onceTest('pins the base fee and lets blocks of one second share their timestamp', async () => {
    const rpc = new DevRpc(chain.rpcUrl)
    const head = await rpc.quantity('eth_blockNumber')
    const blocks = await readBlocks(rpc, 1, Math.min(head, 100))
    expect(new Set(blocks.map((block) => textField(block, 'baseFeePerGas')))).toEqual(
      new Set(['0x4a817c800']),
    )
    const times = blocks.map((block) => Number(textField(block, 'timestamp')))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(new Set(times).size).toBeLessThan(times.length)
  })
})

onceDescribe('traffic that is in trouble', () => {
  // Between two blocks no call of the traffic fails, so that it has to see the difference.
  test.each([
    ['at any moment', (work: () => Promise<void>) => work()],
    ['between two blocks', betweenBlocks],
  ])('begins again on the chain that takes the place of one that was killed %s', async (_, at) => {
    const { port } = new URL(chain.rpcUrl)
    await at(async () => {
      process.kill(chain.pid, 'SIGKILL')
      chain = await startDevChain({ dataDir, port: Number(port), log, clock })
    })
    expect(chain.fresh).toBe(true)
    const seen = await watchFrom(0, [masterRegistered, '0x2'])
    expect(missingFrom(seen, [masterRegistered, '0x2'])).toEqual([])
  })

  test('stops filling a chain that is at its cap', async () => {
    await stop()
    warnings.length = 0
    await start(1)
    await expect.poll(() => warnings).toEqual([expect.stringContaining('FULL')])
    const rpc = new DevRpc(chain.rpcUrl)
    const head = await rpc.quantity('eth_blockNumber')
    await clock.sleep(pace.blockMs * 5)
    expect(await rpc.quantity('eth_blockNumber')).toBeLessThanOrEqual(head + 1)
    // Others' transactions are mined all the same: payments end within half a minute.
    const client = createClient({
      account: accountOf(2),
      chain: { ...tempo, id: chain.chainId },
      transport: http(chain.rpcUrl),
    })
    const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [gifted, 1n] })
    const hash = await sendTransaction(client, { calls: [{ to: PATH_USD, data }], nonceKey: 'expiring' })
    await expect.poll(() => rpc.call('eth_getTransactionReceipt', hash)).not.toBeNull()
  })

  test('gives money to accounts of the operator', async () => {
    expect(await balanceOf(chain.rpcUrl, PATH_USD, gifted)).toBeGreaterThanOrEqual(1_000_000_000n)
  })
})

const gifted = `0x${'77'.repeat(20)}` as const
const masterRegistered = toEventSelector('MasterRegistered(bytes4,address)')
const wanted = [...events.map((event) => toEventSelector(event)), ...wrappings]

async function start(blocksMax = 100_000): Promise<void> {
  chain = await startDevChain({ dataDir, log, clock })
  end = new AbortController()
  const { rpcUrl, chainId } = chain
  const { signal } = end
  const pausing = { ...clock, sleep: pause }
  traffic = startTraffic({
    rpcUrl,
    chainId,
    seed: 'test',
    log,
    clock: pausing,
    signal,
    blocksMax,
    gifts: [gifted],
    ...pace,
  })
  await traffic.settled
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal)
  held?.reached()
  await held?.over
}

/** Anvil leaves a hole of all replaced heights when a reorg meets a block that is being mined. */
async function betweenBlocks(work: () => Promise<void>): Promise<void> {
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  held = { reached: reached.resolve, over: over.promise }
  await reached.promise
  await work().finally(over.resolve)
  held = undefined
}

async function stop(): Promise<void> {
  end.abort()
  await traffic.done
  await chain.stop()
}

/** Reads blocks as they come until everything wanted was seen, or patience ends. */
async function watchFrom(first: number, until: readonly string[] = wanted): Promise<Set<string>> {
  const rpc = new DevRpc(chain.rpcUrl)
  const seen = new Set<string>()
  const deadline = clock.monotonic() + patienceMs
  for (let next = first; missingFrom(seen, until).length > 0 && clock.monotonic() < deadline; ) {
    const head = await rpc.quantity('eth_blockNumber')
    for (; next <= head; next++) await look(rpc, next, seen)
    await clock.sleep(pace.blockMs)
  }
  return seen
}

async function look(rpc: DevRpc, number: number, seen: Set<string>): Promise<void> {
  const [block] = await readBlocks(rpc, number, number)
  for (const transaction of listIn(block, 'transactions')) {
    for (const wrapping of wrappingsOf(transaction)) seen.add(wrapping)
  }
  for (const receipt of listOf(await rpc.call('eth_getBlockReceipts', hexQuantity(number)))) {
    if (field(receipt, 'status') === '0x0') seen.add('reverted')
    if (field(receipt, 'contractAddress')) seen.add('creation')
    for (const log of listIn(receipt, 'logs')) seen.add(String(listIn(log, 'topics')[0]))
  }
}

const proved = { header: 'proved', transactionsRoot: 'proved', receiptsRoot: 'proved', bloom: 'proved' }

async function prove(rpc: DevRpc, number: number): Promise<object> {
  const [answer] = await readBlocks(rpc, number, number)
  const block = parseBlock(answer)
  const receipts = parseReceipts(await rpc.call('eth_getBlockReceipts', hexQuantity(number)), block)
  const { header, transactionsRoot, receiptsRoot, bloom, unprovableTxs } = verifyBlock(
    block,
    scanned(receipts),
    {
      headerRule: detectHeaderRule(block),
      checks: 'roots',
    },
  )
  return { header, transactionsRoot, receiptsRoot, bloom, ...(unprovableTxs > 0 && { unprovableTxs }) }
}

async function assertLinked(rpc: DevRpc, from: number, to: number): Promise<void> {
  const blocks = await readBlocks(rpc, from, to)
  const hashes = blocks.map((block) => textField(block, 'hash'))
  expect(blocks.slice(1).map((block) => textField(block, 'parentHash'))).toEqual(hashes.slice(0, -1))
}

async function hashAt(rpc: DevRpc, number: number): Promise<string> {
  const [block] = await readBlocks(rpc, number, number)
  return textField(block, 'hash')
}

async function readBlocks(rpc: DevRpc, from: number, to: number): Promise<unknown[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const answers = await rpc.batch(
    numbers.map((number) => ['eth_getBlockByNumber', hexQuantity(number), true]),
  )
  return answers.map((answer) => ('result' in answer ? answer.result : answer.error))
}
