/** All strangers at once, on a thread of their own: what they cost the asker delays no measurement. */
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Stranger, strangers } from './kinds.ts'

/** Strangers of each kind, every one from an address of its own. */
export const ADDRESSES = 8
/** A stranger that is refused does not ask in a closed circle: it would be a test of sockets. */
const REFUSED_WAIT_MS = 100

/** Answers of each kind of stranger by status; 0 is one that never came. */
export type Told = ReadonlyMap<string, ReadonlyMap<number, number>>

/** Begins to ask at an origin; what it returns ends that, and resolves to what was answered. */
export function beginPestering(origin: string): () => Promise<Told> {
  const thread = new Worker(new URL(import.meta.url), { workerData: origin })
  return () =>
    new Promise((resolve, reject) => {
      thread.once('message', (told: Told) => resolve(told))
      thread.once('error', reject)
      thread.postMessage('end')
    })
}

async function pesterAll(origin: string, end: AbortSignal): Promise<Told> {
  const told = new Map<string, Map<number, number>>()
  const asking = strangers.flatMap((stranger, kind) => {
    const statuses = new Map<number, number>()
    told.set(stranger.name, statuses)
    return Array.from({ length: ADDRESSES }, (_, index) =>
      pester(origin, stranger, `10.${kind}.${index}.1`, statuses, end),
    )
  })
  await Promise.all(asking)
  return told
}

async function pester(
  origin: string,
  { ask }: Stranger,
  from: string,
  statuses: Map<number, number>,
  signal: AbortSignal,
): Promise<void> {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(origin + path, {
      ...init,
      signal,
      headers: { ...init.headers, 'x-forwarded-for': from, 'content-type': 'application/json' },
    })
  for (let turn = 0; !signal.aborted; turn++) {
    const status = await ask(send, turn).catch(() => 0)
    if (signal.aborted) return
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== 200) await setTimeout(REFUSED_WAIT_MS)
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort
  const ending = new AbortController()
  port.once('message', () => ending.abort())
  port.postMessage(await pesterAll(String(workerData), ending.signal))
}
