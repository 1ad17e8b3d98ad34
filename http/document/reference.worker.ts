/**
 * Entry of a thread that ends when it has given the reference's files: the package that makes them
 * is loaded nowhere else.
 */
import { parentPort } from 'node:worker_threads'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'
import type { ReferenceFiles } from './reference.ts'

makeFiles()

async function makeFiles(): Promise<void> {
  const app = Fastify()
  // Fonts, telemetry and hosted helpers of the viewer are off: pages of ours call nobody else.
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      // Relative, so that it also works behind a proxy's path prefix.
      url: '../openapi.json',
      pageTitle: 'Millrace API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      // These lead to somebody else's service; a self-hosted page stays at home.
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  const [page, script] = await Promise.all([app.inject('/docs/'), app.inject('/docs/js/scalar.js')])
  const files: ReferenceFiles = { page: page.body, script: new Uint8Array(script.rawPayload) }
  parentPort?.postMessage(files, [files.script.buffer])
  await app.close()
}
