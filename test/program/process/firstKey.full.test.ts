// Goal: the first start on a database shows its key once, on the terminal, and never where it would
// be kept: no second start shows it, nor one without a terminal (issue 16). Method: the program on a
// terminal of its own, twice on one folder, and once without.
import { afterAll, expect, test } from 'vitest'
import { freshDataDir, get, startMillrace, startOnTerminal } from '../support/millrace.ts'

const folders = [freshDataDir(), freshDataDir()]
afterAll(() => {
  for (const folder of folders) folder.remove()
})
const [shown, silent] = folders
/** A key in a text. */
const tokens = /svc_(live|test)_\w{20,}/

test.runIf(process.platform === 'linux')('the first key is shown once, on the terminal', async () => {
  const env = { DATA_DIR: shown?.path ?? '', LOG_LEVEL: 'debug' }
  const first = await startOnTerminal(env)
  const said = () => first.stdout()
  await expect.poll(said).toContain('shown this once')
  const [, token = ''] = /shown this once: (\S+)/.exec(said()) ?? []
  const { status } = await get(`${first.origin}/v1/blocks?key=${token}`)
  expect(status).toBe(200)
  await first.stop()
  expect(said().split(token)).toHaveLength(2)
  const second = await startOnTerminal(env)
  await get(`${second.origin}/health`)
  await second.stop()
  expect(second.stdout()).not.toContain('shown this once')
  expect(second.stdout()).not.toContain(token)
})

test('a start without a terminal shows and logs none', async () => {
  const program = await startMillrace({ DATA_DIR: silent?.path ?? '', LOG_LEVEL: 'debug' })
  await get(`${program.origin}/v1/blocks`)
  const { stdout, stderr } = await program.stop()
  expect(stdout + stderr).not.toContain('shown this once')
  expect(stdout + stderr).not.toMatch(tokens)
})
