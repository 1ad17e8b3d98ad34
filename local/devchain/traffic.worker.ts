/** The thread that trafficThread.ts starts. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemRuntime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { startTraffic } from './traffic.ts'
import type { TrafficLogLine, TrafficTask } from './trafficThread.ts'

if (!parentPort) throw new Error('traffic.worker.ts runs as a thread')
const port = parentPort
const { rpcUrl, chainId, seed, gifts }: TrafficTask = workerData
const end = new AbortController()
port.once('message', () => end.abort())

const send = (level: TrafficLogLine['level']) => (fields: object, message: string) =>
  port.postMessage({ level, fields, message } satisfies TrafficLogLine)
const log: Logger = { debug: send('debug'), info: send('info'), warn: send('warn'), error: send('error') }

const { clock } = systemRuntime()
const { done } = startTraffic({ rpcUrl, chainId, seed, gifts, log, clock, signal: end.signal })
// Ends the thread alone. Sockets kept for the next call would hold it for some seconds more.
done.then(() => process.exit())
