/** A program that starts a dev chain, says which, and is then killed by the test. */
import { startDevChain } from '#local/devchain/node.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

const { clock } = systemRuntime()
const chain = await startDevChain({ dataDir: process.argv[2] ?? '', log: silentLogger, clock })
process.stdout.write(`${JSON.stringify({ pid: chain.pid, generation: chain.generation })}\n`)
setInterval(() => {}, 60_000)
