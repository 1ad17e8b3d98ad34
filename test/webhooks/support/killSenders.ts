/**
 * `kill -9`s of processes that match and send while a chain grows, and what came in the end: nothing
 * is lost, numbers have no gap, what came twice is the same and was begun twice.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { openReceiver, type Received, type Receiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from './forks.ts'
import { eventsOf, longChain } from './longChain.ts'
import { openService, type Service } from './openService.ts'
import { matching, sending } from './places.ts'
import type { SenderTask } from './senderProcess.ts'

/** Subscriptions to the same events; with a block every `BLOCK_MS`, some 290 events a second. */
const SUBSCRIPTIONS = 16
const BLOCK_MS = 2_000
const RATE_MIN = 200
const FIRST = 10
/** Recorded blocks from here on have transfers throughout. */
const SOURCE_FROM = 12
/** More than are written while the processes are killed. */
const BLOCKS = 400
/** The longest life of a process that is killed at no certain place. */
const LIFE_MS = 1_500

/** Two processes send at a time; the first one has the lease of the matcher, also when it comes back. */
const roles = [
  { holder: 'sender-0', places: [...matching, ...sending] },
  { holder: 'sender-1', places: sending },
] as const

export async function killSenders(kills: number): Promise<void> {
  const receiver = await openReceiver()
  const service = await openService()
  const children = new Set<ChildProcess>()
  try {
    await survive(kills, service, receiver, children)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await service.close()
  }
}

async function survive(
  kills: number,
  service: Service,
  receiver: Receiver,
  children: Set<ChildProcess>,
): Promise<void> {
  const main = longChain(recorded(123).slice(SOURCE_FROM), BLOCKS)
  await service.append(batchesOf(main, 0, FIRST - 1))
  const ids: string[] = []
  for (let n = 0; n < SUBSCRIPTIONS; n++) {
    const destination = { type: 'url', url: receiver.url(`/${n}`) }
    ids.push((await service.subscribe({ eventType: 'token:transfer', destination })).id)
  }
  const stop = new AbortController()
  const writing = write(service, main, stop.signal)
  await Promise.all(roles.map((role, n) => liveAndDie(role, kills / roles.length, n, service, children)))
  stop.abort()
  const { written, seconds } = await writing
  const expected = eventsOf(written, FIRST).transfers
  expect((expected.length * SUBSCRIPTIONS) / seconds).toBeGreaterThan(RATE_MIN)

  for (const { holder } of roles) await start(service, holder, '', children)
  for (const [n, id] of ids.entries()) {
    const messages = await delivered(service, id, expected.length)
    expectWhole(receiver.at(`/${n}`), expected, messages)
  }
}

/** Appends a block at its time, and goes on until it is stopped. */
async function write(service: Service, main: readonly RecordedBlock[], stopped: AbortSignal) {
  const begunMs = performance.now()
  let next = FIRST
  for (; next < main.length && !stopped.aborted; next++) {
    const dueMs = begunMs + (next - FIRST) * BLOCK_MS
    await pause(Math.max(0, dueMs - performance.now()))
    await service.append(batchesOf(main, next, next))
  }
  return { written: main.slice(0, next), seconds: (performance.now() - begunMs) / 1_000 }
}

/** One process after the other, each killed: by turns at a place of its own, and at any moment. */
async function liveAndDie(
  { holder, places }: (typeof roles)[number],
  kills: number,
  turn: number,
  service: Service,
  children: Set<ChildProcess>,
): Promise<void> {
  for (let n = 0; n < kills; n++) {
    const place = (n + turn) % 2 === 0 ? places[Math.floor(n / 2) % places.length] : undefined
    const visit = 1 + Math.floor(Math.random() * 5)
    const child = await start(service, holder, place ? `${place}:${visit}` : '', children)
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
    if (!place) {
      await pause(Math.random() * LIFE_MS)
      child.kill('SIGKILL')
    }
    await ended
    children.delete(child)
    expect(child.signalCode).toBe('SIGKILL')
  }
}

async function start(
  { store, id: chainId }: Service,
  holder: string,
  failpoint: string,
  children: Set<ChildProcess>,
): Promise<ChildProcess> {
  const { access, schema } = store
  const task: SenderTask = { databaseUrl: access.databaseUrl, chainId, schema, holder, keyByte: 7, failpoint }
  const child = spawn(process.execPath, ['test/webhooks/support/senderProcess.ts'], {
    env: { ...process.env, SENDER_TASK: JSON.stringify(task) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  await once(child.stdout, 'data')
  return child
}

interface Sent {
  readonly event_id: string
  readonly attempts: number
  readonly state: string
}

/** The events of a subscription, once all are there and taken. */
async function delivered(service: Service, id: string, count: number): Promise<readonly Sent[]> {
  for (;;) {
    const { rows } = await sql<Sent>`
      SELECT event_id, attempts, state FROM app.webhook_messages WHERE webhook_id = ${id} ORDER BY id`.execute(
      service.app,
    )
    if (rows.length >= count && rows.every(({ state }) => state === 'delivered')) return rows
    await pause(500)
  }
}

function expectWhole(
  received: readonly Received[],
  expected: readonly string[],
  messages: readonly Sent[],
): void {
  const times = Map.groupBy(received, idOf)
  const once = [...times.values()].flatMap(([first]) => (first ? [first] : []))
  const inOrder = once.toSorted((a, b) => a.envelope.meta.sequence - b.envelope.meta.sequence)
  expect(inOrder.map(({ envelope }) => envelope.meta.sequence)).toEqual(expected.map((_, index) => index + 1))
  expect(inOrder.map(transferOf)).toEqual(expected)
  for (const all of times.values()) expect(new Set(all.map(({ body }) => body)).size).toBe(1)
  // One attempt is one request: what was not begun twice did not come twice.
  expect(messages).toHaveLength(expected.length)
  for (const { event_id: id, attempts } of messages)
    expect(times.get(id)?.length ?? 0).toBeLessThanOrEqual(attempts)
}

const idOf = ({ envelope }: Received): string => envelope.id

const transferOf = ({ envelope: { data, meta } }: Received): string =>
  [data.blockNumber, meta.index, data.transactionHash, data.amount].join(' ')

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
