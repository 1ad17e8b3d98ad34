/** Nodes of a pool that fail in a provider's ways, or lag behind each other. */
import type { ServerResponse } from 'node:http'
import type { NodeAnswer, NodeBehaviour, NodeCall } from '../../../ingest/support/proxyNode.ts'
import { node, plainNode } from '../../support/rpcApi.ts'

/** A trouble's title, and how a node in it answers a call with this id. */
export type Trouble = readonly [string, (response: ServerResponse, id: unknown) => void]

export const troubles: readonly Trouble[] = [
  ['429 with a text', (response) => response.writeHead(429, { 'retry-after': '1' }).end('slow down')],
  ['401', (response) => response.writeHead(401).end('{"error":"unknown key"}')],
  ['402', (response) => response.writeHead(402).end('payment required')],
  ['503 in HTML', (response) => response.writeHead(503).end('<html>secret-provider</html>')],
  ['half an answer', (response) => response.end('{"jsonrpc":"2.0","id":1,"resu')],
  ['nothing', (response) => response.destroy()],
  ...[
    'daily request count exceeded, request rate limited',
    'Your project is suspended because of an overdue invoice',
    'Upgrade your plan to call this method',
    'Must be authenticated!',
    'no healthy upstream',
  ].map(
    (message): Trouble => [
      message,
      (response, id) =>
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } })),
    ],
  ),
]

/** A node that is in trouble where it is asked for the gas price. */
export const troubled = (tell: Trouble[1]): NodeBehaviour => ({
  call: plainNode(() => 9),
  request: (calls, response) => {
    const { method, id }: { method?: string; id?: unknown } = Object(calls)
    if (method !== 'eth_gasPrice') return false
    tell(response, id)
    return true
  },
})

export const HEAD = 1_000

/** Nodes 0, 3 and 20 blocks behind a chain that grows; logs are one a block. */
export async function threeNodes() {
  let head = HEAD
  const make = (behind: number) =>
    node({
      call: (call) => {
        const at = () => head - behind
        const logs = (number: number) => ({ blockNumber: `0x${number.toString(16)}` })
        const extra = ({ method, params: [first] }: NodeCall): NodeAnswer | undefined => {
          if (method === 'eth_call') return { result: `0x${at().toString(16)}` }
          if (method !== 'eth_getLogs') return undefined
          const { fromBlock, toBlock } = Object(first)
          const to = Math.min(at(), Number(toBlock))
          return {
            result: Array.from({ length: Math.max(0, to - Number(fromBlock) + 1) }, (_, i) =>
              logs(Number(fromBlock) + i),
            ),
          }
        }
        return plainNode(at, extra)(call)
      },
    })
  const nodes = [await make(20), await make(0), await make(3)]
  return { nodes, grow: () => head++, head: () => head }
}
