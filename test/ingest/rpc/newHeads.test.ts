// Goal: heads announced over WebSocket are heard, and an endpoint without it is left alone.
import { afterEach, expect, test } from 'vitest'
import { parseEndpointUrl } from '#ingest/rpc/client/endpointUrl.ts'
import { NewHeads } from '#ingest/rpc/heads/NewHeads.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { type Announcer, startAnnouncer } from '../support/announcer.ts'
import { startNode } from '../support/proxyNode.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function listen(url: string) {
  const heard: number[] = []
  const heads = new NewHeads({
    url: parseEndpointUrl(url),
    runtime: systemRuntime(),
    log: silentLogger,
    onHead: (number) => heard.push(number),
  })
  closers.push(() => heads.close())
  return { heads, heard }
}

async function announcer(): Promise<Announcer> {
  const server = await startAnnouncer()
  closers.push(() => server.close())
  return server
}

test('announced heads are heard, and the subscription counts as live', async () => {
  const server = await announcer()
  const { heads, heard } = listen(server.url)
  await expect.poll(() => heads.live).toBe(true)
  server.announce(41)
  server.announce(42)
  await expect.poll(() => heard).toEqual([41, 42])
})

test('a cut connection stops counting as live and comes back', async () => {
  const server = await announcer()
  const { heads, heard } = listen(server.url)
  await expect.poll(() => heads.live).toBe(true)
  server.cut()
  await expect.poll(() => heads.live).toBe(false)
  await expect.poll(() => heads.live).toBe(true)
  server.announce(43)
  await expect.poll(() => heard).toEqual([43])
})

test('an endpoint without WebSocket is left alone after two tries', async () => {
  const node = await startNode({ call: () => ({ result: '0x1' }) })
  closers.push(() => node.close())
  const { heads } = listen(node.url)
  await runtimeSleep(1_500)
  expect(heads.live).toBe(false)
})

const runtimeSleep = (ms: number) => systemRuntime().clock.sleep(ms)

test('closing ends the connection', async () => {
  const server = await announcer()
  const { heads } = listen(server.url)
  await expect.poll(() => server.subscribers).toBe(1)
  heads.close()
  await expect.poll(() => server.subscribers).toBe(0)
})
