/**
 * Finds out which chains the settings mean, opens their sources, and starts the local dev chain
 * where none is named.
 */

import { messageOf, SettingError } from '#errors.ts'
import { parseBlock } from '#ingest/read/block.ts'
import { NodeAnswerError } from '#ingest/read/nodeAnswerError.ts'
import { SourceError } from '#ingest/rpc/errors.ts'
import { identifyChain as probeChain } from '#ingest/rpc/probe.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange } from '#ingest/source.ts'
import { detectHeaderRule, type HeaderRule } from '#ingest/verify/header.ts'
import { type DevChain, startDevChain } from '#local/devchain/node.ts'
import { runTraffic } from '#local/devchain/trafficThread.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { Runtime } from '#runtime.ts'
import { assertSameGenesis, type ChainIdentity, readChainIdentity } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import { parseRange } from '#transform/decode/parseRange.ts'
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
export async function identifyChain(chain: ReachableChain, postgres: Postgres): Promise<ChainIdentity> {
  const { source, chainId, config, genesisHash } = chain
  const known = await readChainIdentity(postgres, chainId)
  if (!genesisHash) {
    if (known) return known
    throw new SettingError(
      'RPC_URL',
      `no node of chain ${chainId} holds block 0, by which chains are told apart; add one that does, at least for the first start`,
    )
  }
  const headerRule = await headerRuleOf(source, known)
  const identity = { chainId, genesisHash, headerRule, startBlock: known?.startBlock ?? config.startBlock }
  // Told before anything is served: a program that shows one chain and follows another would look
  // healthy.
  assertSameGenesis(identity, known)
  return identity
}

/**
 * What was learned once holds for good. A rule nobody knew is looked for at each start: this
 * program may know it now, and the answer it was not found in may have been false.
 */
async function headerRuleOf(source: HeaderSource, known: ChainIdentity | null): Promise<HeaderRule> {
  if (!known) return await learnHeaderRule(source)
  if (known.headerRule !== 'unknown') return known.headerRule
  return await learnHeaderRule(source).catch(() => known.headerRule)
}

export type HeaderSource = Pick<RpcSource, 'head' | 'fetch' | 'blockRef'>

/** Answers of different endpoints looked at before a rule counts as unknown. */
const HEADER_ANSWERS_MAX = 3

/**
 * The newest final block decides: genesis blocks are sometimes made by other rules. Only an answer
 * that hashes to the block all endpoints agree on tells the rule; one that is false tells nothing.
 */
export async function learnHeaderRule(source: HeaderSource): Promise<HeaderRule> {
  const { finalized } = await source.head()
  const number = Math.max(0, finalized)
  const agreed = await source.blockRef(number)
  const asked = new Set<string>()
  for (let nth = 0; nth < HEADER_ANSWERS_MAX; nth++) {
    const raw = await source.fetch({ from: number, to: number }, { not: asked })
    const rule = ruleOf(raw, agreed)
    if (rule !== 'unknown' || asked.has(raw.endpoint)) return rule
    asked.add(raw.endpoint)
  }
  return 'unknown'
}

function ruleOf(raw: RawRange, agreed: BlockRef | null): HeaderRule {
  try {
    const [answer] = parseRange(raw.bytes, raw.range)
    const block = parseBlock(answer?.block, { number: raw.range.from })
    return agreed?.hash === block.hash ? detectHeaderRule(block) : 'unknown'
  } catch (error) {
    if (error instanceof NodeAnswerError) return 'unknown'
    throw error
  }
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
