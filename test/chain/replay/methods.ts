/** The methods of a replayed node: each gives the JSON of its result. */
import { isRecord } from '#primitives.ts'
import type { Fault } from './flags.ts'
import { heightOf } from './heightOf.ts'
import { logsOf } from './logs.ts'
import type { ReplayedNode } from './replayedNode.ts'
import { RpcError } from './rpcError.ts'

type Parameters = readonly unknown[]
type Method = (node: ReplayedNode, params: Parameters) => Buffer

/** The JSON of a method's result. @throws RpcError for what a caller is told in its place. */
export function callMethod(node: ReplayedNode, name: string, params: Parameters): Buffer {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (!method) throw new RpcError(-32601, `the method ${name} does not exist`)
  const error = isControl(name) ? undefined : node.faults.error()
  if (error) throw error
  return method(node, params)
}

/** Calls of the replay itself meet no fault. */
export function isControl(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('replay_')
}

const methods: Readonly<Record<string, Method>> = {
  eth_chainId: ({ recording }) => json(quantity(recording.chainId)),
  net_version: ({ recording }) => json(String(recording.chainId)),
  web3_clientVersion: () => json('replay/1.0'),
  eth_syncing: () => json(false),
  eth_blockNumber: ({ head, faults }) => json(quantity(head - faults.blocksBehind())),
  eth_getBlockByNumber: (node, [block, full]) => blockJson(node, block, full),
  eth_getBlockByHash: (node, [blockHash, full]) => blockJson(node, { blockHash }, full),
  eth_getBlockReceipts: (node, [block]) => receiptsJson(node, block),
  eth_getTransactionByHash: (node, [hash]) => transactionJson(node, hash, 'full'),
  eth_getTransactionReceipt: (node, [hash]) => transactionJson(node, hash, 'receipts'),
  eth_getLogs: (node, [filter]) => json(logsOf(node, filter)),
  eth_call: (node, [call]) => callJson(node, call),
  replay_advance: (node, [blocks]) => json(node.advance(countIn(blocks))),
  replay_reorg: (node, [depth]) => json(node.reorg(countIn(depth))),
  replay_set: (node, [changes]) => json(Object.assign(node.flags, changesIn(node, changes))),
  replay_stats: ({ head, last, stats, faults }) => json({ head, last, ...stats, faults: faults.counts }),
}

const isHash = /^0x[0-9a-f]{64}$/
const none = Buffer.from('null')

function blockJson(node: ReplayedNode, block: unknown, full: unknown): Buffer {
  const height = presentHeight(node, block)
  return height === undefined ? none : node.recording.json(height, full ? 'full' : 'thin')
}

function receiptsJson(node: ReplayedNode, block: unknown): Buffer {
  const { recording } = node
  const height = presentHeight(node, block)
  if (height === undefined) return none
  const replaceable = node.isNear(height) && height > recording.loopFrom + 1
  return replaceable && node.faults.strikes('stale')
    ? recording.jsonOfOtherFork(height, 'receipts')
    : recording.json(height, 'receipts')
}

function transactionJson(node: ReplayedNode, hash: unknown, part: 'full' | 'receipts'): Buffer {
  const asked = textIn(hash)
  const place = isHash.test(asked) ? node.recording.findTransaction(asked, node.head) : undefined
  if (!place || strikesNear(node, place.height, 'missing')) return none
  const answer = JSON.parse(node.recording.json(place.height, part).toString())
  return json((part === 'full' ? answer.transactions : answer)[place.position])
}

function callJson({ recording, head }: ReplayedNode, call: unknown): Buffer {
  const { to, data, input } = isRecord(call) ? call : {}
  const [address, calldata] = [textIn(to), textIn(input ?? data)]
  const { calls } = recording
  const answer =
    calls[`${address}:${calldata}`] ?? calls[`${recording.recordedAddress(address, head)}:${calldata}`]
  if (answer === undefined) throw new RpcError(-32000, 'this call is not in the recording')
  if (typeof answer === 'string') return json(answer)
  throw new RpcError(answer.error.code, answer.error.message, answer.error.data)
}

/** The height of a block that the node has, and says it has. */
function presentHeight(node: ReplayedNode, block: unknown): number | undefined {
  const height = heightOf(node, block)
  return height === undefined || strikesNear(node, height, 'missing') ? undefined : height
}

function strikesNear(node: ReplayedNode, height: number, fault: Fault): boolean {
  return node.isNear(height) && node.faults.strikes(fault)
}

/** Hashes, addresses and data in any case. */
function textIn(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}

function countIn(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw new RpcError(-32602, `${JSON.stringify(value)} is no count of blocks`)
  return value
}

/** Changes of flags, each of the flag's own type. */
function changesIn({ flags }: ReplayedNode, changes: unknown): object {
  const entries = Object.entries(isRecord(changes) ? changes : {})
  const wrong = entries.find(([name, value]) => typeof value !== typeof Reflect.get(flags, name))
  if (wrong) throw new RpcError(-32602, `no flag ${wrong[0]} of ${JSON.stringify(wrong[1])}`)
  return Object.fromEntries(entries)
}

const quantity = (value: number) => `0x${value.toString(16)}`
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
