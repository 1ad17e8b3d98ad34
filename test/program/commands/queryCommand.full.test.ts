// Goal: `millrace query` is a good citizen of a shell: rows to standard output alone, in every
// format, live until it is told to end or nobody reads, and a refusal with its place. Method: the
// command in processes of its own, asking the API over a recorded chain in both stores.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { type ChainApi, openChainApi } from '../../api/support/chainApi.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { runMillrace } from '../support/millrace.ts'

const main = fileURLToPath(new URL('../../../main.ts', import.meta.url))
const rowsSql = 'SELECT num, tx_count, hash FROM blocks WHERE num IN (3, 50) ORDER BY num'

/** The command with pipes, running. */
interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly rows: () => string
  readonly notes: () => string
  /** Resolves once the output holds the text. */
  shows(text: string): Promise<void>
  readonly ended: Promise<number | null>
}

let api: ChainApi
let batches: EncodedBatch[]
let env: Record<string, string>
const started: Started[] = []

beforeAll(async () => {
  batches = recordedBatches('tempo-dev-2k', 1)
  api = await openChainApi()
  await api.append(batches.slice(0, 61))
  await api.finalize(60)
  await api.fillClickHouse()
  env = { PORT: new URL(api.server.origin).port }
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await api?.close()
})

const query = (...args: string[]) => runMillrace(['query', ...args], env)

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [main, 'query', ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [rows, notes] = ['', '']
  child.stdout.on('data', (chunk) => {
    rows += chunk
  })
  child.stderr.on('data', (chunk) => {
    notes += chunk
  })
  const one = {
    child,
    rows: () => rows,
    notes: () => notes,
    shows: (text: string) => expect.poll(() => rows + notes).toContain(text),
    ended: once(child, 'close').then(([code]) => code),
  }
  started.push(one)
  return one
}

const hashOf = async (block: number): Promise<string> => (await api.get(`/v1/blocks/${block}`)).body.hash

describe('results of millrace query', () => {
  test.each(['postgres', 'clickhouse'])('a result of %s is a table, JSON lines or CSV', async (engine) => {
    const [table, json, csv] = await Promise.all(
      ['table', 'json', 'csv'].map((format) => query(rowsSql, '--engine', engine, '--format', format)),
    )
    const hashes = [await hashOf(3), await hashOf(50)]
    const lines = table?.stdout.trimEnd().split('\n') ?? []
    expect(lines[0]?.trim().split(/\s+/)).toEqual(['num', 'tx_count', 'hash'])
    expect(lines.slice(2).map((line) => line.trim().split(/\s+/)[0])).toEqual(['3', '50'])
    expect(table?.stderr).toMatch(new RegExp(`^2 rows in .* ms on ${engine}\n$`, 'i'))
    const objects = json?.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(objects?.map(({ hash }) => hash)).toEqual(hashes)
    expect(csv?.stdout.split('\n')[0]).toBe('num,tx_count,hash')
    expect(
      csv?.stdout
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')[2]),
    ).toEqual(hashes)
    expect([table, json, csv].map((ended) => ended?.code)).toEqual([0, 0, 0])
    expect([json?.stderr, csv?.stderr]).toEqual(['', ''])
  })

  test('the query comes from standard input where none is given', async () => {
    const command = start('--format', 'csv')
    command.child.stdin.end('SELECT num\nFROM blocks\nWHERE num = 7')
    expect([await command.ended, command.rows()]).toEqual([0, 'num\n7\n'])
  })

  test('rows are limited as asked, and it is said that more exist', async () => {
    const { code, stdout, stderr } = await query('SELECT num FROM blocks ORDER BY num', '--limit', '2')
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 4])
    expect(stderr).toMatch(/more exist\n$/)
  })

  test.each(['json', 'csv'])('%s that is cut at the limit says so and ends with 3', async (format) => {
    const sql = 'SELECT num FROM blocks ORDER BY num'
    const { code, stdout, stderr } = await query(sql, '--limit', '2', '--format', format)
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([3, format === 'csv' ? 3 : 2])
    expect(stderr).toBe('cut after 2 rows, more exist\n')
  })

  const many = `SELECT a.num, b.hash, c.miner FROM blocks a CROSS JOIN blocks b CROSS JOIN blocks c`
  const whole = 61 ** 2 * 6

  test.each(['postgres', 'clickhouse'])(
    'an export of %s comes whole, and says what it leaves out',
    async (engine) => {
      const sql = `${many} WHERE c.num < 6`
      const ask = (limit: number, format: string, text = sql) =>
        query(text, '--engine', engine, '--format', format, '--limit', `${limit}`)
      const [csv, cut, arrow, refused] = await Promise.all([
        ask(50_000, 'csv'),
        ask(15_000, 'ndjson'),
        ask(20, 'arrow', rowsSql),
        ask(50_000, 'csv', 'SELECT nonsense FROM blocks'),
      ])
      expect([csv?.code, csv?.stderr, csv?.stdout.trimEnd().split('\n').length]).toEqual([0, '', whole + 1])
      expect([cut?.code, cut?.stderr]).toEqual([3, 'cut after 15,000 rows, more exist\n'])
      expect(cut?.stdout.trimEnd().split('\n')).toHaveLength(15_000)
      expect([arrow?.code, arrow?.stdout.length]).toEqual([0, expect.any(Number)])
      expect(arrow?.stdout).toContain('tx_count')
      expect([refused?.code, refused?.stdout]).toEqual([1, ''])
      expect(refused?.stderr).toMatch(/nonsense/)
    },
  )
})

describe('how millrace query ends, and goes on', () => {
  test('a refused query ends with 1 and shows its place', async () => {
    const { code, stdout, stderr } = await query('SELECT num,\n  nonsense FROM blocks')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^millrace: .*nonsense.*\n {4}nonsense FROM blocks\n {4}\^\n$/)
  })

  test('a wrong option, and no program at the port, are told in one line', async () => {
    const wrong = await Promise.all([
      query(rowsSql, '--format', 'xml'),
      query(rowsSql, '--engine', 'mysql'),
      query(rowsSql, '--limit', '0'),
      query(rowsSql, '--limit', '10001'),
      query(rowsSql, '--live', '--format', 'arrow'),
      runMillrace(['query', rowsSql], { PORT: '1' }),
    ])
    expect(wrong.map(({ code, stdout }) => [code, stdout])).toEqual(wrong.map(() => [1, '']))
    expect(wrong.map(({ stderr }) => stderr)).toEqual([
      expect.stringMatching(/^millrace: --format: .*table, json, csv.*\n$/),
      expect.stringMatching(/^millrace: --engine: .*postgres, clickhouse.*\n$/),
      expect.stringMatching(/^millrace: --limit: .*1 to 1000000.*\n$/),
      expect.stringMatching(/^millrace: --limit: .*10000 rows.*csv, ndjson, arrow, parquet\n$/),
      expect.stringMatching(/^millrace: --format: .*table, json, csv\n$/),
      expect.stringMatching(/^millrace: PORT: no Millrace answers at .*:1.*\n$/),
    ])
  })

  test('a reader that has enough, as `head`, ends it without a complaint', async () => {
    const command = start('SELECT a.num, b.hash FROM blocks a CROSS JOIN blocks b')
    await once(command.child.stdout, 'data')
    command.child.stdout.destroy()
    expect(await command.ended).toBe(0)
    expect(command.notes()).not.toMatch(/millrace:|EPIPE|Error/)
  })

  test('--live prints the rows of new blocks and what is taken back, until it is told to end', async () => {
    const command = start('SELECT num, hash FROM blocks', '--live', '--format', 'json')
    await expect.poll(() => api.live.size.clients).toBe(1)
    await api.append(batches.slice(61, 63))
    await command.shows('"num":"62"')
    await api.revertTo(61)
    await command.shows('taken back: blocks 62\n')
    await api.append(batches.slice(62, 63))
    await expect.poll(() => command.rows().trimEnd().split('\n').length).toBe(3)
    command.child.kill('SIGINT')
    expect(await command.ended).toBe(0)
    const told = command
      .rows()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).hash)
    expect(told).toEqual([await hashOf(61), await hashOf(62), await hashOf(62)])
    await expect.poll(() => api.live.size.clients).toBe(0)
  })

  test('--snapshot prints the whole result whenever it changed', async () => {
    const command = start('SELECT count(*) AS n FROM blocks', '--snapshot', '--format', 'csv')
    const before = api.state.tip
    await command.shows(`n\n${before + 1}\n`)
    await api.append(batches.slice(before + 1, before + 2))
    await command.shows(`n\n${before + 1}\nn\n${before + 2}\n`)
    command.child.kill('SIGTERM')
    expect(await command.ended).toBe(0)
  })
})
