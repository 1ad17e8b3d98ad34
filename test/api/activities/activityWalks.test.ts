// Goal: the feed of an account is walked to its end while blocks come, go and are still being loaded.
// Method: the recorded chain in a real store behind a real server.
import { afterAll, describe, expect, onTestFinished } from 'vitest'
import { readRecording } from '../../chain/recordings.ts'
import { recordedRuns } from '../../store/support/chainStore.ts'
import { fullTest, onceTest } from '../../support/breadth.ts'
import { openChainApi, walk } from '../support/chainApi.ts'
import { commonest } from '../support/oracle.ts'
import { ActivityOracle } from './support/activityOracle.ts'

const recording = 'tempo-dev-2k'
const run = recordedRuns(recording)
const idOf = ({ id }: { readonly id: string }) => id

describe('activities of a moving chain', () => {
  onceTest(
    'a walk gives what was final once while blocks come and go, and hears of those that went',
    async () => {
      const oracle = new ActivityOracle(readRecording(recording).slice(0, 81))
      const account = commonest(oracle.transactions.map(({ from }) => from))
      const api = await openChainApi()
      afterAll(() => api.close())
      await api.append(run(0, 99))
      await api.finalize(80)
      let pages = 0
      const reorged: string[] = []
      const rows = await walk(api, `/v1/addresses/${account}/activities?limit=5`, async (page) => {
        const from = page.headers.get('svc-reorged-from')
        if (from) reorged.push(from)
        pages += 1
        if (pages === 1) await api.revertTo(90)
        if (pages === 2) await api.append(run(91, 104))
        if (pages > 2 && pages < 12) await api.append(run(102 + pages, 102 + pages))
      })
      const expected = oracle.feedOf(account).map(idOf)
      const ids: string[] = rows.map(({ id }) => id)
      expect(ids.filter((id) => expected.includes(id))).toEqual(expected)
      expect(reorged).toEqual(['91'])
    },
  )

  fullTest('at the edge of unfinished history the feed waits with a cursor', async () => {
    const oracle = new ActivityOracle(readRecording(recording).slice(0, 100))
    const account = commonest(oracle.transactions.map(({ from }) => from))
    const api = await openChainApi({ headFrom: 60 })
    onTestFinished(() => api.close())
    await api.append(run(60, 99))
    const newer = new Set(oracle.transactions.filter((tx) => tx.blockNumber >= 60).map((tx) => tx.hash))
    const held = oracle.feedOf(account).filter(({ transactionHash }) => newer.has(transactionHash))
    const page = await api.get(`/v1/addresses/${account}/activities?limit=200`)
    expect(page.body.data.map((item: { id: string }) => item.id)).toEqual(held.map(idOf))
    expect(page.headers.get('svc-history')).toBe('from=60')
    const next = await api.get(`/v1/addresses/${account}/activities?limit=200&cursor=${page.body.nextCursor}`)
    expect(next.body.data).toEqual([])
    expect(next.body.nextCursor).not.toBeNull()
  })
})
