/**
 * Nodes as an indexer meets them: behind the chain, slow, failing, and lying in the ways catalogued
 * from real endpoints. Each is a view of the world behind the transport the RPC client opens.
 */
import type { Dispatcher } from 'undici'
import type { OpenTransport, Transport } from '#ingest/rpc/client/client.ts'
import type { JsonObject } from '../support/builtBlock.ts'
import type { Kernel, SimProcess } from './kernel.ts'
import { type Lie, tellLie } from './lies.ts'
import type { World, WorldBlock } from './world.ts'

export interface NodeFaults {
  /** Requests that fail: refused, cut off, an error status, never answered. */
  errorRate: number
  /** Answers that are wrong. */
  lieRate: number
  lies: readonly Lie[]
  /** Lies of this one endpoint, which may go on when the other faults end. */
  loneLieRate: number
  loneLies: readonly Lie[]
  latencyMs: readonly [number, number]
  /** Rarely an answer takes this long. */
  tailMs: number
  /** Behind the chain by up to so long. */
  lagMs: number
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Its picture of the chain: what it had when it last caught up. */
export class SimNode {
  readonly origin: string
  faults: NodeFaults
  chain: readonly WorldBlock[]
  finalized: number
  #told = 0
  #toldHead = -1
  #heard = 0
  readonly #kernel: Kernel
  readonly #world: World
  /** Blocks by height as once answered: what a cache in front of a node keeps. */
  readonly #cached = new Map<number, WorldBlock>()

  constructor(origin: string, kernel: Kernel, world: World, faults: NodeFaults) {
    this.origin = origin
    this.#kernel = kernel
    this.#world = world
    this.faults = faults
    this.chain = world.chain
    this.finalized = world.finalized
  }

  /** The world has moved; this node hears of it a little later. */
  hear(): void {
    const { chain, finalized } = this.#world
    const turn = ++this.#told
    this.#kernel.after(
      this.#kernel.random() * this.faults.lagMs,
      `${this.origin} hears ${chain.length - 1}`,
      () => {
        // Older news that comes late is no news.
        if (turn < this.#heard) return
        this.#heard = turn
        this.chain = chain
        this.finalized = Math.max(this.finalized, finalized)
      },
    )
  }

  /** Answers a request body with a status and the text of a body; null when it never answers. */
  answer(body: string): { readonly status: number; readonly text: string } | null {
    const { errorRate } = this.faults
    if (this.#kernel.chance(errorRate)) return this.#fail()
    const lie = this.#lie()
    const calls: Call | Call[] = JSON.parse(body)
    const items = (Array.isArray(calls) ? calls : [calls]).map((call) => this.#item(call, lie))
    if (lie) this.#kernel.note(`${this.origin} lies: ${lie}`)
    const text = JSON.stringify(Array.isArray(calls) ? items : items[0])
    return tellLie.response(lie, text, Array.isArray(calls) ? items : null, this.#kernel)
  }

  #lie(): Lie | undefined {
    const { lieRate, lies, loneLieRate, loneLies } = this.faults
    if (loneLies.length > 0 && this.#kernel.chance(loneLieRate)) return this.#kernel.pick(loneLies)
    return this.#kernel.chance(lieRate) ? this.#kernel.pick(lies) : undefined
  }

  #fail(): { status: number; text: string } | null {
    const kind = this.#kernel.pick(['429', '503', 'html', 'never', 'cut'] as const)
    this.#kernel.note(`${this.origin} fails: ${kind}`)
    if (kind === 'never') return null
    if (kind === 'html') return { status: 200, text: '<html>Bad gateway</html>' }
    if (kind === 'cut') return { status: -1, text: '' }
    return { status: Number(kind), text: '' }
  }

  #item(call: Call, lie: Lie | undefined): JsonObject {
    if (call.method.startsWith('debug_'))
      return { jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'the method does not exist' } }
    if (lie === 'L42 old blocks are pruned' && this.#isOld(call))
      return { jsonrpc: '2.0', id: call.id, error: { code: 4444, message: 'pruned history unavailable' } }
    const result = this.#result(call, lie)
    return { jsonrpc: '2.0', id: call.id, result: result as JsonObject }
  }

  #isOld({ method, params }: Call): boolean {
    const number = Number(params[0])
    return method !== 'eth_chainId' && number > 0 && number < this.finalized
  }

  #result({ method, params }: Call, lie: Lie | undefined): unknown {
    const [at, full] = params
    switch (method) {
      case 'eth_chainId':
        return lie === 'L15 another chain id' ? '0x2' : '0x1'
      case 'eth_getBlockByNumber': {
        const ahead = this.#ahead(at, lie)
        if (ahead !== null) return tellLie.head(ahead)
        const block = this.#blockAt(at, lie)
        if (!block) return null
        const lied = tellLie.block(lie, block.block, this.#kernel)
        if (full === true || lied === null) return lied
        return { ...lied, transactions: block.body.transactions.map((tx) => tx['hash']) }
      }
      case 'eth_getBlockReceipts': {
        const block = this.#blockAt(at, lie)
        return block ? tellLie.receipts(lie, block, this.#world, this.#kernel) : null
      }
      case 'eth_getTransactionReceipt': {
        const block = this.chain.findLast(({ body }) => body.transactions.some((tx) => tx['hash'] === at))
        const told = block && tellLie.receipts(lie, block, this.#world, this.#kernel)
        return Array.isArray(told) ? (told.find((receipt) => receipt?.transactionHash === at) ?? null) : null
      }
      default:
        throw new Error(`the simulated node has no ${method}`)
    }
  }

  /** The height of a head that is not there; the liar also gives it when asked for its number. */
  #ahead(at: unknown, lie: Lie | undefined): number | null {
    const { loneLies } = this.faults
    const top = this.chain.length - 1
    if (lie === 'L21 a head ahead of the chain' && (at === 'latest' || at === 'finalized')) {
      if (at === 'latest' || this.#toldHead <= top) this.#toldHead = tellLie.ahead(top, this.#kernel)
      return this.#toldHead
    }
    const isTold = loneLies.includes('L21 a head ahead of the chain') && Number(at) === this.#toldHead
    return isTold && this.#toldHead > top ? this.#toldHead : null
  }

  #blockAt(at: unknown, lie: Lie | undefined): WorldBlock | undefined {
    const top = this.chain.length - 1
    if (at === 'latest') {
      const back = lie === 'L8 the head goes back' ? this.#kernel.between(1, 6) : 0
      return this.chain[Math.max(0, top - back)]
    }
    if (at === 'finalized') {
      if (lie === 'L22 finality ahead of the chain') return this.chain[top]
      if (lie === 'L9 finality goes back')
        return this.chain[Math.max(0, this.finalized - this.#kernel.between(1, 9))]
      return this.chain[Math.min(top, this.finalized)]
    }
    const number = Number(at)
    const cached = this.#cached.get(number)
    if (lie === 'L7 an old block from a cache' && cached) return cached
    const block = this.chain[number]
    if (block) this.#cached.set(number, block)
    return block
  }
}

/** The network between one process and the nodes. */
export function simNetwork(kernel: Kernel, process: SimProcess, nodes: readonly SimNode[]): OpenTransport {
  return (origin): Transport => {
    const node = nodes.find((one) => one.origin === origin)
    if (!node) throw new Error(`no node at ${origin}`)
    return {
      dispatch: (options: { body?: unknown }, handler: Dispatcher.DispatchHandler) => {
        exchange(kernel, process, node, String(options.body), handler)
        return true
      },
      destroy: async () => {},
    } as Transport
  }
}

function exchange(
  kernel: Kernel,
  process: SimProcess,
  node: SimNode,
  body: string,
  handler: Dispatcher.DispatchHandler,
): void {
  let over = false
  const controller = {
    abort(reason: Error) {
      if (over) return
      over = true
      handler.onResponseError?.(controller, reason)
    },
  } as Dispatcher.DispatchController
  handler.onRequestStart?.(controller, {})
  const { latencyMs, tailMs } = node.faults
  const tail = kernel.chance(0.01) ? kernel.random() * tailMs : 0
  const [min, max] = latencyMs
  const thereMs = min / 2 + (kernel.random() * (max - min)) / 2
  kernel.after(thereMs, `${process.name} asks ${node.origin}`, () => {
    const answer = node.answer(body)
    if (answer === null) return
    kernel.deliver(process, thereMs + tail, `${node.origin} answers`, () => {
      if (over) return
      over = true
      if (answer.status < 0) return handler.onResponseError?.(controller, new Error('the connection was cut'))
      const bytes = Buffer.from(answer.text)
      handler.onResponseStart?.(controller, answer.status, { 'content-length': String(bytes.length) }, '')
      handler.onResponseData?.(controller, bytes)
      handler.onResponseEnd?.(controller, {})
    })
  })
}
