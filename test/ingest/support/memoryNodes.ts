import type { Dispatcher } from 'undici'
import type { OpenTransport, Transport } from '#ingest/rpc/client/client.ts'
import type { BlockRef } from '#primitives.ts'
import type { FakeChain } from './fakeChain.ts'
import type { NodeCall } from './proxyNode.ts'

/** A block as a node tells it: the reference, and when it was made. */
export type ToldBlock = BlockRef & { readonly timestamp?: number }

/** A node's answer about a block by tag or height; undefined to answer truly, 'away' to be too busy to. */
export type TellBlock = (at: unknown) => ToldBlock | 'away' | null | undefined

const SECONDS_START = 1_700_000_000

/** One block a second, from a fixed moment on. */
export const secondOf = (number: number): number => SECONDS_START + number

const quantity = (value: number) => `0x${value.toString(16)}`

/** A block as a node tells it without its transactions; null when there is none. */
export function headerOf(block: ToldBlock | null | undefined) {
  if (!block) return null
  const { number, hash, parentHash, timestamp = secondOf(number) } = block
  return { number: quantity(number), hash, parentHash, timestamp: quantity(timestamp), transactions: [] }
}

/**
 * Nodes of one chain, without sockets: each host answers truly but for what its entry of `told`
 * says, and to calls that `otherwise` answers. Batches are answered item by item.
 */
export function memoryNodes(
  chain: FakeChain,
  told: ReadonlyMap<string, TellBlock>,
  otherwise: (host: string, method: string) => { result: unknown } | { error: unknown } | null = () => null,
): OpenTransport {
  const truly = (at: unknown) => {
    if (at === 'latest') return chain.head
    return chain.blocks[at === 'finalized' ? Math.min(chain.finalized, chain.head.number) : Number(at)]
  }
  const answer = (host: string, { id, method, params }: NodeCall) => {
    const other = otherwise(host, method)
    if (other !== null) return { jsonrpc: '2.0', id, ...other }
    const [at] = params
    const told_ = told.get(host)?.(at)
    if (told_ === 'away') return null
    const result =
      method === 'eth_chainId'
        ? '0x1'
        : method === 'eth_getBlockReceipts'
          ? []
          : headerOf(told_ === undefined ? truly(at) : told_)
    return { jsonrpc: '2.0', id, result }
  }
  return (origin) =>
    ({
      dispatch: (options: { body?: unknown }, handler: Parameters<Transport['dispatch']>[1]) => {
        const { host } = new URL(origin)
        const calls: NodeCall | NodeCall[] = JSON.parse(String(options.body))
        const answers = Array.isArray(calls) ? calls.map((call) => answer(host, call)) : answer(host, calls)
        const isAway = answers === null || (Array.isArray(answers) && answers.includes(null))
        const bytes = Buffer.from(JSON.stringify(answers))
        let isAborted = false
        const controller = {
          ...{ pause() {}, resume() {} },
          abort(reason: Error) {
            isAborted = true
            handler.onResponseError?.(controller, reason)
          },
        } as unknown as Dispatcher.DispatchController
        setImmediate(() => {
          handler.onRequestStart?.(controller, {})
          handler.onResponseStart?.(
            controller,
            isAway ? 429 : 200,
            { 'content-length': String(bytes.length) },
            '',
          )
          if (isAborted) return
          handler.onResponseData?.(controller, bytes)
          if (isAborted) return
          handler.onResponseEnd?.(controller, {})
        })
        return true
      },
      destroy: async () => {},
    }) as Transport
}
