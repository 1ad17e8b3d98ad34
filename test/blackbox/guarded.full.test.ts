// Goal: a guarded program keeps the whole contract for who sends a key. Method: the black box with a
// key that the operator made on the command line, against `up` on its dev chain.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  blockIndexed,
  blockProjected,
  freshDataDir,
  get,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  until,
} from '../program/support/millrace.ts'
import { runBlackbox } from './blackbox.ts'

const dataDir = freshDataDir()
const accessFile = join(dataDir.path, 'access.json')
const environment = { DATA_DIR: dataDir.path, ACCESS: 'guarded', ACCESS_FILE: accessFile }
let program: RunningMillrace

beforeAll(async () => {
  writeFileSync(accessFile, JSON.stringify({ quotas: { organization: 1_000_000, address: 1_000_000 } }))
  program = await startMillrace(environment)
  await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  await blockIndexed(program, 40)
  await blockProjected(program, 40)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

test('every operation passes every check', async () => {
  const made = ['keys', 'create', '--scopes', '*', '--quota', '1000000']
  const { stdout, code, stderr } = await runMillrace(made, environment)
  expect(code, stderr).toBe(0)
  const results = await runBlackbox(program.origin, { apiKey: stdout.trim() })
  expect(results.filter(({ failures }) => failures.length > 0)).toEqual([])
  expect(results.filter(({ check }) => check === 'people only').length).toBeGreaterThan(20)
})
