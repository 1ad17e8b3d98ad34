/**
 * Serves a recording over JSON-RPC from memory, as a good or as a troublesome node. Its first line
 * says where it listens. README.md has the methods and flags.
 */
import { once } from 'node:events'
import { resolve } from 'node:path'
import { endWith, readFlags } from './flags.ts'
import { defaults, usage } from './replay/flags.ts'
import { Recording } from './replay/recording.ts'
import { ReplayedNode } from './replay/replayedNode.ts'
import { createReplayServer } from './replay/server.ts'

const flags = readFlags(defaults, usage)
if (!flags.recording) endWith(usage, 2)
const shape = flags.shape === 'tempo' ? 'tempo' : 'anvil'
const node = new ReplayedNode(await Recording.load(resolve(flags.recording), shape), flags)
const server = createReplayServer(node)
server.listen(flags.port, flags.host)
await once(server, 'listening')
const { port } = Object(server.address())
const { head, last, recording } = node
const first = { listening: `http://${flags.host}:${port}`, chainId: recording.chainId, head, last }
process.stdout.write(`${JSON.stringify(first)}\n`)
if (flags['block-time']) setInterval(() => node.advance(), flags['block-time'])
