/**
 * A chain that is true to its headers and passes Ethereum's Amsterdam fork. Every block but the first
 * has the same four transactions; since the fork they log what they moved of the coin (EIP-7708), and
 * the header's gas is now more and now less than what they paid for (EIP-7778). Made with viem only.
 */
import {
  encodeAbiParameters,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  stringToHex,
  toFunctionSelector,
  toRlp,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { FakeNode, NodeCall } from '../ingest/support/proxyNode.ts'
import { startNode } from '../ingest/support/proxyNode.ts'
import { type BuiltBlock, type JsonObject, scalar, transactionJson, trueBlock } from './builtBlock.ts'
import { plainBloom, plainTrieRoot } from './plainTrie.ts'

export const AMSTERDAM_CHAIN_ID = 9_191
/** Withdrawals of builders have an index with this bit (EIP-7732). */
export const BUILDER_INDEX = 2n ** 40n + 3n

const account = privateKeyToAccount(`0x${'a7'.repeat(32)}`)
const who = (digit: string): Hex => `0x${digit.repeat(40)}`
const coin: Hex = `0x${'f'.repeat(39)}e`

/** Accounts that take part; `requests` is the contract that logs without a topic (EIP-7002). */
export const parties = {
  sender: account.address.toLowerCase() as Hex,
  bob: who('b'),
  carol: who('c'),
  token: who('7'),
  requests: '0x00000961ef480eb55e80d19ad83579a64c007002' as Hex,
  coin,
} as const

/** A request's log data: longer than a word, and no multiple of one. */
export const requestData = (number: number): Hex => `0x${'c0ffee'.repeat(20)}${`${number % 10}0`.repeat(16)}`

interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

const sent = (emitter: Hex, from: Hex, to: Hex, amount: bigint): Log => ({
  address: emitter,
  topics: [transferTopic, pad(from), pad(to)],
  data: numberToHex(amount, { size: 32 }),
})
const transferTopic = keccak256(stringToHex('Transfer(address,address,uint256)'))

interface Sent {
  readonly to: Hex
  readonly value: bigint
  readonly status: Hex
  readonly logs: readonly Log[]
}

/** A payment, a failed one, one that a contract passes on in part, and a request. */
function transactionsOf(number: number, isForked: boolean): readonly Sent[] {
  const { sender, bob, carol, token, requests } = parties
  const value = BigInt(1_000 + number)
  const coins = (...logs: readonly Log[]) => (isForked ? logs : [])
  const ok = '0x1'
  return [
    { to: bob, value, status: ok, logs: coins(sent(coin, sender, bob, value)) },
    { to: bob, value: 9n, status: '0x0', logs: [] },
    {
      ...{ to: token, value: 3n, status: ok },
      logs: [
        ...coins(sent(coin, sender, token, 3n)),
        sent(token, `0x${'0'.repeat(40)}`, sender, 40n),
        ...coins(sent(coin, token, carol, 2n)),
      ],
    },
    {
      to: requests,
      value: 0n,
      status: ok,
      logs: [{ address: requests, topics: [], data: requestData(number) }],
    },
  ]
}

/** Blocks from 0 on, of which those from `forkAt` on are Amsterdam's; the same at every call. */
export async function amsterdamChain(length: number, forkAt: number): Promise<readonly BuiltBlock[]> {
  const blocks: BuiltBlock[] = []
  for (let number = 0; number < length; number++) {
    blocks.push(await blockAt(number, blocks.at(-1)?.block.hash ?? keccak256('0x03'), number >= forkAt))
  }
  return blocks
}

const PAID_EACH = 21_000

async function blockAt(number: number, parentHash: Hex, isForked: boolean): Promise<BuiltBlock> {
  const plans = number === 0 ? [] : transactionsOf(number, isForked)
  const signed = await Promise.all(
    plans.map(({ to, value }, index) =>
      account.signTransaction({
        ...{ chainId: AMSTERDAM_CHAIN_ID, type: 'legacy', gas: 100_000n, gasPrice: 20n },
        ...{ nonce: 4 * number + index, to, value, data: '0x' },
      }),
    ),
  )
  const bare = signed.map((bytes, index) => transactionJson(bytes, index, parties.sender))
  const receipts = receiptsOf(plans, bare)
  const withdrawals = number === 0 ? [] : [withdrawalAt(number, isForked)]
  const paid = PAID_EACH * plans.length
  const built = trueBlock(signed, bare, receipts, {
    ...{ parentHash, number: numberToHex(number), timestamp: numberToHex(1_790_000_000 + 12 * number) },
    gasUsed: numberToHex(isForked ? paid + (number % 2 === 0 ? 4_800 : -2_100) : paid),
    withdrawalsRoot: plainTrieRoot(withdrawals.map((one) => toRlp(Object.values(one).map(scalar)))),
    ...(isForked && {
      blockAccessListHash: keccak256(stringToHex(`accesses of block ${number}`)),
      slotNumber: numberToHex(number + 7),
    }),
  })
  return { ...built, block: { ...built.block, withdrawals } }
}

/** In the order in which its fields are hashed. */
const withdrawalAt = (number: number, isForked: boolean) => ({
  index: numberToHex(number),
  validatorIndex: numberToHex(isForked ? BUILDER_INDEX : 3n),
  address: parties.carol,
  amount: '0x5',
})

function receiptsOf(plans: readonly Sent[], bare: readonly JsonObject[]): readonly JsonObject[] {
  let logIndex = 0
  return plans.map(({ to, status, logs }, index) => ({
    ...{ type: '0x0', status, transactionIndex: numberToHex(index), from: parties.sender, to },
    ...{ gasUsed: numberToHex(PAID_EACH), cumulativeGasUsed: numberToHex(PAID_EACH * (index + 1)) },
    ...{ effectiveGasPrice: '0x14', contractAddress: null, transactionHash: bare[index]?.['hash'] },
    logsBloom: plainBloom(logs.flatMap(({ address, topics }) => [address, ...topics])),
    logs: logs.map((log) => ({
      ...{ ...log, logIndex: numberToHex(logIndex++), transactionIndex: numberToHex(index) },
      ...{ transactionHash: bare[index]?.['hash'], removed: false },
    })),
  }))
}

/** A movement of the coin as REST and SQL tell it: block, index of its log, amount, receiver. */
export type CoinRow = readonly [block: number, logIndex: number | null, amount: number, to: Hex]

/** A block's movements of the coin, in the order of the chain. */
export function coinRowsOf(number: number, isForked: boolean): readonly CoinRow[] {
  const { bob, carol, token } = parties
  if (number === 0) return []
  return isForked
    ? [
        [number, 0, 1_000 + number, bob],
        [number, 1, 3, token],
        [number, 3, 2, carol],
      ]
    : [
        [number, null, 1_000 + number, bob],
        [number, null, 3, token],
      ]
}

interface Served {
  readonly block: unknown
  readonly receipts: unknown
}

/**
 * Answers to the functions that a token is asked. A program lists a token only with a name and a symbol:
 * without them it holds the token's transfers and balances, and no token.
 */
const told = new Map<unknown, Hex>([
  [toFunctionSelector('name()'), encodeAbiParameters([{ type: 'string' }], ['Seven'])],
  [toFunctionSelector('symbol()'), encodeAbiParameters([{ type: 'string' }], ['SEV'])],
  [toFunctionSelector('decimals()'), encodeAbiParameters([{ type: 'uint8' }], [18])],
])

/**
 * A node that holds these blocks, the first of them at `from`; `head` and `finalized` are asked at
 * every call.
 */
export function startBlocksNode(
  blocks: readonly Served[],
  {
    chainId,
    from = 0,
    head,
    finalized,
  }: { readonly chainId: number; readonly from?: number; head(): number; finalized(): number },
): Promise<FakeNode> {
  const at = (tag: unknown): Served | null => {
    const number = tag === 'latest' ? head() : tag === 'finalized' ? finalized() : Number(tag)
    return number <= head() ? (blocks[number - from] ?? null) : null
  }
  return startNode({
    call: ({ method, params: [tag] }: NodeCall) => {
      if (method === 'eth_chainId') return { result: numberToHex(chainId) }
      if (method === 'eth_getBlockByNumber') return { result: at(tag)?.block ?? null }
      if (method === 'eth_getBlockReceipts') return { result: at(tag)?.receipts ?? null }
      if (method === 'eth_call') return { result: told.get(Object(tag).data) ?? '0x' }
      return { error: { code: -32601, message: 'the method does not exist' } }
    },
  })
}
