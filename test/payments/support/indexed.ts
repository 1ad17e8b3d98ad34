/** A dev chain, and its final blocks in a store, as the indexer proves them. */
import { http } from 'viem'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { DevRpc, field } from '#local/devchain/DevRpc.ts'
import { type Ask, askOf } from '#money/node.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { type ChainStore, decode, openChainStore } from '../../store/support/chainStore.ts'
import { reorg, startTestDevChain } from '../../support/devchain.ts'

export interface IndexedDevChain {
  readonly chainId: number
  readonly rpcUrl: string
  readonly rpc: DevRpc
  readonly node: Ask
  readonly store: ChainStore
  /** Stores every block that is final on the node. */
  catchUp(): Promise<void>
  /** As many blocks as make final what was mined before. */
  makeFinal(): Promise<void>
  /** Mines `send`'s transactions and replaces their blocks by empty ones, however many there are. */
  takeBack<T>(send: () => Promise<T>): Promise<T>
  /** And so much time that nothing signed before can be mined; payers live by another clock then. */
  passTime(): Promise<void>
  close(): Promise<void>
}

/** Blocks below the head that a dev chain does not call final, and one. */
const FINALITY = 5

export async function startIndexedDevChain(chainId: number): Promise<IndexedDevChain> {
  const chain = await startTestDevChain(chainId)
  const { rpcUrl } = chain
  const rpc = new DevRpc(rpcUrl)
  // Payments are valid for seconds of the chain's clock, which stands still between blocks.
  await rpc.call('evm_setIntervalMining', 1)
  const runtime = systemRuntime()
  const source = createSource({ chainId, urls: [rpcUrl], finalityDepth: 0, runtime, log: silentLogger })
  const store = await openChainStore({ headFrom: 0 })
  let next = 0
  const { signal } = new AbortController()
  const height = async () => Number(await rpc.call('eth_blockNumber'))
  return {
    ...{ chainId, rpcUrl, rpc, store, node: askOf(http(rpcUrl)) },
    async catchUp() {
      const final = await rpc.call('eth_getBlockByNumber', 'finalized', false)
      const to = Number(field(final, 'number'))
      while (next <= to) {
        const batch = decode(await source.fetch({ from: next, to }, { signal }))
        await store.head.append(batch)
        next = batch.range.to + 1
      }
      await store.head.finalize(next - 1)
    },
    makeFinal: async () => {
      for (let mined = 0; mined < FINALITY; mined++) await rpc.call('evm_mine')
    },
    async takeBack(send) {
      const before = await height()
      const result = await send()
      // A block between the two calls would be left standing.
      await rpc.call('evm_setIntervalMining', 0)
      await reorg(rpcUrl, (await height()) - before)
      await rpc.call('evm_setIntervalMining', 1)
      return result
    },
    passTime: async () => {
      await rpc.call('anvil_mine', '0x80', '0x1')
    },
    async close() {
      await store.close()
      await chain.remove()
    },
  }
}
