/**
 * Finds out which chains the settings mean, opens their sources, and starts the local dev chain
 * where none is named.
 */

import { messageOf, SettingError } from '#errors.ts'
import { SourceError } from '#ingest/rpc/errors.ts'
import { identifyChain as probeChain } from '#ingest/rpc/probe.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import { type DevChain, startDevChain } from '#local/devchain/node.ts'
import { runTraffic } from '#local/devchain/trafficThread.ts'
import type { Hash } from '#primitives.ts'
import type { Runtime } from '#runtime.ts'
import { assertSameGenesis, type ChainIdentity, readChainIdentity } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import { rulesOf } from './chain/chainRules.ts'
import { type Config, LOCAL_CHAIN_ID } from './config.ts'
import type { ChainConfig } from './settings/chainFields.ts'

/** A chain the settings name, reachable. */
export interface ReachableChain {
  readonly config: ChainConfig
  readonly chainId: number
  readonly source: RpcSource
  readonly genesisHash: Hash | null
  /** The local chain behind it, when it is ours. */
  readonly devChain: DevChain | null
}

/** Tempo's networks; everything else is an ordinary EVM chain. */
const tempoChainIds = new Set([4217, 42431])

export const kindOf = (chainId: number): 'tempo' | 'evm' => (tempoChainIds.has(chainId) ? 'tempo' : 'evm')

/** @throws SettingError, SourceError, DevChainUnavailableError */
export async function reachChains(
  config: Config,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
): Promise<ReachableChain[]> {
  const chains: ReachableChain[] = []
  for (const chain of config.chains) chains.push(await reachChain(chain, dataDir, runtime, log))
  return chains
}

async function reachChain(
  config: ChainConfig,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
): Promise<ReachableChain> {
  const devChain = config.rpcUrls.length === 0 ? await openDevChain(config, dataDir, runtime, log) : null
  const urls = devChain ? [devChain.rpcUrl] : config.rpcUrls
  const { chainId, genesisHash } = await probeChain(urls, runtime.clock).catch((cause: unknown) => {
    if (!(cause instanceof SourceError)) throw cause
    throw new SettingError(settingOf(config), messageOf(cause.cause), { cause })
  })
  if (config.chainId !== null && config.chainId !== chainId)
    throw new SettingError('CONFIG', `the node given for chain ${config.chainId} serves chain ${chainId}`)
  const source = createSource({
    chainId,
    genesisHash,
    urls,
    finalityDepth: config.finalityDepth,
    relayUrls: config.relayUrls,
    runtime,
    log,
  })
  return { config, chainId, genesisHash, source, devChain }
}

/** Where a person finds the endpoints of a chain. */
const settingOf = ({ chainId }: ChainConfig): string =>
  chainId === null ? 'RPC_URL' : `CONFIG, rpcUrls of chain ${chainId}`

async function openDevChain(
  config: ChainConfig,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
): Promise<DevChain> {
  return startDevChain({
    dataDir,
    chainId: config.chainId ?? LOCAL_CHAIN_ID,
    log,
    clock: runtime.clock,
  })
}

/** What makes the chain this chain and no other: its genesis, and how its headers hash. */
export async function identifyChain(
  chain: ReachableChain,
  postgres: Postgres,
  { clock }: Pick<Runtime, 'clock'>,
): Promise<ChainIdentity> {
  const { source, chainId, config, genesisHash } = chain
  const known = await readChainIdentity(postgres, chainId)
  if (!genesisHash) {
    if (known) return known
    throw new SettingError(
      'RPC_URL',
      `no node of chain ${chainId} holds block 0, by which chains are told apart; add one that does, at least for the first start`,
    )
  }
  const rules = await rulesOf(source, known, { chainId, postgres, clock })
  const identity = { chainId, genesisHash, ...rules, startBlock: known?.startBlock ?? config.startBlock }
  // Told before anything is served: a program that shows one chain and follows another would look
  // healthy.
  assertSameGenesis(identity, known)
  return identity
}

/**
 * Traffic on the dev chains, so that there is something to see. Resolves when it has ended, after
 * the signal.
 */
export async function runTrafficOn(
  chains: readonly ReachableChain[],
  { clock }: Runtime,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const devChains = chains.flatMap(({ devChain }) => devChain ?? [])
  await Promise.all(
    devChains.map(({ rpcUrl, chainId, generation: seed }) =>
      runTraffic({ rpcUrl, chainId, seed }, log, clock, signal),
    ),
  )
}
