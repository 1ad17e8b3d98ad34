/**
 * A node that answers from memory, in a process of its own: what is measured is the reader, not the node. Entry of a child
 * process; the parent sends the shape and gets the address.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CannedBlock, type ChainShape, cannedChain } from './cannedChain.ts'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

process.once('message', (shape: ChainShape) => {
  const chain = cannedChain(shape)
  const server = createServer((request, response) => {
    // Readers ask whether heads are announced over WebSocket here; they are not.
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: Request | Request[] = JSON.parse(Buffer.concat(chunks).toString())
      const text = Array.isArray(body)
        ? `[${body.map((one) => answer(chain, one)).join(',')}]`
        : answer(chain, body)
      response.setHeader('content-type', 'application/json')
      response.end(text)
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    const bytes = chain.reduce((sum, { block, receipts }) => sum + block.length + receipts.length, 0)
    process.send?.({ url: `http://127.0.0.1:${port}`, bytes })
  })
})
process.once('disconnect', () => process.exit(0))

function answer(chain: readonly CannedBlock[], { id, method, params }: Request): string {
  const result = resultOf(chain, method, params)
  return result === undefined
    ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"method not found"}}`
    : `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

function resultOf(
  chain: readonly CannedBlock[],
  method: string,
  params: readonly unknown[],
): string | undefined {
  switch (method) {
    case 'eth_chainId':
      return '"0x1079"'
    case 'eth_blockNumber':
      return `"0x${(chain.length - 1).toString(16)}"`
    case 'eth_getBlockByNumber':
      return blockAt(chain, params[0])?.block ?? 'null'
    case 'eth_getBlockReceipts':
      return blockAt(chain, params[0])?.receipts ?? 'null'
    default:
      return undefined
  }
}

function blockAt(chain: readonly CannedBlock[], tag: unknown): CannedBlock | undefined {
  return tag === 'latest' || tag === 'finalized' ? chain.at(-1) : chain[Number(tag)]
}
