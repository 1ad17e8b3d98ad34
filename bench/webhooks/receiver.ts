/**
 * A process that takes webhooks: it counts them, how old each was by its `createdAt`, and when those
 * of which block came. Below `/hanging` it never answers.
 */
import { createServer } from 'node:http'

/** The receiver's question, and its answer. */
export type ReceiverAsked = 'report'
export interface ReceiverTold {
  readonly url?: string
  readonly agesMs?: readonly number[]
  readonly arrivals?: readonly Arrival[]
}
export interface Arrival {
  readonly path: string
  readonly block: number
  /** Unix. */
  readonly atMs: number
}

let agesMs: number[] = []
let arrivals: Arrival[] = []

const server = createServer((request, response) => {
  const path = String(request.url)
  if (path.startsWith('/hanging/')) return
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const { createdAt, data } = JSON.parse(Buffer.concat(pieces).toString())
    const atMs = Date.now()
    agesMs.push(atMs - Date.parse(createdAt))
    arrivals.push({ path, block: data.number, atMs })
    response.writeHead(200).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  process.send?.({ url: `http://127.0.0.1:${port}` } satisfies ReceiverTold)
})

process.on('message', () => {
  process.send?.({ agesMs, arrivals } satisfies ReceiverTold)
  agesMs = []
  arrivals = []
})
process.on('disconnect', () => process.exit(0))
