// Goal: the dev chain is the chain asked for, and is resumed with every block.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { isRunning } from '#local/devchain/anvilProcess.ts'
import { DevRpc, field, hexQuantity } from '#local/devchain/DevRpc.ts'
import { DevChainUnavailableError, findAnvil } from '#local/devchain/findAnvil.ts'
import { type DevChain, startDevChain } from '#local/devchain/node.ts'
import type { Logger } from '#telemetry.ts'
import { clock, mineBlocks, reorg, temporaryFolder } from '#test/support/devchain.ts'

const started: DevChain[] = []
const folders: string[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((chain) => chain.stop()))
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

describe('the dev chain', () => {
  test('is the chain asked for, with finality four blocks behind its head', async () => {
    const { chain, rpc } = await start(await newFolder(), 42431)
    await mineBlocks(chain.rpcUrl, 10)
    expect(await rpc.quantity('eth_chainId')).toBe(42431)
    expect(Number(field(await rpc.call('eth_getBlockByNumber', 'finalized', false), 'number'))).toBe(6)
    expect(chain.fresh).toBe(true)
  })

  test('is resumed after a clean stop with every block, and then continues', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await mineBlocks(first.chain.rpcUrl, 30)
    const before = await readBlocks(first.rpc, 30)
    await first.chain.stop()
    const second = await start(folder)
    expect(second.chain).toMatchObject({ fresh: false, generation: first.chain.generation })
    expect(await readBlocks(second.rpc, 30)).toEqual(before)
    await mineBlocks(second.chain.rpcUrl, 1)
    expect(await second.rpc.quantity('eth_blockNumber')).toBe(31)
  })

  test('holds one block of each height after any number of starts', async () => {
    const folder = await newFolder()
    for (const _ of [1, 2, 3]) await (await start(folder)).chain.stop()
    const state: unknown = JSON.parse(await readFile(join(folder, 'devchain', '1337', 'state.json'), 'utf8'))
    expect(field(state, 'blocks')).toHaveLength(1)
  })

  test('outlives a SIGKILL of the program and is found again', async () => {
    const folder = await newFolder()
    const program = spawn(process.execPath, [
      fileURLToPath(new URL('startAndWait.ts', import.meta.url)),
      folder,
    ])
    const [line] = await once(program.stdout, 'data')
    program.kill('SIGKILL')
    await once(program, 'exit')
    const { chain } = await start(folder)
    expect(chain.fresh).toBe(false)
    expect({ pid: chain.pid, generation: chain.generation }).toEqual(JSON.parse(String(line)))
  })

  test('begins a new generation with another block 0, loudly, when anvil itself was killed', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    process.kill(first.chain.pid, 'SIGKILL')
    const second = await start(folder)
    expect(second.chain.fresh).toBe(true)
    expect(second.chain.generation).not.toBe(first.chain.generation)
    expect(second.warnings).toEqual([expect.stringContaining('THE DEV CHAIN STARTS ANEW')])
  })

  // Killed, it loses its command line first and its port a little later, more often than not.
  test.each([1, 2, 3, 4, 5])('has given its port back once it counts as ended (%i)', async () => {
    const folder = await newFolder()
    const { pid, rpcUrl } = (await start(folder)).chain
    process.kill(pid, 'SIGKILL')
    while (await isRunning({ pid, stateFile: join(folder, 'devchain', '1337', 'state.json') }));
    const server = createServer().listen(Number(new URL(rpcUrl).port), '127.0.0.1')
    await once(server, 'listening')
    server.close()
  })

  test('does not resurrect a state that was already loaded', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await first.chain.stop()
    const second = await start(folder)
    await mineBlocks(second.chain.rpcUrl, 1)
    process.kill(second.chain.pid, 'SIGKILL')
    expect((await start(folder)).chain.fresh).toBe(true)
  })

  test('begins a new generation when the state it left is damaged', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await first.chain.stop()
    const state = join(folder, 'devchain', '1337', 'state.json')
    await access(state)
    await writeFile(state, '{"block":{"num')
    const second = await start(folder)
    expect(second.chain.fresh).toBe(true)
    expect(second.warnings).toHaveLength(2)
  })

  test('begins a new generation at the cap, and says so', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await mineBlocks(first.chain.rpcUrl, 20)
    await first.chain.stop()
    const second = await start(folder, 1337, 20)
    expect(second.chain.fresh).toBe(true)
    expect(second.warnings).toEqual([expect.stringContaining('20 blocks')])
  })

  test('is given up for another one where it must be, and says why', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    const second = await start(folder, 1337, 1000, 'block 7, which was final, is gone')
    expect(second.chain.fresh).toBe(true)
    expect(second.chain.generation).not.toBe(first.chain.generation)
    expect(await isRunning({ pid: first.chain.pid, stateFile: folder })).toBe(false)
    expect(second.warnings).toEqual([expect.stringContaining('ANEW: block 7, which was final, is gone.')])
  })

  test('replaces blocks at the same heights, twenty deep', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await mineBlocks(first.chain.rpcUrl, 40)
    const before = await readBlocks(first.rpc, 40)
    await reorg(first.chain.rpcUrl, 20)
    const after = await readBlocks(first.rpc, 40)
    expect(after.slice(0, 21)).toEqual(before.slice(0, 21))
    for (let number = 21; number <= 40; number++) expect(after[number]).not.toEqual(before[number])
  })

  test('two generations begun in the same second differ', async () => {
    const [one, other] = await Promise.all([start(await newFolder()), start(await newFolder())])
    expect(one.chain.generation).not.toBe(other.chain.generation)
  })
})

describe('finding anvil', () => {
  test('names RPC_URL where there is no anvil', () => {
    expect(() => findAnvil('win32', 'x64')).toThrow(DevChainUnavailableError)
    expect(() => findAnvil('win32', 'x64')).toThrow(/RPC_URL/)
  })

  test('names RPC_URL where the optional package was not installed', () => {
    const other = process.platform === 'darwin' ? 'linux' : 'darwin'
    expect(() => findAnvil(other, 'arm64')).toThrow(/RPC_URL/)
  })
})

async function newFolder(): Promise<string> {
  const folder = await temporaryFolder()
  folders.push(folder)
  return folder
}

async function start(dataDir: string, chainId = 1337, blocksMax = 1000, anew?: string) {
  const warnings: string[] = []
  const log: Logger = { debug() {}, info() {}, error() {}, warn: (_, text) => warnings.push(text) }
  const chain = await startDevChain({ dataDir, chainId, blocksMax, ...(anew && { anew }), log, clock })
  started.push(chain)
  return { chain, warnings, rpc: new DevRpc(chain.rpcUrl) }
}

async function readBlocks(rpc: DevRpc, to: number): Promise<unknown[]> {
  const calls = Array.from({ length: to + 1 }, (_, number) => number)
  return rpc.batch(calls.map((number) => ['eth_getBlockByNumber', hexQuantity(number), true]))
}
