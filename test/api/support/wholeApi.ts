/** Every operation of the program over a real chain store and a catalog with what ships; nothing is sold. */
import { randomBytes } from 'node:crypto'
import { type Access, openAccess } from '#http/request/access.ts'
import { ReceiptKeys } from '#orchestrator/receipt/ReceiptKeys.ts'
import { Receipts } from '#orchestrator/receipt/Receipts.ts'
import { endpoints, type Services } from '#program/parts/openParts.ts'
import { askThrough, chainTools } from '#program/parts/orchestrator/ownEndpoints.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { openDemo } from '../../orchestrator/support/demo.ts'
import { unrewarded } from '../../orchestrator/support/unrewarded.ts'
import type { ChainApi } from './chainApi.ts'
import { deskOver } from './moneyDesk.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

export async function startWholeApi(
  api: ChainApi,
  atEnd: (end: () => Promise<void>) => void,
  access: Access = openAccess,
): Promise<RunningServer> {
  const { catalog, services: demo } = await openDemo(atEnd)
  const { app } = catalog
  const services: Services = {
    ...api.services,
    ...demo,
    ...{ reviews: unrewarded(app), jobsChanged: new CommitBell(), money: deskOver(app) },
    receipts: new Receipts({
      ...{ app, keys: new ReceiptKeys([randomBytes(32)]), origin: 'http://127.0.0.1' },
      proofOf: async () => null,
    }),
    ...{ publicOrigin: null, resultsKeptMs: 86_400_000, version: '1.2.3', chainTools },
    askOwn: askThrough(() => server.app),
  }
  const server: RunningServer = await startServer(endpoints, services, { access, chains: [api.chainId] })
  atEnd(() => server.app.close())
  return server
}
