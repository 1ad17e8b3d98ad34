/**
 * A server's answers when five times as much is asked as it can answer. Half of the claim is that it
 * answers nearly as much as before, the other that nobody waits for it in vain.
 */
import type { Line } from '../harness.ts'
import { openRawClients, type RawClients } from './rawClients.ts'
import type { RunningServer } from './server.ts'

const TIMES = 5
const CAPACITY_SECONDS = 8
const OVERLOAD_SECONDS = 12
/** The first seconds fill caches, and the queue. */
const SETTLING_SECONDS = 3
/** As many as run at once in the program. */
const CAPACITY_CONNECTIONS = 64
/** More than run and wait at once in the program, so that the server decides and not the client. */
const OVERLOAD_CONNECTIONS = 1_300

/** Capacity by a closed loop before and after an open one at five times that rate, on the same paths. */
export async function measureOverload(
  name: string,
  server: RunningServer,
  paths: readonly string[],
): Promise<Line> {
  const clients = await openRawClients(server.url, OVERLOAD_CONNECTIONS)
  const pathAt = pathsInTurn(paths)
  const before = await measureCapacity(clients, pathAt)
  const over = await measureOver(clients, pathAt, before * TIMES)
  const after = await measureCapacity(clients, pathAt)
  clients.close()
  const capacity = (before + after) / 2
  const at = (share: number) => over.waitedMs[Math.floor(over.waitedMs.length * share)] ?? Number.NaN
  const { 200: _good, ...others } = over.statuses
  const line = {
    subject: `overload, all lists in turn: ${name}`,
    value: `${Math.round(over.goodput)} answers/s, ${Math.round((100 * over.goodput) / capacity)} % of the capacity; answered after p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms; others ${JSON.stringify(others)}`,
    against: `capacity ${Math.round(before)} before, ${Math.round(after)} after; ${Math.round(over.sentPerSecond)}/s sent`,
  }
  process.stderr.write(`${line.subject}: ${line.value}; ${line.against}\n`)
  return line
}

const pathsInTurn = (paths: readonly string[]): (() => string) => {
  let asked = 0
  return () => paths[asked++ % paths.length] ?? '/'
}

/** Answers a second when each connection asks again as soon as it has its answer. */
async function measureCapacity(clients: RawClients, pathAt: () => string): Promise<number> {
  const begun = performance.now()
  const [from, to] = [begun + SETTLING_SECONDS * 1_000, begun + CAPACITY_SECONDS * 1_000]
  let good = 0
  const ask = async () => {
    while (performance.now() < to) {
      const status = await clients.ask(pathAt())
      const now = performance.now()
      if (status !== 200) throw new Error(`a server that is not overloaded answered ${status}`)
      if (now >= from && now < to) good++
    }
  }
  await Promise.all(Array.from({ length: CAPACITY_CONNECTIONS }, ask))
  return (good * 1_000) / (to - from)
}

interface Overload {
  /** Answers with what was asked for, a second. */
  readonly goodput: number
  readonly sentPerSecond: number
  /** From the moment each was sent, ascending, of those that were answered. */
  readonly waitedMs: readonly number[]
  readonly statuses: Readonly<Record<string, number>>
}

/** `rate` requests a second whatever the answers do. */
async function measureOver(clients: RawClients, pathAt: () => string, rate: number): Promise<Overload> {
  const statuses: Record<string, number> = {}
  const waitedMs: number[] = []
  const begun = performance.now()
  const [from, to] = [begun + SETTLING_SECONDS * 1_000, begun + OVERLOAD_SECONDS * 1_000]
  let good = 0
  const send = async () => {
    const sent = performance.now()
    const status = await clients.ask(pathAt())
    const now = performance.now()
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status !== 200) return
    waitedMs.push(now - sent)
    if (now >= from && now < to) good++
  }
  const asked: Promise<void>[] = []
  while (performance.now() < to) {
    const due = ((performance.now() - begun) * rate) / 1_000
    while (asked.length < due) asked.push(send())
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const sentPerSecond = (asked.length * 1_000) / (performance.now() - begun)
  await Promise.all(asked)
  waitedMs.sort((a, b) => a - b)
  return { goodput: (good * 1_000) / (to - from), sentPerSecond, waitedMs, statuses }
}
