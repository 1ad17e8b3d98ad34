/** Fills a running `anvil --network tempo` with a rich history that follows from a seed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DevRpc, field, hexQuantity, textField } from '#local/devchain/DevRpc.ts'
import { parseLog } from '#local/devchain/traffic/produceBlock.ts'
import { endWith, readFlags } from './flags.ts'
import { GeneratedChain } from './generate/generatedChain.ts'
import { observe, observed } from './generate/observe.ts'
import { Scene } from './generate/scene.ts'
import { setUp } from './generate/setup.ts'
import { Workload } from './generate/workload.ts'
import { createWorld, type World } from './generate/world.ts'
import { Random } from './random.ts'

const usage = `usage: node test/chain/generate.ts [--rpc http://127.0.0.1:8545] [--seed 1] [--txs 5000]
  [--block-size 40]  mean transactions per block
  [--days 3]         time the history spans
  [--pending 5]      transactions left unmined at the end
  [--reorg-every 0]  blocks between reorgs (0: none)
  [--reorg-depth 3]  deepest reorg
  [--pace 0]         milliseconds between blocks, which then carry the present time`
const flags = readFlags(
  {
    rpc: 'http://127.0.0.1:8545',
    seed: '1',
    txs: 5000,
    'block-size': 40,
    days: 3,
    pending: 5,
    'reorg-every': 0,
    'reorg-depth': 3,
    pace: 0,
  },
  usage,
)

const GAS_OF_BLOCK = 500_000_000
/** One block in ten is followed by a pause. */
const PAUSES_PER_BLOCK = 0.1
const nativeFunds = 10n ** 24n

const rpc = new DevRpc(flags.rpc)
const started = performance.now()
const node = await rpc.call('anvil_nodeInfo')
if (field(node, 'network') !== 'tempo') endWith('start anvil with --network tempo', 2)
const random = new Random(flags.seed)
const { chain, scene } = await begin()
const workload = new Workload(scene)
// So that it can also continue an existing chain.
workload.resync(await readNonces(scene.world))
await fundWallets(scene.world)
await setUp(scene, (transactions) => chain.mine(transactions))
const setupBlock = await rpc.quantity('eth_blockNumber')
const dropped = await live()
await chain.leave(workload.next(flags.pending))
process.stdout.write(`${JSON.stringify(await summary(), null, 1)}\n`)

async function begin(): Promise<{ chain: GeneratedChain; scene: Scene }> {
  const timestamp =
    Number(textField(await rpc.call('eth_getBlockByNumber', 'latest', false), 'timestamp')) + 1
  await rpc.call('evm_setAutomine', false)
  await rpc.call('evm_setBlockGasLimit', hexQuantity(GAS_OF_BLOCK))
  const world = createWorld(flags.seed, timestamp, flags.txs)
  const secondsOfBlock = (flags.days * 86_400 * flags['block-size']) / flags.txs
  const chain = new GeneratedChain(rpc, random, {
    chainId: await rpc.quantity('eth_chainId'),
    timestamp,
    meanPause: Math.max(1, Math.round(secondsOfBlock / PAUSES_PER_BLOCK)),
    isLive: flags.pace > 0,
    reorgDepth: flags['reorg-depth'],
    validators: world.validators,
  })
  return { chain, scene: new Scene(world, random, chain) }
}

async function readNonces({ actors }: World): Promise<number[]> {
  const calls = actors.map(({ address }) => ['eth_getTransactionCount', address, 'latest'] as const)
  return (await rpc.batch(calls)).map((answer) => ('result' in answer ? Number(answer.result) : 0))
}

/**
 * Fees are paid in tokens, but anvil's pool wants senders of Ethereum envelopes to hold its native
 * coin.
 */
async function fundWallets({ wallets }: World): Promise<void> {
  await rpc.batch(wallets.map(({ address }) => ['anvil_setBalance', address, hexQuantity(nativeFunds)]))
}

/**
 * Mines everyday blocks until there are enough; returns how many transactions were dropped on the
 * way.
 */
async function live(): Promise<number> {
  let seenDropped = 0
  while (chain.mined < flags.txs) {
    await chain.mine(workload.next(Math.min(blockSize(), flags.txs - chain.mined)))
    await observeLatest()
    const isReorg = flags['reorg-every'] > 0 && chain.blocks % flags['reorg-every'] === 0
    if (isReorg) await chain.reorg(random.between(1, flags['reorg-depth']))
    if (isReorg || chain.dropped > seenDropped) {
      seenDropped = chain.dropped
      // Those that wait for a nonce that will not come.
      await rpc.call('anvil_dropAllTransactions')
      workload.resync(await readNonces(scene.world))
    }
    if (flags.pace) await sleep(flags.pace)
  }
  return seenDropped
}

/** Most blocks are small, some are empty, a few are huge. */
function blockSize(): number {
  const mean = flags['block-size']
  const usual = Math.floor(-Math.log(1 - random.next()) * mean)
  const isEmpty = random.chance(0.04)
  if (random.chance(0.01)) return mean * 12
  return isEmpty ? 0 : usual
}

async function observeLatest(): Promise<void> {
  const logs = await rpc.call('eth_getLogs', { fromBlock: 'latest', toBlock: 'latest', address: observed })
  for (const log of Array.isArray(logs) ? logs : []) observe(scene, parseLog(log))
}

async function summary(): Promise<object> {
  const seconds = (performance.now() - started) / 1000
  return {
    chainId: await rpc.quantity('eth_chainId'),
    hardfork: field(node, 'hardFork'),
    head: await rpc.quantity('eth_blockNumber'),
    headHash: textField(await rpc.call('eth_getBlockByNumber', 'latest', false), 'hash'),
    setupBlock,
    mined: chain.mined,
    dropped,
    perSecond: Math.round(chain.mined / seconds),
    pending: await rpc.call('txpool_status'),
    refused: Object.fromEntries(chain.refused),
    actions: workload.counts,
    contracts: Object.fromEntries(scene.contracts),
    tokens: scene.world.tokens,
  }
}
