/** A node in front of another one, that can be told to fail as providers do. */
import type { ServerResponse } from 'node:http'
import { type FakeNode, forward, type NodeCall, startNode } from '../../ingest/support/proxyNode.ts'

export interface FailingNode extends FakeNode {
  fails: boolean
}

/** How a failing provider answers: one way after the other. */
const failures: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(503).end('<html>no upstream</html>'),
  (response) => response.destroy(),
  (response) => response.writeHead(429, { 'retry-after': '1' }).end('slow down'),
  (response) =>
    response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"daily request limit reached"}}'),
]

/** @param answered called at each call that it passed on and answered */
export async function startFailingNode(url: string, answered = () => {}): Promise<FailingNode> {
  let turn = 0
  const node = await startNode({
    call: async (call) => {
      const answer = await forward(url, call)
      answered()
      return answer
    },
    request: (calls, response) => {
      if (!failing.fails) return false
      const { method = '' }: Partial<NodeCall> = Object(calls)
      // A transaction whose outcome nobody knows is not sent again; a gateway's refusal was none.
      if (method.startsWith('eth_sendRaw')) response.writeHead(429).end('slow down')
      else failures[turn++ % failures.length]?.(response)
      return true
    },
  })
  const failing: FailingNode = Object.assign(node, { fails: false })
  return failing
}
