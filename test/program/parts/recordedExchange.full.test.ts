// Goal: of a long recording the running program tells the book that the raw logs leave, and a feed
// that an aggregator's check accepts.
// Method: the program on the replayed recording of 30,000 transactions, over HTTP; expectations by
// viem over the raw logs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecording, recordingPath } from '../../chain/recordings.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { bookOf } from '../../store/support/bookOracle.ts'
import { awaitProjections, rowsOf, runFeedCheck } from '../support/exchangeChecks.ts'
import { freshDataDir, get, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const recording = 'tempo-dev-30k'
const lastBlock = 744

describe('the exchange of a long recording', () => {
  const dataDir = freshDataDir()
  let replay: Replay
  let program: RunningMillrace
  beforeAll(async () => {
    replay = await startReplay('--recording', recordingPath(recording), '--shape', 'tempo')
    program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: replay.url })
    await awaitProjections(program, lastBlock)
  })
  afterAll(async () => {
    await program?.stop()
    await replay?.close()
    dataDir.remove()
  })

  test('depth at its end is the sum of the open orders, of a book that has everything a book can have', async () => {
    const book = bookOf(readRecording(recording))
    const open = book.orders.filter((order) => order.open)
    const sides = new Set(open.map(({ isBid }) => isBid))
    const cancelled = book.orders.filter((order) => !order.open && order.remaining > 0n)
    const ownFills = book.fills.filter(({ maker, taker }) => maker === taker)
    expect([sides.size, cancelled.length > 50, ownFills.length > 0, book.flips > 0]).toEqual([
      ...[2, true, true, true],
    ])
    let crossed = 0
    for (const [key, { base }] of book.pairs) {
      const { status, body } = await get(`${program.origin}/v1/exchange/pairs/${base}/depth?levels=200`)
      expect(status).toBe(200)
      const { bids, asks } = Object(body)
      for (const [levels, isBid] of [
        [bids, true],
        [asks, false],
      ] as const) {
        const own = open.filter((order) => order.pair === key && order.isBid === isBid)
        const ticks = [...new Set(own.map(({ tick }) => tick))].sort((a, b) => (isBid ? b - a : a - b))
        expect(levels.map(({ tick, size }: { tick: number; size: string }) => [tick, size])).toEqual(
          ticks
            .slice(0, 200)
            .map((tick) => [
              tick,
              `${own.reduce((sum, order) => (order.tick === tick ? sum + order.remaining : sum), 0n)}`,
            ]),
        )
      }
      if (bids[0] && asks[0] && bids[0].tick >= asks[0].tick) crossed += 1
    }
    expect(crossed).toBeGreaterThan(0)
    const orders = await rowsOf(program.origin, '/v1/exchange/orders?limit=200&sort=time&order=asc')
    expect(orders.map(({ orderId, remaining }) => [orderId, remaining])).toEqual(
      open.map(({ id, remaining }) => [`${id}`, `${remaining}`]),
    )
  })

  test('its feed passes the check of an aggregator', async () => {
    const { code, said } = await runFeedCheck(program.origin)
    expect([code, said]).toEqual([0, expect.stringContaining(': 0 problems')])
    // The replayed node does not tell what genesis gave.
    const { headers } = await fetch(`${program.origin}/feed/4217/pairs?limit=1`)
    expect(headers.get('svc-source')).toBe('node')
  })
})
