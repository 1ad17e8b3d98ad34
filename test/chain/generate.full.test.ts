// Goal: the small recording can be made again: the generator fills anvil with the same chain, the
// recorder writes the same text, and the state read from the node is what the logs add up to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { findAnvil } from '#local/devchain/findAnvil.ts'
import { findFreePort } from '#local/freePort.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { readCalls, readManifest, readRecording } from './recordings.ts'
import { runCommand } from './runCommand.ts'

const name = 'tempo-dev-2k'
const manifest = readManifest(name)
const { clock } = systemRuntime()
const zeroAddress = `0x${'00'.repeat(20)}`
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

let folder: string
let url: string
let made: unknown
let stop: () => Promise<void>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-chain-'))
  const [anvilFlags = '', generatorFlags = ''] = manifest.note.split('; ')
  ;({ url, stop } = await startAnvil(wordsBehind(anvilFlags)))
  made = await runCommand('generate', '--rpc', url, ...wordsBehind(generatorFlags))
})
afterAll(async () => {
  await stop?.()
  await rm(folder, { recursive: true, force: true })
})

test('the same flags and seed make the same chain', () => {
  expect(made).toMatchObject({
    ...{ chainId: manifest.chainId, head: manifest.lastBlock, headHash: manifest.lastHash },
    ...{ setupBlock: manifest.loopFrom - 1, pending: { pending: '0x5' } },
  })
})

test('a record of it is the recording', async () => {
  const out = join(folder, 'again')
  const flags = ['--rpc', url, '--loop-from', `${manifest.loopFrom}`, '--note', manifest.note]
  await runCommand('record', '--out', out, ...flags)
  const { zstdBytes: _, ...again } = readManifest(out)
  expect(manifest).toMatchObject(again)
  expect(readCalls(out)).toEqual(readCalls(name))
  expect(readRecording(out, 50)).toEqual(readRecording(name, 50))
})

test('the state at its end is what genesis and the logs add up to', async () => {
  const out = join(folder, 'state.ndjson.gz')
  await runCommand('state', '--rpc', url, '--out', out)
  const lines = await readState(out)
  const balances = addTransfers(lines.filter(({ kind }) => kind === 'genesisBalance'))
  const told = lines.filter(({ kind }) => kind === 'balance')
  expect(told.length).toBeGreaterThan(900)
  const wrong = told.filter(
    ({ token, holder, amount }) => (balances.get(`${token} ${holder}`) ?? 0n) !== BigInt(amount),
  )
  expect(wrong).toEqual([])
})

interface StateLine {
  readonly kind: string
  readonly token: string
  readonly holder: string
  readonly amount: string
}

async function readState(path: string): Promise<readonly StateLine[]> {
  const text = gunzipSync(await readFile(path)).toString()
  return text
    .trimEnd()
    .split('\n')
    .map((line): StateLine => JSON.parse(line))
}

/** Balances by `<token> <holder>`: those of genesis, and every transfer of the recording. */
function addTransfers(genesis: readonly StateLine[]): ReadonlyMap<string, bigint> {
  const sums = new Map(genesis.map(({ token, holder, amount }) => [`${token} ${holder}`, BigInt(amount)]))
  const add = (key: string, amount: bigint) => sums.set(key, (sums.get(key) ?? 0n) + amount)
  for (const { address, topics, data } of recordedLogs()) {
    if (topics[0] !== transferTopic || topics.length !== 3 || data.length !== 66) continue
    const [from, to] = topics.slice(1).map((topic) => `${address} 0x${topic.slice(26)}`)
    if (from !== undefined && !from.endsWith(zeroAddress)) add(from, -BigInt(data))
    if (to !== undefined && !to.endsWith(zeroAddress)) add(to, BigInt(data))
  }
  return sums
}

interface RecordedLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

function recordedLogs(): readonly RecordedLog[] {
  return readRecording(name).flatMap(({ receipts }) => {
    const typed: readonly { logs: readonly RecordedLog[] }[] = Object(receipts)
    return typed.flatMap(({ logs }) => logs)
  })
}

/** The flags in a command as a manifest's note has it. */
const wordsBehind = (command: string) => command.split(' ').slice(1)

async function startAnvil(flags: readonly string[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const port = await findFreePort()
  const all = [...flags, '--slots-in-an-epoch', '0', '--quiet', '--port', `${port}`]
  const child = spawn(findAnvil(), all, { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const rpc = new DevRpc(`http://127.0.0.1:${port}`)
  while (!(await rpc.call('eth_chainId').catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`anvil ended with ${child.exitCode}`)
    await clock.sleep(25)
  }
  const stop = async () => {
    child.kill()
    await exited
  }
  return { url: rpc.url, stop }
}
