import { statfs } from 'node:fs/promises'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { registry as programs } from '#telemetry.ts'
import { webhookGauges } from '../webhooks/webhookGauges.ts'
import { openGauges, startCounters } from './gauges.ts'

test('projections, endpoints, history, disk, event loop and build are told as they are when asked', async () => {
  const followers: { name: string; problem: string | null; tip: number }[] = [
    { name: 'tokens', problem: null, tip: 7 },
    { name: 'balances', problem: 'why', tip: 3 },
  ]
  const endpoints = [
    { name: 'a', state: 'healthy', head: 9 },
    { name: 'b', state: 'paused', head: null },
  ]
  const history = { blocksTotal: 10, blocksDone: 4, etaSeconds: 3 }
  const chain = {
    state: { chainId: 1, head: 9, tip: 7, tipTimeMs: 1_000 },
    followers,
    nodes: { endpoints: () => endpoints },
    historyProgress: history,
  }
  const registry = new Registry()
  const webhooks = {
    report: async () => ({
      chains: [{ chainId: 1, stream: 'blocks', block: 5, lagBlocks: 2, problem: null } as const],
      pending: { unfinal: 1, waiting: 2, sending: 3, retrying: 4 },
      attempts: { succeeded: 1, failed: 0 },
      problem: null,
    }),
  }
  const clock = { now: () => 3_500 }
  openGauges({
    registry,
    chains: [chain],
    dataDir: import.meta.dirname,
    clock,
    gauges: webhookGauges(webhooks),
  })
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'millrace_projection_tip_block{chain="1",projection="tokens"} 7',
    'millrace_seconds_behind{chain="1"} 2.5',
    'millrace_projection_ok{chain="1",projection="tokens"} 1',
    'millrace_projection_ok{chain="1",projection="balances"} 0',
    'millrace_endpoint_healthy{chain="1",endpoint="a"} 1',
    'millrace_endpoint_healthy{chain="1",endpoint="b"} 0',
    'millrace_endpoint_head_block{chain="1",endpoint="a"} 9',
    'millrace_history_blocks{chain="1",part="total"} 10',
    'millrace_history_blocks{chain="1",part="done"} 4',
    'millrace_history_eta_seconds{chain="1"} 3',
    'millrace_webhook_lag_blocks{chain="1",stream="blocks"} 2',
    'millrace_webhook_pending{state="retrying"} 4',
  ])
    expect(lines).toContain(line)
  for (const name of ['millrace_build_info', 'millrace_disk_free_bytes', 'nodejs_eventloop_lag_seconds'])
    await expect.poll(() => registry.metrics()).toMatch(new RegExp(`^${name}`, 'm'))
  chain.state.tip = 9
  expect(await registry.metrics()).toContain('millrace_seconds_behind{chain="1"} 0')
  followers.pop()
  expect(await registry.metrics()).not.toContain('projection="balances"')
})

test('the room on a disk that does not answer is not told', async () => {
  const registry = new Registry()
  const dataDir = `${import.meta.dirname}/absent`
  openGauges({ registry, chains: [], dataDir, clock: { now: () => 0 }, gauges: [] })
  const told = async () => /^millrace_disk_free_bytes \S+$/m.exec(await registry.metrics())?.[0]
  expect(await told()).toBeUndefined()
  await expect(statfs(dataDir)).rejects.toThrow()
  expect(await told()).toBeUndefined()
})

/** Counters of the whole program. */
const outcomesAlone = new Set(['millrace_alarm_deliveries_total', 'millrace_webhook_attempts_total'])

test('each counter has its series before anything is counted, for each chain where it tells of one', async () => {
  const state = { chainId: 77, head: -1, tip: -1, tipTimeMs: null }
  startCounters([{ state, nodes: { endpoints: () => [{ name: 'a', state: 'unknown', head: null }] } }])
  const text = await programs.metrics()
  const counters = text.matchAll(/^# TYPE (millrace_\w+) counter$/gm)
  const names = [...counters].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(9)
  for (const name of names) {
    const first = outcomesAlone.has(name) ? 'outcome="' : 'chain="77"'
    expect(text, name).toMatch(new RegExp(`^${name}\\{${first}[^}]*\\} 0$`, 'm'))
  }
  expect(text).toContain('millrace_rpc_requests_total{chain="77",endpoint="a",outcome="timed_out"} 0')
  expect(text).toContain('millrace_rpc_request_seconds_count{chain="77",endpoint="a"} 0')
})
