/**
 * Finds out which chains the settings mean, opens their sources, and starts the local dev chain
 * where none is named.
 */

import { messageOf, SettingError } from '#errors.ts'
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { chosenRule } from '#ingest/finality/rules/chosenRule.ts'
import { ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { openRelay } from '#ingest/relay/openRelay.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import { SourceError } from '#ingest/rpc/client/errors.ts'
import { Identities, isSameChain, type ToldIdentity } from '#ingest/rpc/endpoints/Identities.ts'
import { finalityNetwork } from '#ingest/rpc/finality/finalityEndpoints.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { DevChain } from '#local/devchain/node.ts'
import type { Hash } from '#primitives.ts'
import type { Clock, Runtime } from '#runtime/runtime.ts'
import { earlierProofs } from '#store/finality/finalityProofs.ts'
import {
  assertSameGenesis,
  type ChainIdentity,
  readChainIdentity,
  readGenesis,
} from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import type { ChainKind } from '#transform/profile.ts'
import { kindOf } from './chain/chainKind.ts'
import { rulesOf } from './chain/chainRules.ts'
import { patientHead } from './chain/patientHead.ts'
import type { Config } from './config.ts'
import { findLoss, openDevChain } from './devChains.ts'
import type { ReachedFinality } from './finality/ChainFinality.ts'
import type { ChainConfig } from './settings/chainFields.ts'
import { assertKeyIsPoint } from './settings/finalityField.ts'

/** A chain the settings name, reachable. */
export interface ReachableChain {
  readonly config: ChainConfig
  readonly chainId: number
  readonly kind: ChainKind
  readonly source: RpcSource
  /** The calls of clients, to the same endpoints or to their own. */
  readonly relay: Relay
  readonly finality: ReachedFinality
  readonly genesisHash: Hash | null
  /** The local chain behind it, when it is ours. */
  readonly devChain: DevChain | null
}

/** Ends what a chain holds open to its nodes. */
export async function closeNodes({ relay, source }: Pick<ReachableChain, 'relay' | 'source'>): Promise<void> {
  await relay.close()
  await source.close()
}

/** A chain the settings name, whose endpoints have begun to say which it is. */
export interface FoundChain {
  readonly config: ChainConfig
  readonly urls: readonly string[]
  readonly identities: Identities
  /** The identities told so far, of one chain or of several. */
  readonly told: readonly ToldIdentity[]
  readonly devChain: DevChain | null
}

/** After the first endpoint has told its chain, others are waited for so long. */
const SILENT_MS = 3_000
/** And so long where nothing is held yet, and what is told now is believed from then on. */
const FIRST_START_MS = 10_000

/** @throws SettingError, SourceError, DevChainUnavailableError */
export async function findChains(
  config: Pick<Config, 'chains'>,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
): Promise<FoundChain[]> {
  const chains: FoundChain[] = []
  for (const chain of config.chains) chains.push(await findChain(chain, dataDir, runtime, log))
  return chains
}

/**
 * The same chain; one that begins anew where the dev chain came back without a block that was final
 * here.
 */
export async function renewWhereLost(
  found: FoundChain,
  postgres: Postgres,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
): Promise<FoundChain> {
  const { config, devChain, identities } = found
  const lost = devChain && (await findLoss(devChain, postgres))
  if (!lost) return found
  await identities.close()
  return findChain(config, dataDir, runtime, log, lost)
}

/** @param anew why a dev chain is given up for a new one */
async function findChain(
  config: ChainConfig,
  dataDir: string,
  runtime: Runtime,
  log: Logger,
  anew?: string,
): Promise<FoundChain> {
  const isDev = config.rpcUrls.length === 0
  const devChain = isDev ? await openDevChain(config.chainId, dataDir, { ...runtime, log }, anew) : null
  const urls = devChain ? [devChain.rpcUrl] : config.rpcUrls
  const identities = new Identities(urls, runtime.clock)
  const told = await identities.told(SILENT_MS).catch(async (cause: unknown) => {
    await identities.close()
    if (!(cause instanceof SourceError)) throw cause
    throw new SettingError(settingOf(config), messageOf(cause.cause), { cause })
  })
  return { config, urls, identities, told, devChain }
}

/**
 * Decides which of the chains that endpoints tell it is, and opens its source. @param postgres null
 * for a command that holds nothing. @throws SettingError
 */
export async function reachChain(
  found: FoundChain,
  postgres: Postgres | null,
  runtime: Runtime,
  log: Logger,
): Promise<ReachableChain> {
  const { config, urls, devChain, identities } = found
  try {
    const held = (chainId: number) => (postgres ? readGenesis(postgres, chainId) : Promise.resolve(null))
    const { chainId, genesisHash } = await decide(found, held, log)
    if (config.chainId !== null && config.chainId !== chainId)
      throw new SettingError('CONFIG', `the node given for chain ${config.chainId} serves chain ${chainId}`)
    await assertKeyIsPoint(config.finality)
    const proved = new ProvedFinality()
    if (postgres) for (const proof of await earlierProofs(postgres, chainId)) proved.take(proof)
    const { rule: choice, key } = config.finality
    const source = createSource({
      chainId,
      genesisHash: genesisHash ?? (await held(chainId)),
      urls,
      finalityDepth: config.finalityDepth,
      finality: (agreed) => chosenRule(choice, agreed, proved),
      runtime,
      log,
    })
    const relay = openRelay(source, { relayUrls: config.relayUrls, clock: runtime.clock })
    const kind = devChain ? 'tempo' : await kindOf(chainId, source, postgres)
    const network = finalityNetwork(source.pool, runtime.clock)
    const finality = { choice, proved, keys: initialKeys(chainId, key), network }
    return { config, chainId, kind, genesisHash, source, relay, finality, devChain }
  } finally {
    await identities.close()
  }
}

type ReadGenesis = (chainId: number) => Promise<Hash | null>

/**
 * The chain that is held, whoever else answers; where none is, what two endpoints tell. One alone is
 * believed only when no other answers.
 */
async function decide(
  { config, urls, told, identities }: FoundChain,
  held: ReadGenesis,
  log: Logger,
): Promise<ToldIdentity> {
  const [only] = told
  if (only && urls.length === 1) return only
  const known = await findHeld(told, held)
  if (known) return known
  const all = await identities.told(FIRST_START_MS)
  const wanted = all.filter(({ chainId }) => config.chainId === null || chainId === config.chainId)
  const heard = wanted.length > 0 ? wanted : all
  const agreed =
    (await findHeld(heard, held)) ??
    heard.find((one) => heard.some((other) => other !== one && isSameChain(one, other)))
  if (agreed) return agreed
  const telling = heard.filter(({ genesisHash }) => genesisHash !== null)
  const [first, second] = telling.length > 0 ? telling : heard
  if (!first) throw new TypeError('what was told is never nothing')
  if (second && telling.length > 0) throw new SettingError(settingOf(config), disagreement(first, second))
  log.warn(
    { chainId: first.chainId },
    `${first.endpoint} alone tells which chain this is; no other endpoint has answered`,
  )
  return first
}

/** The identity that is the one of data held here; a node without block 0 tells its chain id alone. */
async function findHeld(told: readonly ToldIdentity[], held: ReadGenesis): Promise<ToldIdentity | undefined> {
  for (const one of told) {
    const genesis = await held(one.chainId)
    if (genesis !== null && (one.genesisHash ?? genesis) === genesis) return one
  }
  return undefined
}

const disagreement = (first: ToldIdentity, second: ToldIdentity): string =>
  `${[first, second].map(({ endpoint, chainId, genesisHash }) => `${endpoint} serves chain ${chainId} with genesis ${genesisHash}`).join(', ')}; leave out the one that is wrong`

/** The setting that names the endpoints of a chain. */
const settingOf = ({ chainId }: ChainConfig): string =>
  chainId === null ? 'RPC_URL' : `CONFIG, rpcUrls of chain ${chainId}`

/** The facts that make the chain this chain and no other: its genesis, and how its headers hash. */
export async function identifyChain(
  chain: ReachableChain,
  postgres: Postgres,
  { clock }: Pick<Runtime, 'clock'>,
): Promise<ChainIdentity> {
  const { source, chainId, genesisHash } = chain
  const known = await readChainIdentity(postgres, chainId)
  if (!genesisHash) {
    if (known) return known
    throw new SettingError(
      'RPC_URL',
      `no node of chain ${chainId} holds block 0, by which chains are told apart; add one that does, at least for the first start`,
    )
  }
  if (!known && !chain.devChain) await assertStartReached(chain, clock)
  const rules = await rulesOf(source, known, { chainId, postgres, clock })
  const identity = { chainId, genesisHash, ...rules, startBlock: startOf(chain, known) }
  // Told before anything is served: a program that shows one chain and follows another would look
  // healthy.
  assertSameGenesis(identity, known)
  return identity
}

/** Decided before anything is recorded. @throws SettingError */
async function assertStartReached(chain: ReachableChain, clock: Clock): Promise<void> {
  const { chainId, source } = chain
  const startBlock = startOf(chain, null)
  const { head } = await patientHead(source, clock)
  if (startBlock <= head.number) return
  throw new SettingError(
    startSettingOf(chain),
    `is ${startBlock}, but the newest block of chain ${chainId} is ${head.number}`,
  )
}

/**
 * A held chain may begin earlier, and history fills what lies between. It does not begin later:
 * nothing that is held is given up by a setting. @throws SettingError
 */
function startOf(chain: ReachableChain, known: ChainIdentity | null): number {
  const { config, chainId } = chain
  if (!known) return config.startBlock ?? 0
  const asked = config.startBlock ?? known.startBlock
  if (asked <= known.startBlock) return asked
  throw new SettingError(
    startSettingOf(chain),
    `is ${asked}, but chain ${chainId} is held from block ${known.startBlock} on; leave it out, or remove the chain first (chains remove ${chainId})`,
  )
}

const startSettingOf = ({ config, chainId }: ReachableChain): string =>
  config.chainId === null ? 'START_BLOCK' : `CONFIG, startBlock of chain ${chainId}`
