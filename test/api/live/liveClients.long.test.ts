// Goal: as many clients of live queries as the bound says are served, and who comes beyond is told
// why, while those inside go on. Method: that many connections to the real server, and a block.
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS_MAX } from '#api/live/LiveHub.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

/** More at once would fill the queue of connections that are not accepted yet. */
const OPENED_TOGETHER = 100

describe('clients of live queries', () => {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const [history = [], next = []] = [0, 1].map((part) => {
    const batches = recordedBatches('tempo-dev-2k', 10)
    return part === 0 ? batches.slice(0, 3) : batches.slice(3, 4)
  })
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(history)
  })
  afterAll(async () => {
    agent.destroy()
    await api?.close()
  })

  async function open(): Promise<IncomingMessage> {
    const url = `${api.server.origin}/v1/indexer/query?live=true&sql=${encodeURIComponent('SELECT num FROM blocks')}`
    const [response]: IncomingMessage[] = await once(get(url, { agent }), 'response')
    if (!response) throw new Error('no response')
    return response.setEncoding('utf8')
  }

  test('so many are served and the next is refused; all inside get the next block', async () => {
    const streams: IncomingMessage[] = []
    while (streams.length < CLIENTS_MAX)
      streams.push(...(await Promise.all(Array.from({ length: OPENED_TOGETHER }, () => open()))))
    expect(new Set(streams.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(api.live.size).toEqual({ queries: 1, clients: CLIENTS_MAX })

    const refused = await open()
    const [text] = await once(refused, 'data')
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(text)).toMatchObject({
      ok: false,
      error: { code: 'overloaded', message: expect.stringContaining('too many clients of live queries') },
    })

    let told = 0
    const all = streams.map(
      (stream) =>
        new Promise<void>((resolve) =>
          stream.on('data', (frame: string) => {
            if (!frame.includes('event: result')) return
            told++
            resolve()
          }),
        ),
    )
    await api.append(next)
    await Promise.all(all)
    expect(told).toBeGreaterThanOrEqual(CLIENTS_MAX)
    expect(api.live.size.clients).toBe(CLIENTS_MAX)

    streams[0]?.destroy()
    await expect.poll(() => api.live.size.clients).toBe(CLIENTS_MAX - 1)
    expect((await open()).statusCode).toBe(200)
  })
})
