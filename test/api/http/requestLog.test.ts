// Goal: an operator who asks for it has one line for each answered request, without what may be a
// key of its caller; else there is none at `info`.
// Method: two servers whose logs are kept, asked the same.
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '#telemetry.ts'
import { readRow } from '../support/toolkitExamples.ts'
import { startServer } from '../support/toolkitServer.ts'

async function linesOf(logsRequests: boolean): Promise<readonly object[]> {
  const lines: object[] = []
  const log = { ...silentLogger, info: (fields: object, text: string) => lines.push({ ...fields, text }) }
  const { app } = await startServer(
    [readRow],
    { rows: { list: async () => ({ rows: [], next: null }) } },
    { log, logsRequests },
  )
  onTestFinished(() => app.close())
  await app.inject('/v1/rows/7')
  await app.inject('/v1/rows/7?key=svc_live_secret')
  await app.inject({ method: 'POST', url: '/v1/nothing?key=svc_live_secret' })
  return lines
}

test('LOG_REQUESTS=on logs a line a request, by pattern and without its query', async () => {
  const answered = {
    requestId: expect.stringMatching(/^req_/),
    seconds: expect.any(Number),
    text: 'answered',
  }
  const lines = await linesOf(true)
  expect(lines).toEqual([
    { ...answered, method: 'GET', route: '/v1/rows/{number}', status: 200 },
    { ...answered, method: 'GET', route: '/v1/rows/{number}', status: 200 },
    { ...answered, method: 'POST', route: 'unmatched', status: 404 },
  ])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('without it no request is logged at info', async () => {
  expect(await linesOf(false)).toEqual([])
})
