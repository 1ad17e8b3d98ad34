/** The checks that an exchange's readers make of a running program, over HTTP. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { get, type RunningMillrace, until } from './millrace.ts'

/** Runs `npm run feed:check` against a deployment. */
export async function runFeedCheck(
  origin: string,
): Promise<{ readonly code: number; readonly said: string }> {
  const script = fileURLToPath(new URL('../../feed/run.ts', import.meta.url))
  const child = spawn(process.execPath, [script, origin, '--chain', '4217'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

/** Waits until the projections have taken in a block. */
export async function awaitProjections({ origin }: RunningMillrace, block: number): Promise<void> {
  await until(async () => {
    const { body } = await get(`${origin}/status`)
    const { projections = [] } = Object(body).chains?.[0] ?? {}
    const wanted = projections.filter(({ name }: { name: string }) =>
      ['tokens', 'exchange', 'fee_pools'].includes(name),
    )
    return wanted.length === 3 && wanted.every(({ tip }: { tip: number | null }) => (tip ?? -1) >= block)
  })
}

/** Every row of a list. */
// biome-ignore lint/suspicious/noExplicitAny: rows of any list
export async function rowsOf(origin: string, path: string): Promise<any[]> {
  const rows = []
  for (let cursor = ''; ; ) {
    const { status, body } = await get(`${origin}${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    expect([status, path]).toEqual([200, path])
    const { data, nextCursor } = Object(body)
    rows.push(...data)
    if (nextCursor === null) return rows
    cursor = nextCursor
  }
}
