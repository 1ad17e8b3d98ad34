/**
 * Serves the run's one Postgres and one ClickHouse to the test files. They start when the first
 * test asks, so that a run of pure tests does not wait for them, and end with the run.
 */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'

import { messageOf } from '#errors.ts'
import { type EngineAddresses, type Engines, startEngines } from './engineHosts.ts'
import { makeMigratedTemplate } from './migratedTemplate.ts'

let engines: Promise<Engines> | undefined
let template: Promise<void> | undefined
let databases = 0

const server = createServer((request, response) => {
  databases += 1
  const number = databases
  const asked = request.url === '/migrated' ? enginesWithTemplate() : startedEngines()
  asked.then(
    (addresses) => response.end(JSON.stringify({ ...addresses, number })),
    (error: unknown) => response.writeHead(500).end(messageOf(error)),
  )
})

async function startedEngines(): Promise<EngineAddresses> {
  engines ??= startEngines()
  return (await engines).addresses
}

async function enginesWithTemplate(): Promise<EngineAddresses> {
  const addresses = await startedEngines()
  template ??= makeMigratedTemplate(addresses.databaseAdminUrl)
  await template
  return addresses
}

/** Called by vitest before the first test file. */
export async function setup(project: TestProject): Promise<void> {
  boundCompiled()
  project.provide('enginesUrl', `http://127.0.0.1:${await listen(server)}`)
}

/** Called by vitest after the last test file. */
export async function teardown(): Promise<void> {
  server.close()
  server.closeAllConnections()
  const started = await engines?.catch(() => undefined)
  await started?.stop()
}

/** Each run names its test files anew, and Node keeps what it compiled of every name. */
const COMPILED_MAX = 40_000

function boundCompiled(folder = process.env['NODE_COMPILE_CACHE']): void {
  if (folder === undefined || !existsSync(folder)) return
  if (readdirSync(folder, { recursive: true }).length > COMPILED_MAX)
    rmSync(folder, { recursive: true, force: true })
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve(port)
    })
  })
}

declare module 'vitest' {
  interface ProvidedContext {
    enginesUrl: string
  }
}
