/** A process that takes webhooks: it counts them, and how old each was by its `createdAt`. */
import { createServer } from 'node:http'

/** What it is asked, and what it answers. */
export type ReceiverAsked = 'report'
export interface ReceiverTold {
  readonly url?: string
  readonly agesMs?: readonly number[]
}

let agesMs: number[] = []

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const { createdAt } = JSON.parse(Buffer.concat(pieces).toString())
    agesMs.push(Date.now() - Date.parse(createdAt))
    response.writeHead(200).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  process.send?.({ url: `http://127.0.0.1:${port}` } satisfies ReceiverTold)
})

process.on('message', () => {
  process.send?.({ agesMs } satisfies ReceiverTold)
  agesMs = []
})
process.on('disconnect', () => process.exit(0))
