// Goal: what docs/clients.md tells a stranger to install, make and run buys jobs from an empty folder.
// Method: its commands as they stand; npm takes from its cache what it has, the rest from the registry.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blockIndexed, freshDataDir, get, type RunningMillrace, startMillrace } from '../support/millrace.ts'
import { type InstalledFolder, installPayersFolder } from '../support/recipes.ts'

const dataDir = freshDataDir()
const main = join(import.meta.dirname, '../../../main.ts')
let program: RunningMillrace
let folder: InstalledFolder
beforeAll(async () => {
  program = await startMillrace({ DATA_DIR: dataDir.path })
  await blockIndexed(program, 1)
  const { rpcUrl } = JSON.parse(await millrace('devchain', 'show', '--json'))
  folder = await installPayersFolder(program.origin, { RPC_URL: rpcUrl })
  await millrace('devchain', 'fund', folder.address)
})
afterAll(async () => {
  folder?.remove()
  await program?.stop()
  dataDir.remove()
})

const millrace = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: dataDir.path }
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
  return stdout
}

const bought = /^{"day":{.*} {\n? *committed: '0\.\d+'/

test('the ten lines buy a job', async () => {
  expect(await folder.run('job.mjs')).toMatch(bought)
})

test('so does curl', async () => {
  const { jobId } = JSON.parse(await folder.shell('The same by curl'))
  await expect
    .poll(async () => (await get(`${program.origin}/v1/jobs/${jobId}`)).body)
    .toMatchObject({ status: 'succeeded' })
})

test('and an agent, with the package of its protocol', async () => {
  await folder.install('An agent, by MCP')
  expect(await folder.run('agent.mjs')).toMatch(bought)
})
