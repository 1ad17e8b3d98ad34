/** `eth_getLogs` of a replayed node. */
import { isRecord } from '#primitives.ts'
import type { NodeLog, NodeReceipt } from './answers.ts'
import { heightOf } from './heightOf.ts'
import type { ReplayedNode } from './replayedNode.ts'
import { RpcError } from './rpcError.ts'

/** Texts that one place of a log may be; anything when absent. */
type Choice = readonly string[] | undefined

interface LogFilter {
  readonly addresses: Choice
  readonly topics: readonly Choice[]
}

/** @throws RpcError for a range the node does not have or does not serve, and for too many logs. */
export function logsOf(node: ReplayedNode, asked: unknown): readonly NodeLog[] {
  const query = isRecord(asked) ? asked : {}
  const [from, to] = rangeOf(node, query)
  const most = node.flags['max-logs'] || Number.POSITIVE_INFINITY
  const filter = filterOf(query)
  const found: NodeLog[] = []
  for (let height = from; height <= to; height++) {
    found.push(...logsAt(node, height, filter))
    if (found.length > most) throw new RpcError(-32005, `query returned more than ${most} results`)
  }
  return found
}

function rangeOf(node: ReplayedNode, query: Readonly<Record<string, unknown>>): readonly [number, number] {
  const { blockHash, fromBlock, toBlock } = query
  const from = heightOf(node, blockHash ?? fromBlock)
  const to = blockHash ? from : (heightOf(node, toBlock) ?? node.head)
  if (from === undefined || to === undefined)
    throw new RpcError(-32000, blockHash ? 'unknown block' : 'block range extends beyond current head block')
  if (from > to) throw new RpcError(-32602, 'invalid block range params')
  const most = node.flags['max-range']
  if (most && to - from >= most) throw new RpcError(-32005, `query exceeds max block range ${most}`)
  return [from, to]
}

function filterOf({ address, topics }: Readonly<Record<string, unknown>>): LogFilter {
  return { addresses: choiceOf(address), topics: Array.isArray(topics) ? topics.map(choiceOf) : [] }
}

/** A text or a list of them, in lower case. */
function choiceOf(value: unknown): Choice {
  return value ? [value].flat().map((text) => String(text).toLowerCase()) : undefined
}

function logsAt({ recording }: ReplayedNode, height: number, { addresses, topics }: LogFilter): NodeLog[] {
  if (!recording.mayHaveLogs(height, addresses) || !recording.mayHaveLogs(height, topics[0])) return []
  const receipts: NodeReceipt[] = JSON.parse(recording.json(height, 'receipts').toString())
  const fits = (log: NodeLog) =>
    allows(addresses, log.address) && topics.every((choice, index) => allows(choice, log.topics[index]))
  return receipts.flatMap(({ logs }) => logs.filter(fits))
}

function allows(choice: Choice, text: string | undefined): boolean {
  return choice === undefined || (text !== undefined && choice.includes(text))
}
