/**
 * A node that answers from memory, in a process of its own: what is measured is the reader, not the
 * node. Entry of a child process; the parent sends what to serve and gets the address, and later
 * how the reading began.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type CannedChain, readCannedFile } from './cannedFile.ts'
import { type CannedLogs, cannedLogs } from './cannedLogs.ts'
import type { CannedCertificates, Heights } from './finality/cannedCertificates.ts'

/** The parent's message: what to serve, and then when blocks may be answered. */
export type ServeMessage =
  | {
      readonly type: 'serve'
      /** The chain's files. */
      readonly path: string
      /** Waited before every answer, as a node that is far away would have it. */
      readonly latencyMs: number
      /** Whether eth_getLogs is answered; cutting logs out of receipts takes seconds. */
      readonly answersLogs: boolean
      /** Heights of which certificates are served; null: that method is unknown here. */
      readonly certified: Heights | null
    }
  | { readonly type: 'hold' | 'release' }
  | ({ readonly type: 'live' } & LiveBlocks)

/** A chain that grows: block `from` is there at once, and each later one in its turn. */
export interface LiveBlocks {
  readonly from: number
  /** When block `from` + 1 is due less one interval, in Unix milliseconds. */
  readonly sinceMs: number
  readonly intervalMs: number
  /** Each is final as it comes; otherwise none above `from` is. */
  readonly isFinalAtOnce?: boolean
}

/** When a block is there for readers. */
export const dueMs = ({ from, sinceMs, intervalMs }: LiveBlocks, number: number): number =>
  sinceMs + (number - from) * intervalMs

/** The child's message once it answers. */
export interface NodeMessage {
  readonly url: string
  readonly bytes: number
  readonly blocks: number
}

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * Blocks are held back until the reader has started up: what is measured begins with the first of
 * them.
 */
let released = Promise.withResolvers<void>()

/** Null: eth_getLogs is unknown here. */
let logs: CannedLogs | null = null

/** Null: consensus_getFinalization is unknown here. */
let certificates: CannedCertificates | null = null

/** Null: the whole chain is there. */
let live: LiveBlocks | null = null

/** Newest block there is now. */
function newest(chain: CannedChain): number {
  const last = chain.blocks - 1
  if (live === null) return last
  const passed = Math.floor((Date.now() - live.sinceMs) / live.intervalMs)
  return Math.min(last, live.from + Math.max(0, passed))
}

const newestFinal = (chain: CannedChain): number =>
  live === null || live.isFinalAtOnce ? newest(chain) : live.from

process.on('message', (message: ServeMessage) => {
  if (message.type === 'serve') void serve(message)
  else if (message.type === 'live') live = message
  else if (message.type === 'release') released.resolve()
  else released = Promise.withResolvers()
})
process.once('disconnect', () => process.exit(0))

async function serve({
  path,
  latencyMs,
  answersLogs,
  certified,
}: ServeMessage & { type: 'serve' }): Promise<void> {
  const chain = readCannedFile(path)
  if (answersLogs) logs = cannedLogs(chain)
  if (certified) {
    // The arithmetic of the curve is loaded for those alone who ask for it.
    const { cannedCertificates } = await import('./finality/cannedCertificates.ts')
    certificates = cannedCertificates(chain, certified)
  }
  const server = createServer((request, response) => {
    // Readers ask whether heads are announced over WebSocket here; they are not.
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: Request | Request[] = JSON.parse(Buffer.concat(chunks).toString())
      void respond(chain, body, response, latencyMs)
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    const last = chain.receipts(chain.blocks - 1)
    const bytes = last.byteOffset + last.byteLength - chain.block(0).byteOffset
    const message: NodeMessage = { url: `http://127.0.0.1:${port}`, bytes, blocks: chain.blocks }
    process.send?.(message)
  })
}

/** A batch of this many items is history being read, not a probe. */
const readingItemsMin = 4

async function respond(
  chain: CannedChain,
  body: Request | Request[],
  response: ServerResponse,
  latencyMs: number,
): Promise<void> {
  if (Array.isArray(body) && body.length >= readingItemsMin) await released.promise
  if (latencyMs > 0) await setTimeout(latencyMs)
  const pieces = Array.isArray(body)
    ? [open, ...body.flatMap((one, index) => [...(index > 0 ? [comma] : []), ...answer(chain, one)]), close]
    : answer(chain, body)
  const bytes = Buffer.concat(pieces)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
}

const open = Buffer.from('[')
const comma = Buffer.from(',')
const close = Buffer.from(']')
const end = Buffer.from('}')

function answer(chain: CannedChain, { id, method, params }: Request): Buffer[] {
  const result = resultOf(chain, method, params)
  return result === undefined
    ? [Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"method not found"}}`)]
    : [Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`), result, end]
}

function resultOf(chain: CannedChain, method: string, params: readonly unknown[]): Buffer | undefined {
  switch (method) {
    case 'eth_chainId':
      return Buffer.from('"0x1079"')
    case 'eth_blockNumber':
      return Buffer.from(`"0x${newest(chain).toString(16)}"`)
    case 'eth_getBlockByNumber':
      return within(
        chain,
        params[0],
        params[1] === true ? chain.block : (number) => headOf(chain.block(number)),
      )
    case 'eth_getBlockReceipts':
      return within(chain, params[0], chain.receipts)
    case 'eth_getBlockByHash':
      return certifiedBlock(chain, params[0])
    case 'consensus_getFinalization':
      return finalization(chain, params[0])
    case 'eth_getLogs':
      return logsOf(params[0])
    // For those who measure the way here.
    case 'eth_call':
      return Buffer.from(`"0x${'2a'.padStart(64, '0')}"`)
    default:
      return undefined
  }
}

function logsOf(filter: unknown): Buffer | undefined {
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
  return logs?.within(Number(fromBlock), Number(toBlock))
}

/** A certificate of the newest final block, or of one height; null where none was signed. */
function finalization(chain: CannedChain, at: unknown): Buffer | undefined {
  if (certificates === null) return undefined
  const { height } = at === 'latest' ? { height: newestFinal(chain) } : (at as { height: number })
  const certificate = certificates.at(height)
  return Buffer.from(JSON.stringify(certificate === undefined ? null : { certificate }))
}

/** Headers of certified blocks alone: nobody asks for others here. */
function certifiedBlock(chain: CannedChain, digest: unknown): Buffer | undefined {
  if (certificates === null) return undefined
  const height = certificates.heightOf(digest)
  return height === undefined ? Buffer.from('null') : headOf(chain.block(height))
}

/** A block without its transactions, which come last. */
function headOf(block: Buffer): Buffer {
  return Buffer.concat([
    block.subarray(0, block.indexOf(beforeTransactions) + beforeTransactions.length),
    listEnd,
  ])
}

const beforeTransactions = Buffer.from('"transactions":[')
const listEnd = Buffer.from(']}')

function within(chain: CannedChain, tag: unknown, read: (number: number) => Buffer): Buffer {
  const last = newest(chain)
  const number = tag === 'latest' ? last : tag === 'finalized' ? newestFinal(chain) : Number(tag)
  return number <= last ? read(number) : Buffer.from('null')
}
