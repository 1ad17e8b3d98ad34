// Goal: a service is a folder and one line.
// Method: add one that is made up to a list of parts, and look for it wherever a service shows.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { openAll } from '#program/parts/openAll.ts'
import { parts } from '#program/parts/openParts.ts'
import { noParts } from '#program/parts/PartList.ts'
import { parityPart } from '#program/parts/parity/parityPart.ts'
import type { Base } from '#program/parts/part.ts'
import { webhooksPart } from '#program/parts/webhooks/webhooksPart.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { registry, silentLogger } from '#telemetry.ts'
import { startServer } from '../../api/support/toolkitServer.ts'
import { guestbookPart } from './guestbook/guestbookPart.ts'

/** A program that indexes no chain. */
function emptyBase(logged: string[]): Base {
  const log = { ...silentLogger, error: (_fields: object, text: string) => logged.push(text) }
  const base = {
    config: { webhooks: 'off', alarms: null, dataDir: tmpdir() },
    program: { chains: [], localIds: new Set(), engines: { postgres: {}, clickhouse: {} } },
    ...{ secrets: { sealer: async () => ({}) }, chains: new Map(), notes: ['before any part'] },
    ...{ runtime: systemRuntime(), log, shutdown: AbortSignal.abort() },
  }
  return base as unknown as Base
}

test('a service is added by a folder and one line', async () => {
  const [told, logged] = [[], []] as [string[], string[]]
  const list = noParts
    .with(webhooksPart)
    .with(parityPart)
    // The line.
    .with(guestbookPart(told))
  const whole = await openAll(emptyBase(logged), list)

  const server = await startServer(list.endpoints, whole.services, { chains: [] })
  for (const [at, guest] of ['ann', 'bob'].entries()) {
    const answer = await fetch(`${server.origin}/v1/guestbook/${guest}`)
    expect(await answer.json()).toEqual({ guests: at + 1 })
  }
  await server.app.close()

  const { notes, alarms } = await whole.services.status.status()
  expect(notes).toEqual(['before any part', 'guests are welcome'])
  expect(alarms).toMatchObject([{ chainId: 7, code: 'wallet_low', problem: 'the page is full' }])
  expect(await registry.metrics()).toContain('millrace_guests{guest="bob"} 1')

  const ending = new AbortController()
  const signals = { shutdown: ending.signal, answered: ending.signal }
  const running = whole.run({ address: server.origin, ...signals })
  await expect.poll(() => logged).toEqual(['an alarm was raised'])
  ending.abort()
  await running
  await whole.close()
  expect(told).toEqual(['runs', 'ran', 'closed'])
})

test('the program takes it as it takes its own, after those that it stands on', () => {
  const guestbook = guestbookPart([])
  const { endpoints, alarms } = parts.with(guestbook)
  expect(endpoints.map(({ path }) => path)).toEqual([
    ...parts.endpoints.map(({ path }) => path),
    '/v1/guestbook/{guest}',
  ])
  expect(alarms).toHaveLength(parts.alarms.length + 1)
  // @ts-expect-error: the list has no `parity` that it stands on.
  expect(noParts.with(guestbook).endpoints).toHaveLength(1)
})
