/** Dev chains for tests: each in a folder of its own, gone when the test is. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevRpc, quantity } from '#local/devchain/devRpc.ts'
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
  await new DevRpc(rpcUrl).call('anvil_mine', quantity(count), quantity(1))
}
