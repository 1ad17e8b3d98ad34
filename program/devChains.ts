/** The local dev chains of a program: started, told of, watched over, and given something to do. */

import { DevRpc, field, hexQuantity } from '#local/devchain/DevRpc.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { type DevChain, type DevChainOptions, startDevChain } from '#local/devchain/node.ts'
import { runTraffic } from '#local/devchain/trafficThread.ts'
import type { Hex } from '#primitives.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { readGenesis, readNewestFinal } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'

/** @param anew why the one that is there is given up for a new one */
export async function openDevChain(
  chainId: number | null,
  dataDir: string,
  { clock, log }: Pick<DevChainOptions, 'clock' | 'log'>,
  anew?: string,
): Promise<DevChain> {
  const options = { dataDir, chainId: chainId ?? DEV_CHAIN_ID, log, clock }
  const devChain = await startDevChain(anew === undefined ? options : { ...options, anew })
  log.warn({ chainId: devChain.chainId }, describeDevChain(devChain))
  return devChain
}

/** A warning that nobody takes a dev chain for a network, in one line. */
export const describeDevChain = ({ chainId }: Pick<DevChain, 'chainId'>): string =>
  `chain ${chainId} is a local dev chain, made up by this program because RPC_URL is not set: no network has its blocks`

/**
 * Which block that was final here a dev chain lacks, in words; null where it lacks none, or is known
 * for another one by its block 0.
 */
export async function findLoss(
  { chainId, rpcUrl, generation }: Pick<DevChain, 'chainId' | 'rpcUrl' | 'generation'>,
  postgres: Postgres,
): Promise<string | null> {
  if ((await readGenesis(postgres, chainId)) !== generation) return null
  const final = await readNewestFinal(postgres, chainId)
  if (!final) return null
  const block = await new DevRpc(rpcUrl).call('eth_getBlockByNumber', hexQuantity(final.number), false)
  return field(block, 'hash') === final.hash ? null : `block ${final.number}, which was final, is gone`
}

/**
 * Traffic on the dev chains, so that there is something to see, and money for accounts of the
 * operator (`gifts`). Resolves when it has ended, after the signal.
 */
export async function runTrafficOn(
  chains: readonly { readonly devChain: DevChain | null }[],
  gifts: readonly Hex[],
  { clock }: Runtime,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const devChains = chains.flatMap(({ devChain }) => devChain ?? [])
  await Promise.all(
    devChains.map(({ rpcUrl, chainId, generation: seed }) =>
      runTraffic({ rpcUrl, chainId, seed, gifts }, log, clock, signal),
    ),
  )
}
