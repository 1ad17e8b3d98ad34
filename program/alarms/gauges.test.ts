import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { openGauges } from './gauges.ts'

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
    state: { chainId: 1 },
    followers,
    nodes: { endpoints: () => endpoints },
    historyProgress: history,
  }
  const registry = new Registry()
  openGauges(registry, [chain], import.meta.dirname)
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'millrace_projection_tip_block{chain="1",projection="tokens"} 7',
    'millrace_projection_ok{chain="1",projection="tokens"} 1',
    'millrace_projection_ok{chain="1",projection="balances"} 0',
    'millrace_endpoint_healthy{chain="1",endpoint="a"} 1',
    'millrace_endpoint_healthy{chain="1",endpoint="b"} 0',
    'millrace_endpoint_head_block{chain="1",endpoint="a"} 9',
    'millrace_history_blocks{chain="1",part="total"} 10',
    'millrace_history_blocks{chain="1",part="done"} 4',
    'millrace_history_eta_seconds{chain="1"} 3',
  ])
    expect(lines).toContain(line)
  for (const name of ['millrace_build_info', 'millrace_disk_free_bytes', 'nodejs_eventloop_lag_seconds'])
    expect(lines.some((line) => line.startsWith(name))).toBe(true)
  followers.pop()
  expect(await registry.metrics()).not.toContain('projection="balances"')
})
