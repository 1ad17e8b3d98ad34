// Goal: two programs on the same databases write one chain in turns: the standby takes over when
// the writer falls silent, and the one that was paused past its lease commits nothing when it wakes
// (ING-12).
// Method: two real processes on engines of this file; each connects as a role of its own, and a
// trigger notes who commits.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type EmbeddedClickHouse, startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { type EmbeddedPostgres, startPostgres } from '#local/engines/postgres/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  chainOf,
  type Environment,
  type RunningMillrace,
  runMillrace,
  startMillrace,
} from '../support/millrace.ts'

const CHAIN = 42431
/**
 * Within which somebody writes again, so that with a transaction that hangs for 3 s it is less than
 * 15 s.
 */
const LEASE_S = 10

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
const names = ['first', 'second'] as const
type Name = (typeof names)[number]
const programs = new Map<Name, RunningMillrace>()
const environments = new Map<Name, Environment>()
let postgres: EmbeddedPostgres
let clickhouse: EmbeddedClickHouse
let replay: Replay
let client: Client

beforeAll(async () => {
  const engines = join(folder, 'engines')
  postgres = await startPostgres({ dataDir: engines, log: silentLogger })
  clickhouse = await startClickHouse({
    dataDir: engines,
    readerGrants: [`chain_${CHAIN}_sql.*`],
    log: silentLogger,
  })
  const growing = ['--head', '60', '--block-time', '400', '--finality', '2', '--repeat', '50']
  replay = await startReplay('--shape', 'tempo', ...growing)
  client = new Client({ connectionString: postgres.url })
  await client.connect()
  for (const name of names) {
    await client.query(`CREATE ROLE ${name} SUPERUSER LOGIN PASSWORD 'test'`)
    environments.set(name, environmentOf(name))
  }
})
afterAll(async () => {
  for (const program of programs.values()) {
    process.kill(program.pid, 'SIGCONT')
    await program.stop()
  }
  await client?.end()
  await replay?.close()
  await clickhouse?.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

function environmentOf(name: Name): Environment {
  const databaseUrl = new URL(postgres.url)
  databaseUrl.username = name
  databaseUrl.password = 'test'
  const withLogin = (username: string, password: string) => {
    const url = new URL(clickhouse.url)
    url.username = username
    url.password = password
    return url.href
  }
  return {
    DATA_DIR: join(folder, name),
    DATABASE_URL: databaseUrl.href,
    CLICKHOUSE_URL: withLogin(clickhouse.username, clickhouse.password),
    CLICKHOUSE_READER_URL: withLogin(clickhouse.readerUsername, clickhouse.readerPassword),
    RPC_URL: replay.url,
    VERIFY: 'links',
    WORKER_THREADS: '1',
  }
}

describe('a standby', () => {
  async function start(name: Name): Promise<RunningMillrace> {
    const program = await startMillrace(environments.get(name) ?? {})
    programs.set(name, program)
    return program
  }
  const running = (name: Name): RunningMillrace => {
    const program = programs.get(name)
    if (!program) throw new Error(`${name} was not started`)
    return program
  }
  const tipOf = async () => {
    const { rows } = await client.query<{ tip: string }>(`SELECT tip FROM chain_${CHAIN}.lanes`)
    return Number(rows[0]?.tip)
  }
  /** The process that committed the newest block. */
  const writer = async () => {
    const { rows } = await client.query<{ who: string }>(
      'SELECT who FROM public.writers ORDER BY seq DESC LIMIT 1',
    )
    return rows[0]?.who
  }
  const holder = async () => {
    const { rows } = await client.query<{ holder: string }>('SELECT holder FROM app.leases WHERE name = $1', [
      `index:${CHAIN}`,
    ])
    return names.find((name) => rows[0]?.holder.includes(readInstallation(name)))
  }
  /** For how long nobody but its holder can write, by the clock of the database. */
  const leaseSeconds = async () => {
    const { rows } = await client.query<{ s: number }>(
      'SELECT extract(epoch FROM expires_at - clock_timestamp())::float AS s FROM app.leases WHERE name = $1',
      [`index:${CHAIN}`],
    )
    return rows[0]?.s
  }
  const roleOf = async (name: Name) => (await chainOf(running(name), CHAIN)).role
  /** A process's metric at /metrics of whether it writes. */
  const metric = async (name: Name) => {
    const told = await (await fetch(`${running(name).origin}/metrics`)).text()
    return new RegExp(`^millrace_writer\\{chain="${CHAIN}"\\} (\\d)$`, 'm').exec(told)?.[1]
  }
  const readInstallation = (name: Name) => readFileSync(join(folder, name, 'installation'), 'utf8').trim()

  test('reads what the other writes', async () => {
    await start('first')
    await expect
      .poll(async () => (await chainOf(running('first'), CHAIN)).stores.postgres.tip ?? 0)
      .toBeGreaterThan(60)
    await client.query(`
      CREATE TABLE public.writers (seq bigint, who text);
      CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.writers VALUES (NEW.seq, session_user); RETURN NEW; END $$;
      CREATE TRIGGER note AFTER INSERT ON chain_${CHAIN}.commits FOR EACH ROW EXECUTE FUNCTION public.note()`)
    await start('second')
    const tip = await tipOf()
    await expect
      .poll(async () => (await chainOf(running('second'), CHAIN)).stores.postgres.tip ?? 0)
      .toBeGreaterThan(tip)
    expect([await holder(), await writer()]).toEqual(['first', 'first'])
    expect([await roleOf('first'), await roleOf('second')]).toEqual(['writer', 'standby'])
    // It has asked for the head once, when it started, and does not write.
    const headOf = async (name: Name) => (await chainOf(running(name), CHAIN)).head ?? 0
    const head = await headOf('first')
    await expect.poll(() => headOf('second')).toBeGreaterThan(head)
  })

  test('takes over from a writer that falls silent, which commits nothing when it wakes', async () => {
    process.kill(running('first').pid, 'SIGSTOP')
    expect(await leaseSeconds()).toBeLessThanOrEqual(LEASE_S)
    await expect.poll(writer).toBe('second')
    expect(await holder()).toBe('second')
    process.kill(running('first').pid, 'SIGCONT')
    // The one that woke answers, and reads what the other writes.
    const tip = await tipOf()
    await expect
      .poll(async () => (await chainOf(running('first'), CHAIN)).stores.postgres.tip ?? 0)
      .toBeGreaterThan(tip + 15)
    const { rows } = await client.query<{ who: string }>('SELECT who FROM public.writers ORDER BY seq')
    const turns = rows.map(({ who }) => who).filter((who, index, all) => who !== all[index - 1])
    expect(turns).toEqual(['first', 'second'])
    expect([await roleOf('first'), await roleOf('second')]).toEqual(['standby', 'writer'])
    expect(await metric('second')).toBe('1')
  })

  test('takes over at once from a writer that ends', async () => {
    const { code, stderr } = await running('second').stop()
    expect(code).toBe(0)
    expect(stderr.match(/took over/g)).toHaveLength(1)
    programs.delete('second')
    await expect.poll(writer).toBe('first')
    expect(await holder()).toBe('first')
  })

  test('with a copy of the data directory writes nothing, and says what is wrong (W8)', async () => {
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    copyFileSync(join(folder, 'first', 'installation'), join(copy, 'installation'))
    const program = await startMillrace({ ...environments.get('second'), DATA_DIR: copy })
    onTestFinished(() => void program.stop())
    const headLane = async () =>
      (await chainOf(program, CHAIN)).lanes.find(({ name }) => name === 'head')?.problem ?? null
    await expect.poll(headLane).toMatch(/^DATA_DIR: process \d+ on .* writes with this data directory too/)
    expect([await holder(), await writer()]).toEqual(['first', 'first'])
  })

  test('leaves both stores as one writer would have', async () => {
    const verified = await runMillrace(['verify'], environments.get('first') ?? {})
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('agreed') })
  })
})
