/**
 * From a node's block to the receivers of its event, through the whole program; and the same beside
 * endpoints that never answer.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { RAMP_MS } from '#webhooks/delivery/Shares.ts'
import { answerOf } from '../answerOf.ts'
import { dueMs, type LiveBlocks } from '../cannedNode.ts'
import { type Line, quantile, startCannedNode } from '../harness.ts'
import { isQueryable, type RunningProgram, withProgram } from '../program.ts'
import { dense } from '../shapes.ts'
import type { Arrival, ReceiverAsked, ReceiverTold } from './receiver.ts'

const HISTORY_BLOCKS = 300
/** Come while the program starts up, and while subscriptions are made. */
const OTHER_BLOCKS_MAX = 300
const WATCHED_BLOCKS = 30
const INTERVAL_MS = 500
/** Each hears of every block: 200 events a second, as many as one owner may have. */
const SUBSCRIPTIONS = 90
const OTHER_SUBSCRIPTIONS = 10
/** After its last block an event that has not come is a failure, not a lag. */
const LATE_MS_MAX = 30_000

export async function wholePathLines(): Promise<Line[]> {
  const node = await startCannedNode(dense(HISTORY_BLOCKS + OTHER_BLOCKS_MAX + 2 * WATCHED_BLOCKS))
  const live = { from: HISTORY_BLOCKS - 1, sinceMs: Date.now(), intervalMs: INTERVAL_MS }
  node.live(live)
  node.release()
  const child = fork(join(import.meta.dirname, 'receiver.ts'))
  process.env['WEBHOOKS'] = 'loopback'
  try {
    const { url = '' } = await answerOf<ReceiverTold>(child)
    const [healthy, beside] = await withProgram(node, 'links', async (program) => {
      await program.until(() => isQueryable(program), 100)
      const numbered = (path: string, count: number) =>
        Array.from({ length: count }, (_, n) => `${url}/${path}/${n}`)
      await subscribe(program, numbered('watched', SUBSCRIPTIONS))
      const others = await subscribe(program, numbered('other', OTHER_SUBSCRIPTIONS))
      await setTimeout(RAMP_MS)
      const alone = await watch(child, live)
      for (const id of others) await fetch(`${program.address}/v1/webhooks/${id}`, { method: 'DELETE' })
      await subscribe(program, numbered('hanging', OTHER_SUBSCRIPTIONS))
      return [alone, await watch(child, live)]
    })
    const told = (ages: readonly number[]) =>
      `p50 ${Math.round(quantile(ages, 0.5))} ms, p99 ${Math.round(quantile(ages, 0.99))} ms`
    return [
      {
        subject: 'webhooks: from the node’s block to the receiver, 200 events/s, 100 endpoints',
        value: told(healthy),
        against: 'polled for; goal from commit to first attempt 200 ms and 2 s',
      },
      {
        subject: 'webhooks: the same, ten of the endpoints never answering',
        value: told(beside),
        against: told(healthy),
      },
    ]
  } finally {
    delete process.env['WEBHOOKS']
    child.disconnect()
    node.stop()
  }
}

async function subscribe({ address }: RunningProgram, urls: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const url of urls) {
    const answer = await fetch(`${address}/v1/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ eventType: 'block:created', destination: { type: 'url', url } }),
    })
    const made = (await answer.json()) as { readonly id: string }
    if (!answer.ok) throw new Error(`${answer.status}: ${JSON.stringify(made)}`)
    ids.push(made.id)
  }
  return ids
}

/** Milliseconds from the coming of the next blocks to the arrival of each of their events. */
async function watch(child: ChildProcess, live: LiveBlocks): Promise<number[]> {
  await arrivalsOf(child)
  const first = live.from + Math.floor((Date.now() - live.sinceMs) / live.intervalMs) + 2
  const last = first + WATCHED_BLOCKS - 1
  const seen: Arrival[] = []
  const isOver = () => Date.now() > dueMs(live, last) + LATE_MS_MAX
  const hasLast = () => seen.some(({ block }) => block > last)
  while (!hasLast()) {
    if (isOver()) throw new Error(`no event of block ${last + 1} came`)
    await setTimeout(INTERVAL_MS)
    seen.push(...(await arrivalsOf(child)))
  }
  return seen
    .filter(({ path, block }) => path.startsWith('/watched/') && block >= first && block <= last)
    .map(({ block, atMs }) => atMs - dueMs(live, block))
}

async function arrivalsOf(child: ChildProcess): Promise<readonly Arrival[]> {
  child.send('report' satisfies ReceiverAsked)
  const { arrivals = [] } = await answerOf<ReceiverTold>(child)
  return arrivals
}
