// Goal: what a caller may ask a node for in a minute is counted over all processes, for each caller
// and each chain apart.
// Method: two readers of nodes as two processes have them, quotas of their own over the same rows,
// with clocks that begin a second at each look, so that only the minute is left to refuse.
import { expect, test } from 'vitest'
import { allowanceOf } from '#api/access/allowance.ts'
import { Quotas } from '#api/access/Quotas.ts'
import {
  CONTRACT_CALLS_PER_CALLER_MAX,
  CONTRACT_CALLS_PER_MINUTE,
  LOOK_UPS_PER_MINUTE,
  nodeReader,
} from '#api/node/nodeReader.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { address, hash } from '#primitives.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'
import { openAppStore } from '../../support/appStore.ts'

const { app } = await openAppStore()
const { clock } = systemRuntime()
const { signal } = new AbortController()
const holder = address(`0x${'56'.repeat(20)}`)

/** A process that asks a node which knows nothing. */
function openProcess(chainId = 1) {
  const quotas = new Quotas(quotaRows(app), clock)
  let nowMs = 0
  const source: Pick<RpcSource, 'call' | 'callAll'> = {
    call: async () => null,
    callAll: async (asked) => asked.map(() => null),
  }
  return nodeReader(
    source,
    { ...clock, monotonic: () => (nowMs += 1_000) },
    {
      contractCalls: allowanceOf(quotas, `contractCalls:${chainId}`, CONTRACT_CALLS_PER_MINUTE),
      lookUps: allowanceOf(quotas, `lookUps:${chainId}`, LOOK_UPS_PER_MINUTE),
    },
  )
}

const processes = [openProcess(), openProcess()] as const
const balances = (reader: ReturnType<typeof openProcess>, party: string) =>
  reader.balances(holder, Array(CONTRACT_CALLS_PER_CALLER_MAX).fill(holder), party, signal)

/** How many of `count` questions are answered, asked of both processes by turns. */
async function answered(
  count: number,
  ask: (reader: ReturnType<typeof openProcess>, index: number) => Promise<unknown>,
) {
  const answers = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => ask(processes[index % 2 === 0 ? 0 : 1], index)),
  )
  for (const answer of answers)
    if (answer.status === 'rejected')
      expect(answer.reason).toMatchObject({
        code: 'rate_limit_exceeded',
        headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
      })
  return answers.filter(({ status }) => status === 'fulfilled').length
}

test('questions to contracts are a minute’s worth of one process, however many there are', async () => {
  const worth = CONTRACT_CALLS_PER_MINUTE / CONTRACT_CALLS_PER_CALLER_MAX
  let turn = 0
  // A minute may end in between, once.
  const asked = () => {
    const party = `busy ${turn++}`
    return answered(2 * worth, (reader) => balances(reader, party))
  }
  await expect.poll(asked).toBe(worth)
  await balances(processes[0], 'another')
  await balances(openProcess(2), `busy ${turn - 1}`)
})

test('look-ups of transactions and receipts are counted together', async () => {
  let turn = 0
  const asked = () => {
    const party = `waiting ${turn++}`
    return answered(2 * LOOK_UPS_PER_MINUTE, (reader, index) => {
      const made = hash(`0x${index.toString(16).padStart(64, '0')}`)
      return reader[index % 4 < 2 ? 'transaction' : 'receipt'](made, party, signal)
    })
  }
  await expect.poll(asked).toBe(LOOK_UPS_PER_MINUTE)
})

test('the operator’s own questions are not counted', async () => {
  const more = 1 + CONTRACT_CALLS_PER_MINUTE / CONTRACT_CALLS_PER_CALLER_MAX
  expect(await answered(more, (reader) => balances(reader, everybody))).toBe(more)
})
