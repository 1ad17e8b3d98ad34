/**
 * Load on a server: as fast as it answers (closed loop), or at a rate it cannot slow down (open
 * loop).
 */
import { Pool } from 'undici'

/** Requests are taken from `paths` in turn. */
export interface Load {
  readonly origin: string
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
  readonly headers?: Readonly<Record<string, string>>
  /** The status that every answer must have. Default 200. */
  readonly status?: number
}

export interface Throughput {
  readonly requests: number
  readonly perSecond: number
}

/** Every connection asks again as soon as it has its answer. @throws for an answer of another status */
export async function loadClosed({
  origin,
  paths,
  connections,
  seconds,
  ...asking
}: Load): Promise<Throughput> {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const begun = performance.now()
  let requests = 0
  const client = async () => {
    while (performance.now() - begun < seconds * 1000)
      await ask(pool, paths[requests++ % paths.length], asking)
  }
  await Promise.all(Array.from({ length: connections }, client))
  const perSecond = (requests * 1000) / (performance.now() - begun)
  await pool.close()
  return { requests, perSecond }
}

export interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The rate that was really sent per second. */
  readonly perSecond: number
}

/**
 * Asks `rate` times a second whatever the answers do. A latency counts from the moment the request
 * was due, so that a server that stalls is charged for everything that had to wait behind it.
 * Milliseconds.
 */
export async function loadOpen(load: Load & { readonly rate: number }): Promise<Latencies> {
  const { origin, paths, connections, seconds, rate, ...asking } = load
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const latencies: number[] = []
  const asked: Promise<void>[] = []
  const begun = performance.now()
  const send = async (due: number) => {
    await ask(pool, paths[asked.length % paths.length], asking)
    latencies.push(performance.now() - due)
  }
  while (asked.length < rate * seconds) {
    const due = begun + (asked.length * 1000) / rate
    if (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
    else asked.push(send(due))
  }
  await Promise.all(asked)
  const perSecond = (asked.length * 1000) / (performance.now() - begun)
  await pool.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: latencies.at(-1) ?? 0, perSecond }
}

async function ask(
  pool: Pool,
  path = '/',
  { headers = {}, status = 200 }: Pick<Load, 'headers' | 'status'> = {},
): Promise<void> {
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
  if (statusCode !== status) throw new Error(`${path}: ${statusCode} ${await body.text()}`)
  await body.dump()
}
