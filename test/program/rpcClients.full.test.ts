// Goal: a client library works unmodified on /rpc. Method: the program on a chain of its own, and
// viem as its users write it: read, simulate, send, wait, watch by filter, decode a revert.
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  http,
  parseAbiItem,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from './support/millrace.ts'

const dataDir = freshDataDir()
const token = '0x20c0000000000000000000000000000000000000'
/** Ninth of anvil's accounts: rich, and not one that the traffic sends from. */
const account = mnemonicToAccount('test test test test test test test test test test test junk', {
  addressIndex: 9,
})
const to = '0x00000000000000000000000000000000000000aa'
let program: RunningMillrace
beforeAll(async () => {
  program = await startMillrace({ DATA_DIR: dataDir.path })
  await blockIndexed(program, 3)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

test('viem reads, sends, waits, watches by filter and decodes a revert', async () => {
  const transport = http(`${program.origin}/rpc/4217`, { batch: true })
  const client = createPublicClient({ chain: tempo, transport, pollingInterval: 200 })
  const wallet = createWalletClient({ chain: tempo, transport, account })
  expect(await client.getChainId()).toBe(4217)
  const [number, block] = await Promise.all([client.getBlockNumber({ cacheTime: 0 }), client.getBlock()])
  expect(block.number).toBeGreaterThanOrEqual(number)

  const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)')
  const filter = await client.createEventFilter({ address: token, event: transfer, args: { to } })
  const call = { address: token, abi: Abis.tip20, functionName: 'transfer', args: [to, 7n] } as const
  await client.simulateContract({ ...call, account })
  const hash = await wallet.writeContract(call)
  const receipt = await client.waitForTransactionReceipt({ hash })
  expect(receipt.status).toBe('success')
  // What a receipt names is there for the next call, whoever answers it.
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(receipt.blockNumber)
  await blockIndexed(program, Number(receipt.blockNumber))
  const logs = await client.getFilterChanges({ filter })
  expect(logs.map(({ transactionHash, args }) => [transactionHash, args.amount])).toEqual([[hash, 7n]])
  expect(await client.getFilterChanges({ filter })).toEqual([])
  const range = { fromBlock: receipt.blockNumber, toBlock: receipt.blockNumber }
  expect(await client.getLogs({ address: token, event: transfer, args: { to }, ...range })).toEqual(logs)
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
})
