// Goal: a program that is configured with a network's key says by what its blocks are final, gives
// the proof to whoever asks, and takes nothing back below it; a second process tells the same.
// Method: `up` in processes of their own before two nodes of a network that a test signs for, and
// `prove` and `rewind` as a person runs them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedClickHouse, startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { type EmbeddedPostgres, startPostgres } from '#local/engines/postgres/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { type Branch, grown, hashAt, networkA } from '../../support/finalityChain.ts'
import { FinalityNode, notReady } from '../../support/finalityNode.ts'
import {
  chainOf,
  type Environment,
  type RunningMillrace,
  runMillrace,
  startMillrace,
} from '../support/millrace.ts'

const CHAIN = 42431
const first = grown([], 8)
/** All of its blocks are of epoch 0, whose length in a program is the network's own. */
const longer = grown(first, 2)

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
const nodes = [0, 1].map(() => new FinalityNode({ chainId: CHAIN, branch: first, finalized: 5 }))
let postgres: EmbeddedPostgres
let clickhouse: EmbeddedClickHouse

beforeAll(async () => {
  const engines = join(folder, 'engines')
  postgres = await startPostgres({ dataDir: engines, log: silentLogger })
  clickhouse = await startClickHouse({
    dataDir: engines,
    readerGrants: [`chain_${CHAIN}_sql.*`],
    log: silentLogger,
  })
  for (const node of nodes) {
    node.latest = notReady
    await node.start()
  }
})
afterAll(async () => {
  for (const program of programs.values()) await program.stop()
  await Promise.all(nodes.map((node) => node.close()))
  await clickhouse?.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const names = ['writer', 'standby'] as const
type Name = (typeof names)[number]
const programs = new Map<Name, RunningMillrace>()
const running = (name: Name): RunningMillrace => {
  const program = programs.get(name)
  if (!program) throw new Error(`the ${name} was not started`)
  return program
}
async function start(name: Name): Promise<RunningMillrace> {
  const program = await startMillrace(environmentOf(name))
  programs.set(name, program)
  return program
}
async function stop(name: Name): Promise<void> {
  await running(name).stop()
  programs.delete(name)
}

function environmentOf(name: Name, rule = 'both'): Environment {
  const config = join(folder, 'chains.json')
  const finality = { rule, identity: networkA.key, fromEpoch: 0 }
  const chain = { chainId: CHAIN, rpcUrls: nodes.map(({ url }) => url), finality }
  writeFileSync(config, JSON.stringify({ chains: [chain] }))
  mkdirSync(join(folder, name), { recursive: true })
  const withLogin = (username: string, password: string) =>
    Object.assign(new URL(clickhouse.url), { username, password }).href
  return {
    DATA_DIR: join(folder, name),
    CONFIG: config,
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: withLogin(clickhouse.username, clickhouse.password),
    CLICKHOUSE_READER_URL: withLogin(clickhouse.readerUsername, clickhouse.readerPassword),
    WORKER_THREADS: '1',
  }
}

/** Both nodes show the branch and certify its block; their tag stays behind it. */
function certify(branch: Branch, number: number): void {
  for (const node of nodes) {
    node.branch = branch
    node.certify(branch, number)
  }
}

const finalityOf = async (name: Name) => (await chainOf(running(name), CHAIN)).finality
const heightOf = async (name: Name) => (await finalityOf(name)).height
/** The finality that headers of an answer tell, and the block that the relay gives as the final one. */
async function toldBy(name: Name) {
  const { origin } = running(name)
  const { headers } = await fetch(`${origin}/v1/blocks/3`)
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['finalized', false] }
  const answer = await fetch(`${origin}/rpc/${CHAIN}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { result } = JSON.parse(await answer.text())
  return [headers.get('svc-finality'), headers.get('svc-finalized-block'), result?.hash]
}
const provedAt = (number: number) => ({
  ...{ rule: 'proved', height: number, certificateHeight: number, epoch: 0, identity: networkA.key },
  lastCheckedMs: expect.any(Number),
  // The testnet's last key, which these blocks are far from.
  statedKey: { fromEpoch: 1_747, identity: expect.stringMatching(/^0x967ae1a6/) },
  lastRefused: null,
})

describe('a program with a key of CONFIG', () => {
  test('fills nothing by certificates alone where there is none, and says so', async () => {
    const told = await runMillrace(['backfill'], environmentOf('writer', 'certificate'))
    expect(told).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no block of chain 42431 is final'),
    })
  })

  test('calls blocks agreed until the first certificate, and proved from then on', async () => {
    await start('writer')
    await expect.poll(() => heightOf('writer')).toBe(5)
    expect(await finalityOf('writer')).toMatchObject({ rule: 'agreed', certificateHeight: null })
    await expect.poll(() => toldBy('writer')).toEqual(['agreed', '5', hashAt(first, 5)])
    certify(first, 7)
    await expect.poll(() => heightOf('writer')).toBe(7)
    expect(await finalityOf('writer')).toEqual({ ...provedAt(7), endpointsServing: 2 })
    await expect.poll(() => toldBy('writer')).toEqual(['proved', '7', hashAt(first, 7)])
    const { code, stdout } = await runMillrace(['status'], { PORT: running('writer').port })
    expect(stdout).toMatch(/^ {2}finality {4}final by proof, certificate of block 7 checked \d+ s ago;/m)
    expect(code).toBe(0)
  })

  test('gives a proof that anybody checks offline, and that no changed byte survives', async () => {
    const url = `${running('writer').origin}/v1/blocks/3?include=finality`
    const pin = ['--chain', `${CHAIN}`, '--identity', networkA.key, '--from-epoch', '0']
    const prove = (from: string) =>
      runMillrace(['prove', 'finality', from, ...pin], { DATA_DIR: join(folder, 'reader') })
    expect(await prove(url)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The block is final.'),
    })
    const text = await (await fetch(url)).text()
    const file = join(folder, 'answer.json')
    const places = [
      ['finality.proof.certificate', /"certificate":"0x[0-9a-f]{100}/],
      ['finality.proof.headers', /"headers":\["0x[0-9a-f]{100}/],
      ['finality.proof.headers', /"hash":"0x[0-9a-f]{10}/],
    ] as const
    for (const [path, place] of places) {
      const changed = text.replace(place, (digits) => digits.slice(0, -1) + otherThan(digits.at(-1)))
      expect(changed, path).not.toBe(text)
      writeFileSync(file, changed)
      expect(await prove(file), path).toMatchObject({
        ...{ code: 1, stdout: expect.stringMatching(`^WRONG {2}${path}`) },
      })
    }
    writeFileSync(file, text)
    expect(await prove(file)).toMatchObject({ code: 0 })
  })

  test('has a second process that tells the same', async () => {
    await start('standby')
    await expect.poll(() => heightOf('standby')).toBe(7)
    certify(longer, 9)
    for (const name of names) {
      await expect.poll(() => finalityOf(name)).toMatchObject(provedAt(9))
      await expect.poll(() => toldBy(name)).toEqual(['proved', '9', hashAt(longer, 9)])
    }
    expect((await chainOf(running('standby'), CHAIN)).role).toBe('standby')
    expect((await finalityOf('standby')).endpointsServing).toBe(0)
  })

  test('says loudly that endpoints decide again, where the operator wants it', async () => {
    for (const name of names) await stop(name)
    programs.set('writer', await startMillrace(environmentOf('writer', 'endpoints')))
    await expect.poll(() => finalityOf('writer')).toMatchObject({ rule: 'agreed', certificateHeight: null })
    const { notes } = JSON.parse(await (await fetch(`${running('writer').origin}/status`)).text())
    expect(notes).toContainEqual(expect.stringMatching(/endpoints alone decide .* block 9 was checked here/))
    await stop('writer')
    for (const name of names) await start(name)
  })

  test('fills up to the newest certificate, and to none of before', async () => {
    for (const name of names) await stop(name)
    const { code, stdout } = await runMillrace(
      ['backfill', '--to', '9'],
      environmentOf('writer', 'certificate'),
    )
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('are left out')])
    for (const name of names) await start(name)
  })

  test('takes nothing back below a certificate unless told to, and then proves it again', async () => {
    for (const name of names) await stop(name)
    const rewind = (...args: string[]) =>
      runMillrace(['rewind', '--to', '8', ...args], environmentOf('writer'))
    expect(await rewind()).toMatchObject({ code: 1, stderr: expect.stringContaining('--below-finalized') })
    expect(await rewind('--below-finalized')).toMatchObject({ code: 0 })
    await start('writer')
    await expect.poll(() => finalityOf('writer')).toMatchObject(provedAt(9))
  })
})

const otherThan = (digit: string | undefined): string => (digit === '0' ? '1' : '0')
