/** The orchestrator's doors over a catalog with what ships, on loopback. */

import { createServer } from '#api/server.ts'
import type { Access } from '#http/request/access.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { jobReadEndpoints, reviewEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { createLogger } from '#telemetry.ts'
import { openDemo } from './demo.ts'
import { unrewarded } from './unrewarded.ts'

const { clock } = systemRuntime()

/** `publicOrigin`: where people reach it; null where nothing says so. */
export async function openDoors(
  atEnd: (end: () => Promise<void>) => void,
  publicOrigin: string | null = null,
) {
  const { catalog, services } = await openDemo(atEnd, publicOrigin ?? undefined)
  /** Another process beside it, on the same rows; uncounted unless access counts. */
  const serve = async (access?: Access) => {
    const app = await createServer({
      endpoints: [...orchestratorEndpoints, ...jobReadEndpoints, ...reviewEndpoints, mcpEndpoint],
      services: {
        ...services,
        reviews: unrewarded(catalog.app),
        jobsChanged: new CommitBell(),
        clock,
        publicOrigin,
        resultsKeptMs: 86_400_000,
        version: '1.2.3',
        chainTools: [],
        askOwn: () => Promise.reject(new Error('no tool of this server asks it')),
      },
      ...(access && { access }),
      chains: [],
      cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
      clock,
      log: createLogger('silent'),
      shutdown: new AbortController().signal,
    })
    atEnd(() => app.close())
    return app
  }
  const app = await serve()
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return { catalog, app, address, serve }
}
