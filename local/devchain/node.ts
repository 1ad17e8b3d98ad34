/**
 * The local chain used when RPC_URL is not set: anvil in Tempo mode, kept across our own restarts.
 *
 * What was measured on anvil 1.7.1 and decides the life cycle:
 * - on SIGINT and SIGTERM `--dump-state` writes blocks, transactions (0x76 too), receipts and
 *   state; loaded again, every block and receipt answers byte for byte as before, also with
 *   --prune-history (8,000 transactions: 55 MB, 1 s);
 * - unless told otherwise it also writes that file once a minute, whole each time, in place: 240 MB
 *   a minute at the cap, and a SIGKILL brings the chain back up to a minute short, a fork with the
 *   same genesis.
 * So it is told of an interval that never ends. A state file exists only after a clean end, is
 * deleted once loaded, and means "all of it". Our SIGKILL does not touch anvil: the next start
 * attaches to it. If anvil itself was killed, the chain is lost and a new generation begins, with
 * another block 0. A file that came back all the same, as after a cut of power that undid its
 * deletion, is found out by whoever knows which blocks were final: `anew` gives the chain up.
 */
import { randomInt } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { failure, messageOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { findFreePort } from '../freePort.ts'
import { awaitExit, isRunning, logTail, signalAnvil, spawnAnvil } from './anvilProcess.ts'
import { placeChannels } from './channels/escrow.ts'
import { DevRpc, hexQuantity, textField } from './DevRpc.ts'
import {
  DEV_CHAIN_ID,
  type DevChainFiles,
  type DevChainRecord,
  devChainFiles,
  readRecord,
  writeRecord,
} from './devChainRecord.ts'
import { placeDollar } from './dollar/dollar.ts'
import { findAnvil } from './findAnvil.ts'

export interface DevChainOptions {
  readonly dataDir: string
  readonly chainId?: number
  /** 0 or absent picks a free port. A chain that still runs keeps the port it has. */
  readonly port?: number
  /** Height from which a start begins a new generation. */
  readonly blocksMax?: number
  /** Why the chain is given up and another one begins, whatever is left of it. */
  readonly anew?: string
  readonly log: Logger
  readonly clock: Clock
}

/** A running dev chain. */
export interface DevChain {
  readonly rpcUrl: string
  readonly chainId: number
  /**
   * Hash of block 0. It changes when the chain was lost: rows of another generation describe
   * another chain. Compare it with what the ledger holds; `fresh` alone misses a program that was
   * killed between the two.
   */
  readonly generation: string
  /** True when this start began the generation. */
  readonly fresh: boolean
  readonly pid: number
  /** Ends anvil with its chain on disk. Stop the traffic first. Idempotent. */
  stop(): Promise<void>
}

/**
 * Blocks after which the next start begins a new generation and running traffic slows down (see
 * traffic.ts). A block with its transaction was measured to take 22 KB of anvil's memory and 8 KB
 * of its state file: about 700 MB and 240 MB here, after four hours at two blocks a second.
 */
export const GENERATION_BLOCKS_MAX = 30_000

/**
 * How far `anvil_reorg` can go back. Anvil keeps one state more than this, each a copy of all
 * accounts.
 */
const REORG_DEPTH_MAX = 23

/**
 * Gas limit of Tempo's blocks. Block 0 has a little more, which the flags of a new generation set.
 */
const BLOCK_GAS_LIMIT = 500_000_000

/** Tempo's fixed base fee up to T6: 20 gwei. */
export const BASE_FEE_PER_GAS = 20_000_000_000

/** Ten years: longer than a process lives. Absent, anvil takes a minute. */
const STATE_INTERVAL_SECONDS = 315_360_000

const START_TIMEOUT_MS = 60_000 // a state of 5,400 blocks loads in 2.6 s on two busy cores
const STOP_TIMEOUT_MS = 60_000
const POLL_MS = 25

/** The needs of every step of a start. */
interface Launch {
  readonly chainId: number
  readonly port: number | undefined
  readonly cap: number
  readonly files: DevChainFiles
  readonly log: Logger
  readonly clock: Clock
}

type Found = DevChainRecord & { readonly genesisHash: string }
type Generation = Pick<DevChainRecord, 'genesisHash' | 'genesisTimestamp' | 'genesisGasLimit'>

/**
 * Attaches to the dev chain of this data directory, or resumes it from its state file, or begins a
 * new generation.
 * @throws DevChainUnavailableError when there is no anvil for this machine; DevChainError when it
 * does not start.
 */
export async function startDevChain(options: DevChainOptions): Promise<DevChain> {
  const {
    dataDir,
    chainId = DEV_CHAIN_ID,
    port,
    blocksMax: cap = GENERATION_BLOCKS_MAX,
    anew,
    log,
    clock,
  } = options
  const files = devChainFiles(dataDir, chainId)
  const start: Launch = { chainId, port, cap, files, log, clock }
  await mkdir(files.folder, { recursive: true })
  const known = await readRecord(files)
  const mayGoOn = known !== undefined && anew === undefined
  const kept = mayGoOn ? ((await attach(known, start)) ?? (await resume(known, start))) : undefined
  if (kept && (await isRoomy(kept, cap))) return serve(kept, false, start)
  const full = kept && `it has the ${cap} blocks it may have`
  if (known) await retire(kept ?? known, anew ?? full ?? 'its anvil was killed or its state damaged', start)
  await rm(files.state, { force: true })
  const begun = await launch([], newGeneration(clock), start)
  log.info({ chainId, generation: begun.genesisHash, pid: begun.pid }, 'new dev chain')
  return serve(begun, true, start)
}

/**
 * The process of the last run, when it is still there and is what was written down. It may be busy:
 * a kill of ours can leave it loading, or writing the chain we had asked it to save; then it
 * answers or ends soon.
 */
async function attach(known: DevChainRecord, start: Launch): Promise<Found | undefined> {
  const genesisHash = await awaitGenesis(known, start)
  if (!genesisHash || (known.genesisHash !== null && known.genesisHash !== genesisHash)) return undefined
  const found = { ...known, genesisHash }
  await writeRecord(start.files, found)
  return found
}

/** The chain of the last run from the file it left when it ended cleanly. */
async function resume(known: DevChainRecord, start: Launch): Promise<Found | undefined> {
  const { files, log, chainId } = start
  const isPresent = await stat(files.state).then(
    () => true,
    () => false,
  )
  if (!isPresent) return undefined
  try {
    const found = await launch(['--load-state', files.state], known, start)
    if (known.genesisHash === null || found.genesisHash === known.genesisHash) return found
    await signalAnvil({ pid: found.pid, stateFile: files.state }, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof DevChainError)) throw error
    // A machine that lost power while anvil wrote it leaves a broken file.
    log.warn({ chainId, problem: messageOf(error) }, 'the dev chain left a state that cannot be loaded')
  }
  return undefined
}

/**
 * Block 0 holds no state root, so two chains begun within a second would share its hash. The gas
 * limit of block 0 therefore carries 24 random bits; later blocks have the usual one. (`--init`
 * ignores extraData.)
 */
function newGeneration(clock: Clock): Generation {
  return {
    genesisHash: null,
    genesisTimestamp: Math.floor(clock.now() / 1000),
    genesisGasLimit: BLOCK_GAS_LIMIT + randomInt(1, 1 << 24),
  }
}

/**
 * Anvil makes a block 0 before it loads a state, and writes both down when it ends: which one comes
 * back the next time is chance. So it is always told to make the same one.
 */
function genesisFlags({ genesisTimestamp, genesisGasLimit }: Generation): string[] {
  return ['--timestamp', String(genesisTimestamp), '--gas-limit', String(genesisGasLimit)]
}

/** Starts anvil, waits until it answers and writes the record; ends it again when it does not. */
async function launch(flags: readonly string[], generation: Generation, start: Launch): Promise<Found> {
  const { files } = start
  const port = start.port || (await findFreePort())
  const all = [
    ...networkFlags(start.chainId),
    ...['--port', String(port), '--dump-state', files.state],
    ...['--state-interval', String(STATE_INTERVAL_SECONDS)],
    ...genesisFlags(generation),
    ...flags,
  ]
  const binary = findAnvil()
  const pid = await spawnAnvil(binary, all, files.log).catch((cause: unknown) => {
    throw new DevChainError(`${binary} does not start: ${messageOf(cause)}`, { cause })
  })
  const record = { ...generation, pid, port }
  // Before the first answer: a kill of ours in between must not leave a process that nobody knows.
  await writeRecord(files, record)
  const found = await awaitGenesis(record, start)
  if (!found) {
    await signalAnvil({ pid, stateFile: files.state }, 'SIGKILL')
    throw new DevChainError(`anvil did not come up on port ${port}: ${await logTail(files.log)}`)
  }
  await writeRecord(files, { ...record, genesisHash: found })
  return { ...record, genesisHash: found }
}

function networkFlags(chainId: number): string[] {
  return [
    ...['--network', 'tempo', '--chain-id', String(chainId), '--hardfork', 't4', '--host', '127.0.0.1'],
    // finalized = head - 4: some blocks can be replaced, as on a chain whose votes are late.
    ...['--slots-in-an-epoch', '2', '--prune-history', String(REORG_DEPTH_MAX + 1)],
    ...['--base-fee', String(BASE_FEE_PER_GAS), '--no-mining', '--quiet'],
    // Fees are paid in tokens; the pool's check for native coin has no meaning here.
    '--disable-pool-balance-checks',
  ]
}

/**
 * Block 0's hash as soon as the process answers; undefined when it is gone, is another chain or
 * stays silent.
 */
async function awaitGenesis(known: DevChainRecord, start: Launch): Promise<string | undefined> {
  const { clock, files, chainId } = start
  const rpc = new DevRpc(urlOf(known.port))
  const deadline = clock.monotonic() + START_TIMEOUT_MS
  while (clock.monotonic() < deadline && (await isRunning({ pid: known.pid, stateFile: files.state }))) {
    try {
      if ((await rpc.quantity('eth_chainId')) !== chainId) return undefined
      return textField(await rpc.call('eth_getBlockByNumber', '0x0', false), 'hash')
    } catch {
      await clock.sleep(POLL_MS)
    }
  }
  return undefined
}

async function isRoomy({ port }: Found, cap: number): Promise<boolean> {
  return (await new DevRpc(urlOf(port)).quantity('eth_blockNumber')) < cap
}

/** Ends the last generation, and says loudly why. */
async function retire(last: DevChainRecord, reason: string, start: Launch): Promise<void> {
  const { log, clock, files, chainId } = start
  log.warn(
    { chainId, generation: last.genesisHash },
    `THE DEV CHAIN STARTS ANEW: ${reason}. What was indexed of the last one describes a chain that is gone`,
  )
  const anvil = { pid: last.pid, stateFile: files.state }
  await signalAnvil(anvil, 'SIGKILL')
  await awaitExit(anvil, STOP_TIMEOUT_MS, clock)
}

async function serve(found: Found, fresh: boolean, start: Launch): Promise<DevChain> {
  const { chainId, files } = start
  const { pid, port, genesisHash: generation } = found
  // From here on only a clean end may leave a state behind.
  await rm(files.state, { force: true })
  const rpc = new DevRpc(urlOf(port))
  await rpc.call('evm_setBlockGasLimit', hexQuantity(BLOCK_GAS_LIMIT))
  await placeChannels(rpc)
  await placeDollar(rpc)
  let stopped: Promise<void> | undefined
  const stopOnce = () => {
    stopped ??= stop(pid, start)
    return stopped
  }
  return { rpcUrl: urlOf(port), chainId, generation, fresh, pid, stop: stopOnce }
}

async function stop(pid: number, { files, clock, log }: Launch): Promise<void> {
  const anvil = { pid, stateFile: files.state }
  await signalAnvil(anvil, 'SIGINT')
  if (await awaitExit(anvil, STOP_TIMEOUT_MS, clock)) return
  log.warn(
    { pid, stopTimeoutMs: STOP_TIMEOUT_MS },
    'anvil did not end in time and is killed; the dev chain is lost',
  )
  await signalAnvil(anvil, 'SIGKILL')
  await awaitExit(anvil, STOP_TIMEOUT_MS, clock)
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** Anvil cannot be started. */
export class DevChainError extends failure('DevChainError', 'dev_chain_failed', 'stop') {
  constructor(problem: string, options?: ErrorOptions) {
    super(`the local dev chain: ${problem}. Set RPC_URL to use a Tempo node instead`, options)
  }
}
