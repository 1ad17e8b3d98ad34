// Goal: clients work unmodified on /rpc (API-13), also while two of three nodes fail in turns.
// Method: the program over three nodes in front of one dev chain; viem, ethers and cast as their
// users write them: read, fill, sign, send, wait, watch by filter, decode a revert.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Contract, isError, JsonRpcProvider, Wallet } from 'ethers'
import {
  BaseError,
  ContractFunctionRevertedError,
  createClient,
  encodeFunctionData,
  http,
  parseAbiItem,
  publicActions,
  toHex,
  walletActions,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { castBinary } from '../../support/cast.ts'
import { mineBlocks, startTestDevChain } from '../../support/devchain.ts'
import { type FailingNode, startFailingNode } from '../support/failingNode.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const dataDir = freshDataDir()
const token = '0x20c0000000000000000000000000000000000000'
const to = '0x00000000000000000000000000000000000000aa'
/** Accounts of the dev chain: rich, one for each client. */
const accountOf = (addressIndex: number) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })
const keyOf = (index: number) => toHex(accountOf(index).getHdKey().privateKey ?? new Uint8Array())
const BLOCK_MS = 500
/** Two of three nodes fail until the third has answered as many calls, however slow the machine is. */
const TURN_CALLS = 20

let chain: Awaited<ReturnType<typeof startTestDevChain>>
let nodes: FailingNode[]
let program: RunningMillrace
let url: string
let mining: ReturnType<typeof setInterval>
let answered = () => {}
beforeAll(async () => {
  chain = await startTestDevChain()
  mining = setInterval(() => void mineBlocks(chain.rpcUrl, 1).catch(() => {}), BLOCK_MS)
  nodes = await Promise.all([1, 2, 3].map(() => startFailingNode(chain.rpcUrl, () => answered())))
  program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: nodes.map((node) => node.url).join(',') })
  url = `${program.origin}/rpc/4217`
})
afterAll(async () => {
  clearInterval(mining)
  await program?.stop()
  dataDir.remove()
  await Promise.all((nodes ?? []).map((node) => node.close()))
  await chain?.remove()
})

describe('while all nodes are well', () => {
  test('viem', () => viemFlow(11n))
  test('ethers', () => ethersFlow(12n))
  test('cast', () => castFlow(13n))
})

describe('while two of three nodes fail in turns', () => {
  beforeAll(() => {
    let calls = 0
    const turn = () => {
      for (const [index, node] of nodes.entries()) node.fails = index !== (calls / TURN_CALLS) % nodes.length
    }
    answered = () => {
      if (++calls % TURN_CALLS === 0) turn()
    }
    turn()
  })
  afterAll(() => {
    answered = () => {}
    for (const node of nodes) node.fails = false
  })
  test('viem', () => viemFlow(21n))
  test('ethers', () => ethersFlow(22n))
  test('cast', () => castFlow(23n))
})

async function viemFlow(amount: bigint): Promise<void> {
  const account = accountOf(9)
  const transport = http(url, { batch: true })
  const client = createClient({ chain: tempo, transport, account, pollingInterval: 200 })
    .extend(publicActions)
    .extend(walletActions)
  expect(await client.getChainId()).toBe(4217)
  const [number, block] = await Promise.all([client.getBlockNumber({ cacheTime: 0 }), client.getBlock()])
  expect(block.number).toBeGreaterThanOrEqual(number)

  const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)')
  const wanted = { address: token, event: transfer, args: { from: account.address, to } } as const
  const filter = await client.createEventFilter(wanted)
  const watched: unknown[] = []
  const unwatch = client.watchEvent({ ...wanted, onLogs: (logs) => watched.push(...logs) })
  const call = { address: token, abi: Abis.tip20, functionName: 'transfer' } as const
  await client.simulateContract({ ...call, args: [to, amount], account })
  // Filled by the node, as a transaction of Tempo's own type.
  const data = encodeFunctionData({ ...call, args: [to, amount] })
  const filled = await client.prepareTransactionRequest({ calls: [{ to: token, data }], feeToken: token })
  expect([filled.type, filled.gas > 0n]).toEqual(['tempo', true])
  const serializedTransaction = await client.signTransaction(filled)
  expect(serializedTransaction.startsWith('0x76')).toBe(true)
  const hash = await client.sendRawTransaction({ serializedTransaction })
  const receipt = await client.waitForTransactionReceipt({ hash })
  expect(receipt.status).toBe('success')
  // The block that a receipt names is there for the next call, whoever answers it.
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(receipt.blockNumber)
  await blockIndexed(program, Number(receipt.blockNumber))
  await expect.poll(() => watched.length).toBe(1)
  unwatch()
  const logs = await client.getFilterChanges({ filter })
  expect(logs.map(({ transactionHash, args }) => [transactionHash, args.amount])).toEqual([[hash, amount]])
  expect(await client.getFilterChanges({ filter })).toEqual([])
  const range = { fromBlock: receipt.blockNumber, toBlock: receipt.blockNumber }
  expect(await client.getLogs({ ...wanted, ...range })).toEqual(logs)
  expect(await client.uninstallFilter({ filter })).toBe(true)

  const tooMuch = client.simulateContract({ ...call, args: [to, 2n ** 127n], account })
  const error = await tooMuch.then(
    () => null,
    (cause: unknown) => cause,
  )
  const revert =
    error instanceof BaseError ? error.walk((cause) => cause instanceof ContractFunctionRevertedError) : null
  expect(revert instanceof ContractFunctionRevertedError && revert.data?.errorName).toBe(
    'InsufficientBalance',
  )
}

async function ethersFlow(amount: bigint): Promise<void> {
  const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 200, cacheTimeout: -1 })
  try {
    const wallet = new Wallet(keyOf(8), provider)
    const contract = new Contract(
      token,
      [
        'event Transfer(address indexed from, address indexed to, uint256 amount)',
        'error InsufficientBalance(uint256 available, uint256 required, address token)',
        'function transfer(address to, uint256 amount) returns (bool)',
        'function balanceOf(address) view returns (uint256)',
      ],
      wallet,
    )
    expect((await provider.getNetwork()).chainId).toBe(4217n)
    const number = await provider.getBlockNumber()
    expect((await provider.getBlock('latest'))?.number).toBeGreaterThanOrEqual(number)
    const before: bigint = await contract.getFunction('balanceOf')(to)
    const watched: unknown[] = []
    const filter = contract.filters['Transfer']?.(wallet.address, to)
    if (!filter) throw new Error('no such event')
    await contract.on(filter, (event: { log: { transactionHash: string } }) =>
      watched.push(event.log.transactionHash),
    )
    const sent = await contract.getFunction('transfer')(to, amount)
    const receipt = await sent.wait()
    expect(receipt.status).toBe(1)
    expect(await contract.getFunction('balanceOf')(to)).toBe(before + amount)
    await blockIndexed(program, receipt.blockNumber)
    await expect.poll(() => watched).toEqual([sent.hash])
    await contract.removeAllListeners()
    const found = await contract.queryFilter(filter, receipt.blockNumber, receipt.blockNumber)
    expect(found.map(({ transactionHash }) => transactionHash)).toEqual([sent.hash])
    const reverted: unknown = await contract
      .getFunction('transfer')
      .staticCall(to, 2n ** 127n)
      .catch((cause: unknown) => cause)
    expect(isError(reverted, 'CALL_EXCEPTION') && reverted.revert?.name).toBe('InsufficientBalance')
  } finally {
    provider.destroy()
  }
}

async function cast(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(castBinary, [...args, '--rpc-url', url])
  return stdout.trim()
}

async function castFlow(amount: bigint): Promise<void> {
  expect(await cast('chain-id')).toBe('4217')
  const number = Number(await cast('block-number'))
  expect(Number(await cast('block', 'latest', '--field', 'number'))).toBeGreaterThanOrEqual(number)
  const balance = async () =>
    BigInt((await cast('call', token, 'balanceOf(address)(uint256)', to)).split(' ')[0] ?? '')
  const before = await balance()
  const send = ['send', token, 'transfer(address,uint256)', to, String(amount), '--private-key', keyOf(7)]
  // One of Ethereum's newest type, and one of Tempo's own.
  const plain = JSON.parse(await cast(...send, '--json'))
  const own = JSON.parse(await cast(...send, '--json', '--tempo.fee-token', token))
  expect([plain.status, plain.type, own.status, own.type]).toEqual(['0x1', '0x2', '0x1', '0x76'])
  expect(await balance()).toBe(before + 2n * amount)
  const { blockNumber, transactionHash } = own
  expect(JSON.parse(await cast('receipt', transactionHash, '--json')).blockHash).toBe(own.blockHash)
  const at = ['--from-block', blockNumber, '--to-block', blockNumber, '--address', token]
  const logs: { transactionHash: string }[] = JSON.parse(
    await cast(
      'logs',
      ...at,
      'Transfer(address indexed,address indexed,uint256)',
      accountOf(7).address,
      to,
      '--json',
    ),
  )
  expect(logs.map((log) => log.transactionHash)).toEqual([transactionHash])
  const tooMuch = [
    'call',
    token,
    'transfer(address,uint256)',
    to,
    String(2n ** 127n),
    '--from',
    accountOf(7).address,
  ]
  await expect(cast(...tooMuch)).rejects.toThrow(/0x832f98b5/)
}
