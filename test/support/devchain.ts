/** Dev chains for tests: each in a folder of its own, gone when the test is. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevRpc, hexQuantity } from '#local/devchain/DevRpc.ts'
import { type DevChain, startDevChain } from '#local/devchain/node.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

export const { clock } = systemRuntime()

/** A new dev chain; `remove` ends it and deletes its folder. */
export async function startTestDevChain(
  chainId = 4217,
): Promise<DevChain & { readonly dataDir: string; remove(): Promise<void> }> {
  const dataDir = await temporaryFolder()
  const chain = await startDevChain({ dataDir, chainId, log: silentLogger, clock })
  const remove = async () => {
    await chain.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { ...chain, dataDir, remove }
}

/** Ten a second: what waits for a block, or for one to be final, waits for little. */
const BLOCK_MS = 100

/** A new dev chain that mines until it is removed, and has a block when this resolves. */
export async function startMiningDevChain(
  chainId = 4217,
): Promise<Awaited<ReturnType<typeof startTestDevChain>>> {
  const chain = await startTestDevChain(chainId)
  const stopMining = await keepMining(chain.rpcUrl)
  const remove = async () => {
    await stopMining()
    await chain.remove()
  }
  return { ...chain, remove }
}

/**
 * Mines until the returned function is called. The chain's clock, which stands still between blocks
 * and at 1970 in block 0, goes on with ours.
 */
export async function keepMining(rpcUrl: string): Promise<() => Promise<void>> {
  const rpc = new DevRpc(rpcUrl)
  let isMining = true
  const mine = async () => {
    while (isMining) {
      await clock.sleep(BLOCK_MS)
      await rpc.call('evm_mine')
    }
  }
  await rpc.call('evm_mine')
  const mined = mine()
  return () => {
    isMining = false
    return mined
  }
}

/** An empty folder for one test. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'millrace-devchain-'))
}

/**
 * Replaces the newest `depth` blocks by empty ones at the same heights; the transactions are gone.
 * The hashes differ whatever the blocks held. At most `reorgDepthMax`.
 */
export async function reorg(rpcUrl: string, depth: number): Promise<void> {
  await new DevRpc(rpcUrl).call('anvil_reorg', depth, [])
}

/** Mines empty blocks a second apart. */
export async function mineBlocks(rpcUrl: string, count: number): Promise<void> {
  await new DevRpc(rpcUrl).call('anvil_mine', hexQuantity(count), hexQuantity(1))
}
