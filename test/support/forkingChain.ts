/**
 * A chain that is true to its headers as Ethereum is, until it forks and fills in something of its
 * own, with nothing in its answers that says so. Made with viem only.
 */
import { type Hex, keccak256, numberToHex, stringToHex, toRlp } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { inBlock, type JsonObject, receiptBytes, scalar, transactionJson } from './builtBlock.ts'
import type { ForeignBlock } from './foreignChain.ts'
import { plainBloom, plainTrieRoot } from './plainTrie.ts'

/** The part that the fork changes: the list that receipts are the root of, or what a header hashes. */
export type Fork = 'receiptsRoot' | 'header'

const emitter: Hex = '0x00000000000000000000000000000000000f0c4e'
const topic = keccak256('0x05')

/** Blocks from 0 on, of which those from `forkAt` on follow other rules; the same at every call. */
export async function forkingChain(
  length: number,
  forkAt: number,
  fork: Fork,
): Promise<readonly ForeignBlock[]> {
  const blocks: ForeignBlock[] = []
  for (let number = 0; number < length; number++) {
    const parentHash = blocks.at(-1)?.block.hash ?? keccak256('0x03')
    blocks.push(await forkingBlock(number, parentHash, number >= forkAt ? fork : null))
  }
  return blocks
}

async function forkingBlock(number: number, parentHash: Hex, fork: Fork | null): Promise<ForeignBlock> {
  const signed = number === 0 ? [] : [await transferAt(number)]
  const transactions = signed.map((bytes, index) => transactionJson(bytes, index, sender))
  const receipts = transactions.map(receiptOf)
  const own = keccak256(stringToHex(`receipts of block ${number} in a list of its own`))
  const header = {
    ...{ parentHash, sha3Uncles: keccak256(toRlp([])), miner: emitter, stateRoot: keccak256('0x04') },
    transactionsRoot: plainTrieRoot(signed),
    receiptsRoot: fork === 'receiptsRoot' ? own : plainTrieRoot(receipts.map(receiptBytes)),
    logsBloom: plainBloom(receipts.length === 0 ? [] : [emitter, topic]),
    ...{ difficulty: '0x0', number: numberToHex(number), gasLimit: '0x1c9c380' },
    gasUsed: numberToHex(21_000 * receipts.length),
    timestamp: numberToHex(1_700_000_000 + 5 * number),
    ...{ extraData: '0xc0de', mixHash: keccak256('0x05'), nonce: '0x0000000000000000' },
    baseFeePerGas: '0x7',
  }
  const hashed = Object.values(header).map(scalar)
  const hash = keccak256(toRlp(fork === 'header' ? [...hashed, '0x01'] : hashed))
  const place = { blockHash: hash, blockNumber: header.number }
  return {
    block: {
      ...header,
      ...{ hash, size: '0x1', uncles: [] },
      transactions: transactions.map((tx) => ({ ...tx, ...place })),
    },
    receipts: receipts.map((receipt, index) =>
      inBlock(receipt, { ...place, transactionHash: transactions[index]?.['hash'] }),
    ),
  }
}

const account = privateKeyToAccount(`0x${'f0'.repeat(32)}`)
const sender = account.address.toLowerCase()

const transferAt = (number: number): Promise<Hex> =>
  account.signTransaction({
    ...{ chainId: 25, type: 'legacy', nonce: number, gas: 100_000n, gasPrice: 20n },
    ...{ to: emitter, value: 1n, data: '0x' },
  })

function receiptOf(tx: JsonObject): JsonObject {
  const place = { transactionIndex: tx['transactionIndex'] }
  return {
    ...{ type: tx['type'], status: '0x1', ...place, from: tx['from'], to: emitter, contractAddress: null },
    ...{ gasUsed: '0x5208', cumulativeGasUsed: '0x5208', effectiveGasPrice: '0x14' },
    logsBloom: plainBloom([emitter, topic]),
    logs: [{ address: emitter, topics: [topic], data: '0x', logIndex: '0x0', ...place, removed: false }],
  }
}
