/**
 * Claim: JSON-RPC through the door costs next to nothing beside asking the node itself, and what is
 * stored is told faster than the node tells it. The node is anvil on the same machine, with a
 * million logs; both are asked the same in turn, in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Pool } from 'undici'
import { createWalletClient, getContractAddress, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { DevRpc, hexQuantity } from '#local/devchain/DevRpc.ts'
import { startDevChain } from '#local/devchain/node.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import type { LiveBlocks } from './cannedNode.ts'
import { type Line, median, quantile, startCannedNode } from './harness.ts'
import { watchBlocks } from './live.bench.ts'
import { chainId, isQueryable, withProgram } from './program.ts'
import { dense } from './shapes.ts'

/** Blocks of transactions with so many logs each: those of receipts, and those that make the mass. */
const SHAPES = [
  { blocks: 200, logsPerTx: 100 },
  { blocks: 180, logsPerTx: 1_000 },
] as const
const TXS_PER_BLOCK = 5
/** Logs of the rare address: one in as many blocks. */
const RARE_EVERY = 4
const ROUNDS = 5
const SETTLED_MS = 5_000
const CALLS = 200

/** `npm run bench rpc`. */
export async function benchRpc(): Promise<Line[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-chain-'))
  const { clock } = systemRuntime()
  const chain = await startDevChain({ dataDir, chainId, log: silentLogger, clock })
  try {
    const made = await fillChain(chain.rpcUrl)
    return await withProgram({ url: chain.rpcUrl }, 'links', async (program) => {
      await program.until(() => isQueryable(program), 200)
      // Work that the start leaves to do (indexes, statistics) is not measured.
      await setTimeout(SETTLED_MS)
      return compare(`${program.address}/rpc/${chainId}`, chain.rpcUrl, made)
    })
  } finally {
    await chain.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Made {
  readonly rare: string
  readonly last: number
  readonly hashes: readonly string[]
  readonly logs: number
}

/** Code that emits this many logs of one topic and stops. */
function emitter(logs: number): `0x${string}` {
  const code = `61${logs.toString(16).padStart(4, '0')}5b8060006000a1600190038060035700`
  const bytes = (code.length / 2).toString(16).padStart(2, '0')
  const shift = (32 - code.length / 2).toString(16).padStart(2, '0')
  return `0x72${code}60005260${bytes}60${shift}f3`
}

async function fillChain(url: string): Promise<Made> {
  const rpc = new DevRpc(url)
  const account = mnemonicToAccount('test test test test test test test test test test test junk', {
    addressIndex: 9,
  })
  const wallet = createWalletClient({ account, chain: tempo, transport: http(url) })
  let nonce = Number(await rpc.call('eth_getTransactionCount', account.address, 'latest'))
  const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const send = async (to: `0x${string}` | null, data?: `0x${string}`) => {
    const request = {
      ...fees,
      to,
      ...(data && { data }),
      nonce: nonce++,
      gas: 10_000_000n,
      type: 'eip1559',
    } as const
    const raw = await wallet.signTransaction(request)
    return String(await rpc.call('eth_sendRawTransaction', raw))
  }
  const emitters = [...SHAPES.map(({ logsPerTx }) => logsPerTx), 1]
  const addresses = emitters.map((_logs, ahead) =>
    getContractAddress({ from: account.address, nonce: BigInt(nonce + ahead) }),
  )
  const rare = addresses.at(-1)
  if (!rare) throw new Error('no addresses')
  for (const logs of emitters) await send(null, emitter(logs))
  await rpc.call('anvil_mine', hexQuantity(1), hexQuantity(1))
  const hashes: string[][] = []
  for (const [shape, { blocks }] of SHAPES.entries()) {
    const sent: string[] = []
    for (let block = 0; block < blocks; block++) {
      for (let tx = 0; tx < TXS_PER_BLOCK; tx++) sent.push(await send(addresses[shape] ?? null))
      if (block % RARE_EVERY === 0) await send(rare)
      await rpc.call('anvil_mine', hexQuantity(1), hexQuantity(1))
    }
    hashes.push(sent)
  }
  const last = Number(await rpc.call('eth_blockNumber'))
  const wanted = SHAPES.reduce((sum, { blocks }) => sum + Math.ceil(blocks / RARE_EVERY), 0)
  const logs = await rpc.call('eth_getLogs', { address: rare, fromBlock: '0x0', toBlock: hexQuantity(last) })
  if (!Array.isArray(logs) || logs.length !== wanted) throw new Error('the chain is not what it should be')
  // Final, so that receipts come from the store.
  await rpc.call('anvil_mine', hexQuantity(200), hexQuantity(1))
  const made = SHAPES.reduce((sum, { blocks, logsPerTx }) => sum + blocks * TXS_PER_BLOCK * logsPerTx, 0)
  return { rare, last, hashes: hashes[0] ?? [], logs: made }
}

async function compare(ours: string, node: string, { rare, last, hashes, logs }: Made): Promise<Line[]> {
  const [us, them] = [asker(ours), asker(node)]
  const token = '0x20c0000000000000000000000000000000000000'
  const balance = (turn: number) => ({
    method: 'eth_call',
    params: [{ to: token, data: `0x70a08231${turn.toString(16).padStart(64, '0')}` }, 'latest'],
  })
  const receipt = (turn: number) => ({
    method: 'eth_getTransactionReceipt',
    params: [hashes[(turn * 7) % hashes.length]],
  })
  const rareLogs = () => ({
    method: 'eth_getLogs',
    params: [{ address: rare, fromBlock: '0x0', toBlock: hexQuantity(last) }],
  })
  const call = await inTurn(us, them, balance, CALLS)
  const receipts = await inTurn(us, them, receipt, 20)
  const ranges = await inTurn(us, them, rareLogs, 10)
  await Promise.all([us.close(), them.close()])
  const ms = (value: number) => `${value.toFixed(2)} ms`
  return [
    {
      subject: 'eth_call through /rpc',
      value: `${(call.us - call.them).toFixed(2)} ms more at p50 (${ms(call.us)})`,
      against: `the node itself (${ms(call.them)})`,
    },
    {
      subject: `a receipt of ${SHAPES[0].logsPerTx} logs from the store`,
      value: `p50 ${ms(receipts.us)}`,
      against: `the node itself (${ms(receipts.them)})`,
    },
    {
      subject: `eth_getLogs of one address in ${logs.toLocaleString('en-US')} logs from the store`,
      value: `p50 ${ms(ranges.us)}`,
      against: `the node itself (${ms(ranges.them)})`,
    },
  ]
}

interface Rpc {
  readonly method: string
  readonly params: readonly unknown[]
}

function asker(url: string) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: 32, pipelining: 1 })
  const ask = async (call: Rpc): Promise<number> => {
    const begun = performance.now()
    const { statusCode, body } = await pool.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
    })
    const text = await body.text()
    if (statusCode !== 200 || text.includes('"error":'))
      throw new Error(`${call.method}: ${text.slice(0, 200)}`)
    return performance.now() - begun
  }
  return { ask, close: () => pool.close() }
}

/** Both are asked the same, one after the other, round by round; the first round warms up. */
async function inTurn(
  us: ReturnType<typeof asker>,
  them: ReturnType<typeof asker>,
  callOf: (turn: number) => Rpc,
  calls: number,
) {
  const found = { us: [] as number[], them: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    const times = { us: [] as number[], them: [] as number[] }
    for (let turn = 0; turn < calls; turn++) {
      times.us.push(await us.ask(callOf(round * calls + turn)))
      times.them.push(await them.ask(callOf(round * calls + turn)))
    }
    if (round === 0) continue
    found.us.push(median(times.us))
    found.them.push(median(times.them))
  }
  return { us: median(found.us), them: median(found.them) }
}

const HISTORY_BLOCKS = 100
const STARTING_BLOCKS_MAX = 120
/** Blocks watched, alone and with calls beside, in turns. */
const WATCHED_BLOCKS = 30
const TURNS = 2
const INTERVAL_MS = 500
const CALLS_PER_SECOND = 500

/** `npm run bench rpcLive`: how much later blocks come with 500 calls a second beside. */
export async function benchRpcLive(): Promise<Line[]> {
  const blocks = HISTORY_BLOCKS + STARTING_BLOCKS_MAX + TURNS * 2 * (WATCHED_BLOCKS + 4)
  const node = await startCannedNode(dense(blocks))
  const live: LiveBlocks = { from: HISTORY_BLOCKS - 1, sinceMs: Date.now(), intervalMs: INTERVAL_MS }
  node.live(live)
  node.release()
  try {
    return await withProgram(node, 'roots', async (program) => {
      await program.until(() => isQueryable(program), 100)
      const lags = { alone: [] as number[], beside: [] as number[] }
      let asked = 0
      for (let turn = 0; turn < TURNS; turn++) {
        lags.alone.push(...(await watchBlocks(program, live, WATCHED_BLOCKS)))
        const load = startLoad(`${program.address}/rpc/${chainId}`)
        lags.beside.push(...(await watchBlocks(program, live, WATCHED_BLOCKS)))
        asked += await load.stop()
      }
      const p50 = (of: readonly number[]) => quantile(of, 0.5)
      const perSecond = Math.round(asked / ((TURNS * WATCHED_BLOCKS * INTERVAL_MS) / 1000))
      return [
        {
          subject: `live lag with ${perSecond} calls/s beside`,
          value: `${(p50(lags.beside) / p50(lags.alone)).toFixed(2)} times (p50 ${Math.round(p50(lags.beside))} ms)`,
          against: `the same without (p50 ${Math.round(p50(lags.alone))} ms)`,
        },
      ]
    })
  } finally {
    node.stop()
  }
}

/** Calls that a node has to answer, at a rate that does not wait for answers. */
function startLoad(url: string) {
  const { ask, close } = asker(url)
  const ended = new AbortController()
  let answered = 0
  const running = (async () => {
    const begun = performance.now()
    const under: Promise<void>[] = []
    for (let sent = 0; !ended.signal.aborted; ) {
      const due = Math.floor(((performance.now() - begun) * CALLS_PER_SECOND) / 1000)
      for (; sent < due; sent++) {
        const call = { method: 'eth_call', params: [{ data: hexQuantity(sent) }, 'latest'] }
        under.push(
          ask(call).then(() => {
            answered++
          }),
        )
      }
      await setTimeout(2)
    }
    await Promise.all(under)
    await close()
    return answered
  })()
  return {
    stop: () => {
      ended.abort()
      return running
    },
  }
}
