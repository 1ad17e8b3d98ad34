/**
 * Webhooks over a real chain store, as the program opens them: operations over HTTP as the operator,
 * a matcher, a sender, and a receiver on this machine.
 */
import { operator } from '#api/access/callers.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { webhookEndpoints } from '#api/routes/webhooks/index.ts'
import type { EgressOptions } from '#egress/Egress.ts'
import type { Access, Caller } from '#http/request/access.ts'
import { openWayOut } from '#program/parts/wayOut.ts'
import { openWebhooks, type WebhookMode } from '#program/parts/webhooks/openWebhooks.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { sealerOf } from '#rows/sealing.ts'
import { type Runtime, systemRuntime } from '#runtime/runtime.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { ask as fetchAnswer } from '../../api/support/chainApi.ts'
import { startServer } from '../../api/support/toolkitServer.ts'
import { type ChainStore, openChainStore } from '../../store/support/chainStore.ts'
import { namedHolder } from '../../support/namedHolder.ts'

export interface ServiceOptions {
  /** That of another part of the test, which closes it; else one of its own. */
  readonly store?: ChainStore
  readonly mode?: WebhookMode
  readonly egress?: EgressOptions
  readonly runtime?: Partial<Runtime>
  readonly log?: Logger
  /** Default: callers that a test names. */
  readonly access?: (app: AppDatabase) => Access
}

export type Service = Awaited<ReturnType<typeof openService>>

export async function openService(options: ServiceOptions = {}) {
  const store = options.store ?? (await openChainStore({ headFrom: 0, checks: 'links' }))
  const { postgres, schema } = store
  const id = store.chainId
  const state = new ChainState({
    chainId: store.chainId,
    schema,
    startBlock: 0,
    postgres,
    bell: new CommitBell(),
  })
  const app = appDatabase(postgres)
  const defaults = await makeDefaults(app)
  const key = new Uint8Array(32).fill(7)
  const node = { transaction: never, receipt: never, balances: never, ask: never, newest: never }
  const reads = {
    chainId: id,
    kind: 'tempo',
    postgres,
    state,
    node,
    declared: { tables: [], activities: [] },
  } as const
  const { mode = 'loopback' } = options
  const opened = openWebhooks({
    mode,
    postgres,
    sealer: sealerOf([key]),
    chains: new Map([[id, reads]]),
    tokenNames: { read: async () => new Map() },
    holder: namedHolder('test'),
    runtime: { ...systemRuntime(), ...options.runtime },
    log: options.log ?? silentLogger,
    egress: openWayOut({ webhooks: mode }, options.egress).egress,
  })
  const callers = new Map<string, Caller>([['operator', operator(defaults)]])
  const access: Access = options.access?.(app) ?? {
    identify: ({ headers }) =>
      callers.get(String(headers['x-test-caller'] ?? 'operator')) ?? operator(defaults),
    admit: () => ({ kind: 'admitted', headers: {} }),
  }
  const { clock } = systemRuntime()
  const accounts = { app, pepper: key, issuableScopes: selfServeScopes, defaults, clock }
  const services = { accounts, webhooks: opened?.operations ?? null }
  const server = await startServer(webhookEndpoints, services, { chains: [id], access })
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const changed = async () => {
    await state.refresh()
    state.bell.ring()
  }
  const ask = (method: string, path: string, body?: unknown, caller = 'operator') =>
    fetchAnswer(`${server.origin}${path}`, {
      method,
      headers: { 'x-test-caller': caller, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    store,
    state,
    app,
    id,
    defaults,
    callers,
    services,
    server,
    watch: opened?.watch,
    problems: () => opened?.problemsOf(id) ?? [],
    ask,
    /** Makes a subscription; its id and secret. */
    subscribe: async (body: object): Promise<{ id: string; secret: string; activeFromBlock: number }> => {
      const { status, body: made } = await ask('POST', '/v1/webhooks', body)
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(made)}`)
      return made
    },
    start: () => {
      running = opened?.run(stop.signal) ?? Promise.resolve()
    },
    append: async (batches: readonly EncodedBatch[]) => {
      for (const batch of batches) await store.head.append(batch)
      await changed()
    },
    revertTo: async (number: number) => {
      await store.head.revert(await store.head.refAt(number))
      await changed()
    },
    finalize: async (number: number) => {
      await store.head.finalize(number)
      await changed()
    },
    close: async () => {
      stop.abort()
      await running
      await server.app.close()
      if (!options.store) await store.close()
    },
  }
}

const never = async (): Promise<never> => {
  throw new Error('no node is asked')
}
