/**
 * Entry of the child process that holds the ClickHouse engine: a native crash or a stuck query
 * takes this process down, never the indexer. Started by clickhouse.ts, which tells it over the IPC
 * channel what to serve. When the channel closes, the parent is gone and the child ends too.
 */

import { messageOf } from '#errors.ts'
import type { ServeMessage } from './clickhouse.ts'
import { QueryServer } from './QueryServer.ts'

let server: QueryServer | undefined
let stopping = false

process.on('message', (message: ServeMessage) => void serve(message))
process.on('disconnect', () => void stop())
process.on('SIGTERM', () => void stop())
// Ctrl-C reaches the whole terminal session; the parent decides when the engine stops.
process.on('SIGINT', () => {})

async function serve(message: ServeMessage): Promise<void> {
  try {
    server = new QueryServer(message.options)
    process.send?.({ type: 'ready', port: await server.listen(message.port) })
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`)
    await server?.close().catch(() => {})
    process.exit(1)
  }
}

// Writes in flight may finish; what takes longer is cut off, which costs no acknowledged row.
const STOP_MS = 10_000

async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_MS).unref()
  await server?.close()
  process.exit(0)
}
