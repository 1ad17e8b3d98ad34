/**
 * Claims: an event is sent soon after its commit, a burst is drained fast, deliveries cost not much
 * more than a bare loop that signs and posts, and a busy block costs its matches, not the subscriptions.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Egress } from '#egress/Egress.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { type Sealer, sealerOf } from '#rows/sealing.ts'
import { insertMessages } from '#rows/webhooks/messages.ts'
import { insertSubscription } from '#rows/webhooks/subscriptions.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { Deliverer } from '#webhooks/delivery/Deliverer.ts'
import { RAMP_MS } from '#webhooks/delivery/Shares.ts'
import { endpointOf } from '#webhooks/destinations.ts'
import { newSecret, signatureHeaders } from '#webhooks/signature.ts'
import { answerOf } from './answerOf.ts'
import { type Line, median, quantile } from './harness.ts'
import { fanOutLines } from './webhooks/fanOut.ts'
import type { ReceiverAsked, ReceiverTold } from './webhooks/receiver.ts'

const SUBSCRIPTIONS = 64
const BURST = 5_000
const RATE = 200
const RATE_SECONDS = 10
/** Each has a tenth of a second's events. */
const COMMITS_PER_SECOND = 10
const ROUNDS = 2
const SUSTAINED_RATE = 1_000
const SUSTAINED_SECONDS = 15
/** As many requests at a time as a sender has that has just begun. */
const BARE_WIDTH = 26

export async function benchWebhooks(): Promise<Line[]> {
  const lines = await fanOutLines()
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  const child = fork(join(import.meta.dirname, 'webhooks/receiver.ts'))
  try {
    await migrateApp(postgres)
    return [...lines, ...(await deliveryLines(appDatabase(postgres), child))]
  } finally {
    child.disconnect()
    await postgres.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function deliveryLines(app: AppDatabase, child: ChildProcess): Promise<Line[]> {
  const { url = '' } = await answerOf<ReceiverTold>(child)
  const sealer = sealerOf([new Uint8Array(32).fill(1)])
  const ids = await subscribe(app, sealer, url)
  const [outgoing, stop] = [new CommitBell(), new AbortController()]
  const runtime = systemRuntime()
  const egress = new Egress({ isLocalOrigin: () => true })
  const deliverer = new Deliverer({
    ...{ app, sealer, egress, outgoing, runtime, log: silentLogger },
    disabled: async () => {},
  })
  const begunMs = performance.now()
  const sending = deliverer.run(stop.signal)
  const receiver = new Receiver(child)
  let number = 0
  const commit = async (count: number) => {
    const messages = Array.from({ length: count }, () => messageOf(ids, number++))
    await app.transaction().execute((transaction) => insertMessages(transaction, messages))
    outgoing.ring()
  }
  const ages = await steady(commit, receiver, RATE, RATE_SECONDS)
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(
      await seconds(async () => {
        await commit(BURST)
        await receiver.until(BURST)
      }),
    )
    bare.push(await seconds(() => bareLoop(url)))
    await receiver.until(BURST)
  }
  await pause(RAMP_MS - (performance.now() - begunMs))
  let sustained: readonly number[] = []
  const sustainedSeconds = await seconds(async () => {
    sustained = await steady(commit, receiver, SUSTAINED_RATE, SUSTAINED_SECONDS)
  })
  const burstSeconds = await seconds(async () => {
    await commit(BURST)
    await receiver.until(BURST)
  })
  stop.abort()
  await sending
  const rate = (of: readonly number[]) => Math.round(BURST / median(of))
  return [
    {
      subject: `webhooks: from the outbox to the receiver, ${RATE} events/s`,
      value: `p50 ${quantile(ages, 0.5)} ms, p99 ${quantile(ages, 0.99)} ms`,
      against: 'the database’s clock; goal 200 ms and 2 s',
    },
    {
      subject: `webhooks: ${SUSTAINED_RATE} events/s for ${SUSTAINED_SECONDS} s, a minute after the start`,
      value: `${Math.round(sustained.length / sustainedSeconds)} deliveries/s, p50 ${quantile(sustained, 0.5)} ms, p99 ${quantile(sustained, 0.99)} ms`,
      against: `a burst of ${BURST} then: ${Math.round(BURST / burstSeconds)}/s`,
    },
    {
      subject: `webhooks: ${BURST} events for ${SUBSCRIPTIONS} endpoints`,
      value: `${rate(ours)} deliveries/s (${((100 * rate(ours)) / rate(bare)).toFixed(0)} %)`,
      against: `${rate(bare)}/s of a loop that signs and posts, ${BARE_WIDTH} at a time`,
    },
  ]
}

async function subscribe(app: AppDatabase, sealer: Sealer, origin: string): Promise<string[]> {
  const ids = Array.from({ length: SUBSCRIPTIONS }, (_, n) => `wh_${n}`)
  for (const [n, id] of ids.entries()) {
    const target = { type: 'url', url: `${origin}/${n}` } as const
    await insertSubscription(app, sealer, {
      ...{ id, owner: `org_${n}`, chainId: 1, eventType: 'block:created', filters: {}, context: null },
      ...{ finality: 'latest', ordering: 'none', destination: target, target, activeFrom: 0 },
      ...{ endpoint: endpointOf(target), secret: newSecret() },
    })
  }
  return ids
}

const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`

const messageOf = (ids: readonly string[], number: number) => ({
  webhookId: ids[number % ids.length] ?? '',
  eventId: `evt_${hashOf(number).slice(2)}`,
  type: 'block:created',
  block: { number, hash: hashOf(number) },
  index: 0,
  data: JSON.stringify({ number, hash: hashOf(number), parentHash: hashOf(number), gasUsed: 21_000 }),
  waitsForFinality: false,
})

/** Ages of events at their receiver, at a steady rate. */
async function steady(
  commit: (count: number) => Promise<void>,
  receiver: Receiver,
  rate: number,
  lasting: number,
): Promise<number[]> {
  const begunMs = performance.now()
  for (let turn = 0; turn < COMMITS_PER_SECOND * lasting; turn++) {
    await pause(begunMs + (turn * 1_000) / COMMITS_PER_SECOND - performance.now())
    await commit(rate / COMMITS_PER_SECOND)
  }
  return receiver.until(rate * lasting)
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)))

async function bareLoop(origin: string): Promise<void> {
  const secret = newSecret()
  const numbers = Array.from({ length: BURST }, (_, number) => number)
  await mapAtMost(BARE_WIDTH, numbers, async (number) => {
    const id = `evt_${hashOf(number).slice(2)}`
    const body = JSON.stringify({ id, createdAt: new Date().toISOString(), data: { number } })
    const signed = { id, body, timestampSeconds: Math.floor(Date.now() / 1_000) }
    const headers = { 'content-type': 'application/json', ...signatureHeaders(signed, [secret]) }
    const answer = await fetch(`${origin}/${number % SUBSCRIPTIONS}`, { method: 'POST', headers, body })
    await answer.text()
  })
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const begunMs = performance.now()
  await work()
  return (performance.now() - begunMs) / 1_000
}

/** The receiving process, asked until it has what was sent. */
class Receiver {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  async until(count: number): Promise<number[]> {
    const ages: number[] = []
    while (ages.length < count) {
      this.#child.send('report' satisfies ReceiverAsked)
      const { agesMs = [] } = await answerOf<ReceiverTold>(this.#child)
      ages.push(...agesMs)
      if (ages.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return ages
  }
}
