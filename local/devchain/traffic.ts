/**
 * Life on the local dev chain: a block every half second, whether or not somebody pays somebody in
 * it, and a mix of everything Tempo can do up to T4. Nothing that goes wrong on the chain stops it:
 * a failed action is a failed action.
 */
import { messageOf } from '#errors.ts'
import type { Hex } from '#primitives.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { DevRpc, field, hexQuantity } from './DevRpc.ts'
import { GENERATION_BLOCKS_MAX as blocksMaxDefault } from './node.ts'
import type { Action, Scene } from './traffic/action.ts'
import { actions } from './traffic/actions/index.ts'
import { exchange, keychain, pathUsd, policyRegistry } from './traffic/calls.ts'
import { Deck } from './traffic/Deck.ts'
import { Dice } from './traffic/Dice.ts'
import { createWardrobe, dress, type Wardrobe } from './traffic/dress.ts'
import { createLearned, type Learned, observe, remember } from './traffic/learned.ts'
import { type MinedTransaction, type Producer, parseLog, produceBlock } from './traffic/produceBlock.ts'
import { type SetupStep, setupStages } from './traffic/setup.ts'
import type { TxDraft } from './traffic/signDraft.ts'
import { createWorld, type World } from './traffic/world.ts'

export interface TrafficOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly seed: string
  /** Accounts that get money where they have none. */
  readonly gifts?: readonly Hex[]
  /** Time between blocks. Tempo has two a second. */
  readonly blockMs?: number
  /** On average; some blocks are empty, some hold several times the mean. */
  readonly transactionsPerSecond?: number
  /** Height from which the chain hardly grows; see node.ts. */
  readonly blocksMax?: number
  readonly log: Logger
  readonly clock: Clock
  /** Ends the traffic. */
  readonly signal: AbortSignal
}

/** Traffic that runs until its signal. */
export interface Traffic {
  /** Resolves when tokens, markets and wallets are there; also when the signal came first. */
  readonly settled: Promise<void>
  /** Resolves after the signal, when no block is under way. Never rejects. */
  readonly done: Promise<void>
}

const BLOCK_MS = 500
const TRANSACTIONS_PER_BLOCK_MAX = 50
const SETUP_ATTEMPTS = 3
/**
 * A chain at its cap (see node.ts) goes on so slowly that it hardly grows: 60 MB of anvil's memory
 * a day.
 */
const FULL_BLOCK_MS = 30_000
const RETRY_MS_MAX = 10_000
/** Blocks read after a restart to learn what is open. */
const LOOK_BACK_BLOCKS = 2_000

/** Starts producing blocks. */
export function startTraffic(options: TrafficOptions): Traffic {
  const settled = Promise.withResolvers<void>()
  const done = run(options, settled.resolve).finally(settled.resolve)
  return { settled: settled.promise, done }
}

/** All that one run of the traffic carries along. */
interface Run {
  readonly options: TrafficOptions
  readonly producer: Producer
  readonly world: World
  readonly learned: Learned
  readonly dice: Dice
  readonly deck: Deck<Action>
  readonly wardrobe: Wardrobe
}

async function run(options: TrafficOptions, onSettled: () => void): Promise<void> {
  const { clock, log, signal } = options
  let failures = 0
  const failed = (error: unknown) => {
    const waitMs = Math.min(RETRY_MS_MAX, 500 * 2 ** failures++)
    if (failures === 3)
      log.warn({ problem: messageOf(error) }, 'the dev chain does not answer; a restart replaces it')
    else log.debug({ problem: messageOf(error), waitMs }, 'the dev chain traffic pauses')
    return waitMs
  }
  await repeat({ clock, signal, failed }, async () => {
    const started = await begin(options)
    await settle(started)
    onSettled()
    failures = 0
    await goOn(started)
    return 0
  })
}

/** Builds what follows from the seed and learns what is open from the newest blocks. */
async function begin(options: TrafficOptions): Promise<Run> {
  const { rpcUrl, chainId, clock, log } = options
  const rpc = new DevRpc(rpcUrl)
  // Transactions that a killed run left in the pool would hold nonces that are not ours to reuse.
  await rpc.call('anvil_dropAllTransactions')
  const head = await rpc.quantity('eth_blockNumber')
  // With the head in the seed a restart does not repeat itself.
  const dice = new Dice(`${options.seed}/${head}`)
  const learned = createLearned()
  const fromBlock = hexQuantity(Math.max(0, head - LOOK_BACK_BLOCKS))
  const address = [exchange, policyRegistry, keychain, pathUsd]
  const logs = await rpc.call('eth_getLogs', { fromBlock, toBlock: 'latest', address })
  for (const seen of Array.isArray(logs) ? logs : []) observe(learned, parseLog(seen))
  return {
    options,
    producer: { rpc, chainId, clock, log },
    world: createWorld(options.seed, chainId, options.gifts),
    learned,
    dice,
    deck: new Deck(
      actions.map((action) => [action, action.weight] as const),
      dice,
    ),
    wardrobe: createWardrobe(dice),
  }
}

/** Takes the steps of the setup that the chain lacks. */
async function settle(current: Run): Promise<void> {
  for (const stage of setupStages) {
    for (let attempt = 1; ; attempt++) {
      const missing = await findMissing(current, stage)
      if (missing.length === 0 || current.options.signal.aborted) break
      const steps = missing.map(({ name }) => name)
      if (attempt > SETUP_ATTEMPTS) {
        current.options.log.warn({ steps }, 'the dev chain lacks parts of its setup; some actions will fail')
        break
      }
      const scene = sceneOf(current)
      await mine(
        current,
        missing.flatMap((step) => step.drafts(scene)),
      )
    }
  }
}

async function findMissing({ producer, world }: Run, stage: readonly SetupStep[]): Promise<SetupStep[]> {
  const missing: SetupStep[] = []
  for (const step of stage) {
    const answers = await producer.rpc.batch(step.checks(world))
    const isThere = answers.every((answer) => 'result' in answer && isNonZero(answer.result))
    if (!isThere) missing.push(step)
  }
  return missing
}

function isNonZero(result: unknown): boolean {
  return typeof result === 'string' && /^0x.*[1-9a-f]/.test(result)
}

/** Blocks at their pace, with what is due. */
async function goOn(current: Run): Promise<void> {
  const { options, dice } = current
  const { clock, signal, blockMs = BLOCK_MS, transactionsPerSecond = 2 } = options
  let next = clock.monotonic()
  let due = 0
  let head = 0
  let isFull = false
  await repeat({ clock, signal }, async () => {
    head = await headAbove(current, head)
    isFull ||= isAtCap(current, head)
    const paceMs = isFull ? FULL_BLOCK_MS : blockMs
    due += ((transactionsPerSecond * blockMs) / 1000) * -Math.log(1 - dice.fraction())
    const count = Math.min(Math.floor(due), TRANSACTIONS_PER_BLOCK_MAX)
    due -= Math.floor(due)
    await mine(current, draw(current, count))
    next = Math.max(next + paceMs, clock.monotonic())
    if (isFull) await awaitPending(current, next)
    return isFull ? 0 : next - clock.monotonic()
  })
}

/**
 * Waits for the next block of a full chain, or for a transaction of somebody else: a payment that is
 * not mined within 25 s is void.
 */
async function awaitPending({ options, producer }: Run, untilMs: number): Promise<void> {
  const { clock, signal, blockMs = BLOCK_MS } = options
  await repeat({ clock, signal }, async () => {
    const leftMs = untilMs - clock.monotonic()
    if (leftMs <= 0) return 'ended'
    const pool = await producer.rpc.call('txpool_status')
    return Number(field(pool, 'pending')) > 0 ? 'ended' : Math.min(leftMs, blockMs)
  })
}

/** @throws when the chain is lower than it was: another one has taken its place, and lacks the setup */
async function headAbove({ producer }: Run, before: number): Promise<number> {
  const head = await producer.rpc.quantity('eth_blockNumber')
  if (head < before) throw new Error(`the dev chain begins again: block ${before} is gone`)
  return head
}

function isAtCap({ options: { log, blocksMax = blocksMaxDefault } }: Run, head: number): boolean {
  if (head < blocksMax) return false
  log.warn(
    { blocksMax, fullBlockMs: FULL_BLOCK_MS },
    'THE DEV CHAIN IS FULL and slows down; the next start begins a new one',
  )
  return true
}

/** The next actions of the deck, as far as there is something to act on. */
function draw(current: Run, count: number): TxDraft[] {
  const { deck, wardrobe, options } = current
  const scene = sceneOf(current)
  const drafts: TxDraft[] = []
  // A sender whose 7702 authorisation is pending confuses anvil's pool: one transaction per such
  // sender.
  const delegating = new Set<string>()
  for (let left = count * 2; drafts.length < count && left > 0; left--) {
    const { kind, build } = deck.deal()
    try {
      const intent = build(scene)
      if (!intent || delegating.has(intent.from.address)) continue
      if (intent.delegate) delegating.add(intent.from.address)
      drafts.push(dress(intent, scene, wardrobe))
    } catch (error) {
      options.log.debug({ kind, problem: messageOf(error) }, 'an action of the dev chain traffic is skipped')
    }
  }
  return drafts
}

async function mine(current: Run, drafts: readonly TxDraft[]): Promise<void> {
  const { producer, world, learned, dice } = current
  const mined = await produceBlock(producer, drafts, dice.pick(world.validators).address)
  for (const transaction of mined) learnFrom(learned, transaction, world)
}

function learnFrom(learned: Learned, transaction: MinedTransaction, { wallets }: World): void {
  const { logs, contractAddress, from, isReverted } = transaction
  for (const log of logs) observe(learned, log)
  if (isReverted || !contractAddress) return
  if (wallets.some(({ address }) => address === from))
    remember(learned.coins, { address: contractAddress, owner: from })
}

function sceneOf({ world, dice, learned, options }: Run): Scene {
  return { world, dice, learned, timestamp: Math.floor(options.clock.now() / 1000) }
}
