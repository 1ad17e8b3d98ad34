// Goal: every read that is sold takes a session: pages, queries, exports and live streams; each is charged
// once, and a channel that is over is told so at each (410).
// Method: the program on its dev chain, as a laptop has it; the payer is the payment library's own
// manager of one channel.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receipt } from 'mppx'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openSession } from '../../payments/support/sessions.ts'
import {
  blockIndexed,
  freshDataDir,
  type RunningMillrace,
  runMillrace,
  startMillrace,
} from '../support/millrace.ts'

const dataDir = freshDataDir()
let program: RunningMillrace
let dev: { readonly rpcUrl: string; readonly chainId: number }
beforeAll(async () => {
  const accessFile = join(mkdtempSync(join(tmpdir(), 'millrace-access-')), 'access.json')
  writeFileSync(accessFile, JSON.stringify({ quotas: { address: 1 } }))
  program = await startMillrace({ DATA_DIR: dataDir.path, ACCESS: 'guarded', ACCESS_FILE: accessFile })
  await blockIndexed(program, 3)
  dev = JSON.parse(await millrace('devchain', '--json'))
  // Sessions are offered once the channel contract is seen on the chain.
  const offered = async () => (await fetch(`${program.origin}/v1/blocks`)).headers.get('www-authenticate')
  await vi.waitFor(async () => expect(await offered()).toContain('intent="session"'), 120_000)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

const millrace = async (...args: string[]) => (await runMillrace(args, { DATA_DIR: dataDir.path })).stdout

const rows = 'SELECT num FROM blocks WHERE num IN (1, 2) ORDER BY num'
const query = (parameters: string) => `/v1/indexer/query?${parameters}&sql=${encodeURIComponent(rows)}`
const json = { 'content-type': 'application/json' }

interface Door {
  readonly path: string
  readonly asked?: RequestInit
  /** Stands in its answer. */
  readonly told: string
}
const doors: Readonly<Record<string, Door>> = {
  page: { path: '/v1/blocks?limit=5', told: '"data":[{' },
  'query in a body': {
    path: '/v1/indexer/query',
    asked: { method: 'POST', headers: json, body: JSON.stringify({ sql: rows }) },
    told: '[["1"],["2"]]',
  },
  'export as CSV': { path: query('format=csv&limit=20000'), told: 'num\r\n1\r\n2\r\n' },
  'export as NDJSON': { path: query('format=ndjson&limit=20000'), told: '"num"' },
}
const live = query('live=true')

async function openPayer() {
  const account = privateKeyToAccount(generatePrivateKey())
  await millrace('devchain', 'fund', account.address)
  const { manager, sent, nextVoucher } = openSession(account, dev)
  return {
    ...{ manager, sent },
    /** A minute may have turned, and the quota with it: what was answered for nothing is asked again. */
    pay: async (path: string, asked?: RequestInit): Promise<Response> => {
      for (;;) {
        const answer = await manager.fetch(program.origin + path, asked)
        if (answer.status !== 200 || answer.headers.has('payment-receipt')) return answer
        await answer.body?.cancel()
      }
    },
    voucherFor: async (path: string, asked?: RequestInit) => {
      const before = sent.length
      for (;;) {
        const voucher = await nextVoucher(program.origin + path, asked)
        if (sent.slice(before).some(({ headers }) => headers.has('authorization')))
          return () => voucher(program.origin + path)
      }
    },
  }
}

const spentOf = (answer: Response): bigint => {
  const receipt = Receipt.fromResponse(answer)
  return 'spent' in receipt ? BigInt(String(receipt.spent)) : -1n
}

test('pages, queries, exports and live streams are paid by one session, each once', async () => {
  const { pay, sent, manager } = await openPayer()
  let spent = 0n
  for (const [name, { path, asked, told }] of Object.entries(doors)) {
    const answer = await pay(path, asked)
    expect([answer.status, await answer.text()], name).toEqual([200, expect.stringContaining(told)])
    expect(spentOf(answer), name).toBeGreaterThan(spent)
    spent = spentOf(answer)
    const again = await fetch(sent.findLast(({ headers }) => headers.has('authorization'))?.clone() ?? '')
    expect([again.status, spentOf(again)], name).toEqual([200, spent])
    expect(await again.text(), name).toContain(told)
  }

  const stream = await pay(live)
  expect([stream.status, stream.headers.get('content-type')]).toEqual([
    ...[200, 'text/event-stream; charset=utf-8'],
  ])
  expect(spentOf(stream)).toBeGreaterThan(spent)
  spent = spentOf(stream)
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  let told = ''
  while (!told.includes('event: result')) told += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  // It was left: its voucher opens no other.
  const again = sent.findLast(({ headers }) => headers.has('authorization'))
  await expect.poll(async () => (await fetch(again?.clone() ?? '')).status).toBe(402)
  expect((await manager.close())?.spent).toBe(`${spent}`)
})

test('a channel that is over is 410 at every door', async () => {
  const { pay, voucherFor, manager } = await openPayer()
  expect((await pay('/v1/blocks')).status).toBe(200)
  const vouchers: [string, () => Promise<Response>][] = []
  for (const [name, { path, asked }] of [...Object.entries(doors), ['live stream', { path: live }] as const])
    vouchers.push([name, await voucherFor(path, asked)])
  await manager.close()
  for (const [name, voucher] of vouchers) {
    const answer = await voucher()
    expect([answer.status, await answer.json()], name).toMatchObject([
      ...[410, { type: 'https://paymentauth.org/problems/session/channel-finalized' }],
    ])
  }
})
