/**
 * A node of the network that one secret signs, over HTTP: what it shows, calls final and certifies
 * is whatever a test sets, the truth or not.
 */
import { type FakeNode, type NodeAnswer, type NodeCall, startNode } from '../ingest/support/proxyNode.ts'
import { type Branch, certificateOf } from './finalityChain.ts'
import type { TempoBlock } from './tempoBlock.ts'

/** A certificate's digits, or how a node says that it has none. */
export type FinalizationWord = string | { readonly error: NodeError }

interface NodeError {
  readonly code: number
  readonly message: string
  readonly data?: string
}

export const notReady = { error: { code: 204, message: 'not ready' } }
export const noCertificate = { error: { code: 503, message: 'no data', data: 'certificate' } }
export const methodMissing = { error: { code: -32_601, message: 'the method does not exist' } }

export interface FinalityNodeOptions {
  readonly chainId: number
  readonly branch: Branch
  /** Height that it calls final by its tag; the newest block of the branch is its head. */
  readonly finalized: number
}

export class FinalityNode {
  readonly chainId: number
  /** The chain that it shows, whole. */
  branch: Branch
  finalized: number
  /** Blocks beside the branch that it gives by their hashes. */
  others: Branch = []
  latest: FinalizationWord = methodMissing
  /** By height. */
  readonly certificates = new Map<number, FinalizationWord>()
  /** The answer for a height without an entry. */
  absent: FinalizationWord = noCertificate
  isAway = false
  #server: FakeNode | null = null
  #asked = new Map<string, (() => void)[]>()

  constructor({ chainId, branch, finalized }: FinalityNodeOptions) {
    this.chainId = chainId
    this.branch = branch
    this.finalized = finalized
  }

  get url(): string {
    if (!this.#server) throw new Error('the node has not been started')
    return this.#server.url
  }

  async start(): Promise<this> {
    this.#server = await startNode({
      call: (call) => this.#answer(call),
      request: (calls, response) => {
        for (const { method } of [calls].flat()) this.#tellAsked(method)
        if (this.isAway) response.writeHead(503).end()
        return this.isAway
      },
    })
    return this
  }

  async close(): Promise<void> {
    await this.#server?.close()
  }

  /** Certifies this block truly: as the newest, and at its height. */
  certify(branch: Branch, number: number, other: Parameters<typeof certificateOf>[2] = {}): void {
    const text = certificateOf(branch, number, other)
    this.latest = text
    this.certificates.set(number, text)
  }

  /** Resolves when it has been asked so many times more. */
  async asked(method: string, times = 1): Promise<void> {
    for (let time = 0; time < times; time++)
      await new Promise<void>((resolve) => {
        this.#asked.set(method, [...(this.#asked.get(method) ?? []), resolve])
      })
  }

  #tellAsked(method: string): void {
    const waiting = this.#asked.get(method) ?? []
    this.#asked.delete(method)
    for (const tell of waiting) tell()
  }

  #answer({ method, params }: NodeCall): NodeAnswer {
    const [first] = params
    switch (method) {
      case 'eth_chainId':
        return { result: `0x${this.chainId.toString(16)}` }
      case 'eth_blockNumber':
        return { result: `0x${(this.branch.length - 1).toString(16)}` }
      case 'eth_getBlockByNumber':
        return { result: shown(this.#byNumber(first), params[1]) }
      case 'eth_getBlockByHash':
        return { result: shown(this.#byHash(first), params[1]) }
      case 'eth_getBlockReceipts':
        return { result: (this.#byNumber(first) ?? this.#byHash(first))?.receipts ?? null }
      case 'consensus_getFinalization':
        return this.#finalization(first)
      default:
        return methodMissing
    }
  }

  #byNumber(at: unknown): TempoBlock | undefined {
    if (at === 'latest') return this.branch.at(-1)
    if (at === 'finalized' || at === 'safe') return this.branch[this.finalized]
    return typeof at === 'string' && at.length < 20 ? this.branch[Number(at)] : undefined
  }

  #byHash(digest: unknown): TempoBlock | undefined {
    return [...this.branch, ...this.others].find(({ block }) => block.hash === digest)
  }

  #finalization(at: unknown): NodeAnswer {
    const word =
      at === 'latest' ? this.latest : (this.certificates.get(Number(Object(at).height)) ?? this.absent)
    return typeof word === 'string' ? { result: { epoch: 0, view: 0, certificate: word, block: null } } : word
  }
}

/** A block as it is asked for: with transactions, or with their hashes. */
function shown(block: TempoBlock | undefined, isWhole: unknown) {
  if (!block || isWhole === true) return block?.block ?? null
  return { ...block.block, transactions: block.block.transactions.map((tx) => tx['hash']) }
}
