/**
 * Blocks as chains give them that keep other roots than Ethereum's: a consensus of their own makes
 * the block, and an EVM in it fills in what JSON-RPC asks for. The shapes are those that Cosmos
 * chains and Substrate's Frontier are known by (evmos/ethermint 334, cosmos/evm 1086,
 * crypto-org-chain/cronos 213).
 */
import { type Hex, keccak256, numberToHex, stringToHex, toRlp } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { inBlock, type Json, type JsonObject, transactionJson } from './builtBlock.ts'
import { plainBloom, plainTrieRoot } from './plainTrie.ts'

export interface ForeignBlock {
  readonly block: JsonObject & { readonly hash: Hex; readonly parentHash: Hex }
  readonly receipts: readonly JsonObject[]
}

/**
 * How logs are numbered: from 0 in each transaction, or through the block with a gap where a
 * transaction failed.
 */
export type Numbering = 'restart' | 'skip'

/** Transactions of a block, and logs of each. */
const LOGS = [3, 0, 2]
const emitter: Hex = '0x00000000000000000000000000000000000c05a0'
const topic = keccak256('0x05')
const NOTHING = plainTrieRoot([])

const hashOf = (number: number): Hex => keccak256(stringToHex(`block ${number} of its own consensus`))

/** A chain from block 0 on; the same at every call. */
export async function foreignChain(length: number, numbering: Numbering): Promise<readonly ForeignBlock[]> {
  return await Promise.all(Array.from({ length }, (_, number) => foreignBlock(number, numbering)))
}

async function foreignBlock(number: number, numbering: Numbering): Promise<ForeignBlock> {
  const place = { blockHash: hashOf(number), blockNumber: numberToHex(number) }
  const transactions = number === 0 ? [] : await transactionsOf(number, place)
  const receipts = transactions.map((tx, index) => receiptOf(tx, index, numbering, place))
  const logs = receipts.flatMap((receipt) => receipt['logs'] as readonly { address: Hex; topics: Hex[] }[])
  return {
    block: {
      ...{ number: place.blockNumber, hash: place.blockHash, parentHash: hashOf(number - 1) },
      ...{ nonce: '0x0000000000000000', sha3Uncles: keccak256(toRlp([])) },
      logsBloom: plainBloom(logs.flatMap(({ address, topics }) => [address, ...topics])),
      // The root of the consensus' own list, whose entries wrap the transactions.
      transactionsRoot: number === 0 ? NOTHING : keccak256(stringToHex(`list ${number}`)),
      ...{ stateRoot: keccak256(stringToHex(`state ${number}`)), receiptsRoot: NOTHING },
      ...{ miner: emitter, mixHash: `0x${'00'.repeat(32)}`, difficulty: '0x0', extraData: '0x' },
      ...{ size: '0x5f3', gasLimit: '0xffffffff', gasUsed: numberToHex(21_000 * receipts.length) },
      ...{ timestamp: numberToHex(1_700_000_000 + 5 * number), transactions, uncles: [] },
    },
    receipts,
  }
}

async function transactionsOf(number: number, place: JsonObject): Promise<readonly JsonObject[]> {
  const account = privateKeyToAccount(`0x${'c0'.repeat(32)}`)
  const common = { chainId: 25, gas: 100_000n, to: emitter, value: 1n, data: '0x' } as const
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 0n } as const
  const authorization = await account.signAuthorization({ chainId: 25, address: emitter, nonce: 7 })
  const third = { ...common, ...fees, nonce: 3 * number + 2 }
  const signed = await Promise.all([
    account.signTransaction({ ...common, type: 'legacy', gasPrice: 20n, nonce: 3 * number }),
    account.signTransaction({ ...common, ...fees, type: 'eip1559', nonce: 3 * number + 1 }),
    isDelegating(number)
      ? account.signTransaction({ ...third, type: 'eip7702', authorizationList: [authorization] })
      : account.signTransaction({ ...third, type: 'eip1559' }),
  ])
  const from = account.address.toLowerCase()
  return signed.map((bytes, index) => ({
    ...transactionJson(bytes, index, from),
    ...(index === 2 && isDelegating(number) && { authorizationList: [frontierAuthorization()] }),
    ...place,
  }))
}

const isDelegating = (number: number): boolean => number % 10 === 7

/** Names with underscores, and numbers that are none of JSON-RPC's. */
const frontierAuthorization = (): Json => ({
  ...{ chain_id: 25, address: emitter, nonce: '0x7' },
  signature: { odd_y_parity: false, r: `0x${'01'.repeat(32)}`, s: `0x${'02'.repeat(32)}` },
})

function receiptOf(tx: JsonObject, index: number, numbering: Numbering, place: JsonObject): JsonObject {
  const before = LOGS.slice(0, index).reduce((sum, count) => sum + count, 0)
  // The transaction that failed had logs too, which were counted and then dropped.
  const first = numbering === 'restart' ? 0 : before + (index > 1 ? 2 : 0)
  const logs = Array.from({ length: LOGS[index] ?? 0 }, (_, nth) => ({
    ...{ address: emitter, topics: [topic], data: numberToHex(before + nth, { size: 32 }) },
    ...{ logIndex: numberToHex(first + nth), transactionIndex: tx['transactionIndex'], removed: false },
  }))
  const receipt = {
    ...{ type: tx['type'], status: index === 1 ? '0x0' : '0x1', transactionIndex: tx['transactionIndex'] },
    ...{ gasUsed: numberToHex(21_000), cumulativeGasUsed: numberToHex(21_000 * (index + 1)) },
    ...{ from: tx['from'], to: emitter, contractAddress: null, effectiveGasPrice: '0x14', logs },
  }
  return inBlock(receipt, { ...place, transactionHash: tx['hash'] })
}
