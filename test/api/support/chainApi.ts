/**
 * The API over a real chain store: what a test asks over HTTP and, beside it, the store it may
 * change.
 */

import { randomBytes } from 'node:crypto'
import { SignIn } from '#api/access/SignIn.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import { fileDefaults } from '#api/access/settings.ts'
import { LiveHub } from '#api/live/LiveHub.ts'
import { endpoints, type RouteServices, readDocumentExamples } from '#api/routes/index.ts'
import type { StatusReport } from '#api/routes/service/status.ts'
import { LogoCache } from '#api/routes/tokens/LogoCache.ts'
import type { ServerOptions } from '#api/server.ts'
import type { DeclaredContracts, NodeReader, ParityReads } from '#api/services.ts'
import { Egress } from '#egress/Egress.ts'
import { attributionNames } from '#present/memo.ts'
import type { TokenNames } from '#present/tokenNames.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { appDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { compareRange } from '#store/compare/parity.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { type ChainStore, openChainStore, writeAll } from '../../store/support/chainStore.ts'
import { silentNode } from './silentNode.ts'
import { openSqlEngines } from './sqlEngines.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any answer, and says in its expectations what it holds
  readonly body: any
}

export interface ChainApi {
  readonly chainId: number
  readonly store: ChainStore
  readonly state: ChainState
  readonly live: LiveHub
  readonly services: RouteServices
  readonly server: RunningServer
  readonly shutdown: AbortController
  /** Answers of the node the API may ask, by hash; a test fills them. */
  readonly nodeAnswers: Map<string, Readonly<Record<string, unknown>>>
  readonly nodeReceipts: Map<string, Readonly<Record<string, unknown>>>
  get(path: string): Promise<Answer>
  append(batches: readonly EncodedBatch[]): Promise<void>
  revertTo(number: number): Promise<void>
  /** Ends the head lane's segment; the next block is `next`. */
  seal(next: number): Promise<void>
  finalize(number: number): Promise<void>
  /** Writes to ClickHouse what is final. */
  fillClickHouse(): Promise<void>
  close(): Promise<void>
}

export interface ChainApiOptions {
  readonly headFrom?: number
  readonly startBlock?: number
  /** The node behind the API, instead of one whose answers the test fills in. */
  readonly node?: NodeReader
  readonly kind?: 'tempo' | 'evm'
  /** Stands between the API and the engines of SQL. */
  readonly wrapEngine?: (engine: UserQueryEngine) => UserQueryEngine
  readonly declared?: DeclaredContracts
  /** The projections that /status tells; none unless said otherwise. */
  readonly projections?: () => StatusReport['chains'][number]['projections']
  readonly services?: Partial<RouteServices>
  readonly server?: Partial<ServerOptions<RouteServices>>
}

export async function openChainApi(options: ChainApiOptions = {}): Promise<ChainApi> {
  const { headFrom = 0, startBlock = 0 } = options
  const store = await openChainStore({ headFrom, startBlock })
  const { postgres, schema } = store
  const state = new ChainState({
    chainId: store.chainId,
    schema,
    startBlock,
    postgres,
    bell: new CommitBell(),
  })
  const id = store.chainId
  const nodeAnswers = new Map<string, Readonly<Record<string, unknown>>>()
  const nodeReceipts = new Map<string, Readonly<Record<string, unknown>>>()
  const node: NodeReader = options.node ?? {
    ...silentNode,
    transaction: async (hash) => nodeAnswers.get(hash) ?? null,
    receipt: async (hash) => nodeReceipts.get(hash) ?? null,
  }
  const shutdown = new AbortController()
  const { clock } = systemRuntime()
  const { declared = { tables: [], activities: [] } } = options
  const engines = await openSqlEngines(store, declared.tables)
  const { wrapEngine = (engine) => engine } = options
  const sql = { postgres: wrapEngine(engines.postgres), clickhouse: wrapEngine(engines.clickhouse) }
  const chains = new Map([
    [id, { chainId: id, kind: options.kind ?? 'tempo', postgres, state, node, declared }],
  ])
  const live = new LiveHub({ chains, engines: sql, clock, log: silentLogger })
  const services: RouteServices = {
    chains,
    attributionNames: attributionNames([{ realm: 'api.example.com', name: 'Example' }]),
    tokenNames: exampleNames,
    sql,
    live,
    curatedTokens: { changedAtSeconds: 0, of: () => [], find: () => undefined },
    egress: new Egress(),
    logoCache: new LogoCache(clock),
    rpc: new Map(),
    status: statusOf(state, options.projections),
    accounts: {
      app: appDatabase(postgres),
      pepper: randomBytes(32),
      issuableScopes: selfServeScopes,
      defaults: await makeDefaults(appDatabase(postgres)),
      clock,
    },
    signIn: new SignIn({
      settings: {
        ...fileDefaults,
        mode: 'open',
        isOpenToAll: true,
        reason: 'test',
        corsOrigins: null,
        publicUrl: null,
      },
      app: appDatabase(postgres),
      messageKeys: [randomBytes(32)],
      peppers: [randomBytes(32)],
      node: null,
      forget: () => {},
      clock,
    }),
    parity: new Map([[id, parityOf(store)]]),
    webhooks: null,
    clock,
    shutdown: shutdown.signal,
    ...options.services,
  }
  const server = await startServer(endpoints, services, {
    chains: [id],
    shutdown: shutdown.signal,
    readExamples: (signal) => readDocumentExamples(services, signal),
    ...options.server,
  })
  const changed = async () => {
    await state.refresh()
    state.bell.ring()
  }
  return {
    chainId: id,
    live,
    services,
    store,
    state,
    server,
    shutdown,
    nodeAnswers,
    nodeReceipts,
    get: (path) => ask(server.origin + path),
    append: async (batches) => {
      for (const batch of batches) await store.head.append(batch)
      await changed()
    },
    seal: async (next) => {
      await store.head.seal(next)
      await changed()
    },
    revertTo: async (number) => {
      await store.head.revert(await store.head.refAt(number))
      await changed()
    },
    finalize: async (number) => {
      await store.head.finalize(number)
      await changed()
    },
    fillClickHouse: async () => {
      await writeAll(store)
      await changed()
    },
    close: async () => {
      shutdown.abort()
      await server.app.close()
      await sql.postgres.close()
      await sql.clickhouse.close()
      await store.close()
    },
  }
}

/** Names one token, so that an answer shows both: a token with a name and tokens without. */
export const namedToken = '0x20c0000000000000000000000000000000000000'
const exampleName = {
  name: 'pathUSD',
  symbol: 'pathUSD',
  currency: 'USD',
  decimals: 6,
  logoUri: 'https://example.com/logo.svg',
  verified: true,
}
const exampleNames: TokenNames = {
  read: async (_chainId, tokens) =>
    new Map(tokens.filter((token) => token === namedToken).map((token) => [token, exampleName])),
}

export async function ask(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** Every row of a list, page after page until the cursor ends; `between` runs after each page. */
export async function walk(
  api: ChainApi,
  path: string,
  between: (page: Answer) => Promise<void> = async () => {},
  // biome-ignore lint/suspicious/noExplicitAny: rows of any list
): Promise<any[]> {
  const rows: unknown[] = []
  const url = new URL(path, api.server.origin)
  for (let pages = 0; pages < 2_000; pages++) {
    const page = await api.get(url.pathname + url.search)
    if (page.status !== 200) throw new Error(`${page.status}: ${JSON.stringify(page.body)}`)
    rows.push(...page.body.data)
    await between(page)
    if (page.body.nextCursor === null) return rows
    url.searchParams.set('cursor', page.body.nextCursor)
  }
  throw new Error(`${path} does not end`)
}

function parityOf({ postgres, clickhouse, schema, database }: ChainStore): ParityReads {
  const stores = { postgres, clickhouse, schema, database }
  const status = { state: 'waiting', comparedBlocks: 0, rounds: 0, problem: null } as const
  return { status, compare: (range) => compareRange(stores, range) }
}

function statusOf(
  state: ChainState,
  projections: ChainApiOptions['projections'] = () => [],
): RouteServices['status'] {
  const { clock } = systemRuntime()
  return {
    ready: async (scope) =>
      state.tip >= 0 ? { ready: true } : { ready: false, reason: `nothing is held (${scope})` },
    waitForBlock: (block, _chain, signal) => state.waitForBlock(block, clock, signal),
    status: () => reportOf(state, projections()),
  }
}

function reportOf(
  state: ChainState,
  projections: StatusReport['chains'][number]['projections'],
): StatusReport {
  const ranges = (store: 'postgres' | 'clickhouse') =>
    state.coverage(store).map(({ from, to }) => ({ from, to }))
  const store = (name: 'postgres' | 'clickhouse') => ({
    tip: ranges(name).at(-1)?.to ?? null,
    state: 'running',
    problem: null,
    coverage: ranges(name),
  })
  return {
    version: '0.0.0',
    ready: state.tip >= 0,
    startedAt: '2026-01-01T00:00:00Z',
    webhooks: null,
    notes: [],
    degraded: false,
    alarms: [],
    chains: [
      {
        chainId: state.chainId,
        kind: 'tempo',
        role: 'writer',
        isLocal: false,
        startBlock: state.startBlock,
        head: state.tip,
        finalized: state.finalized < 0 ? null : state.finalized,
        finality: {
          ...{ rule: state.finality, height: state.finalized < 0 ? null : state.finalized },
          ...{
            certificateHeight: null,
            epoch: null,
            identity: null,
            lastCheckedMs: null,
            endpointsServing: 0,
            statedKey: null,
            lastRefused: null,
          },
        },
        lagBlocks: 0,
        coverage: ranges('postgres'),
        stores: { postgres: store('postgres'), clickhouse: store('clickhouse') },
        lanes: [{ name: 'head', state: 'running', problem: null }],
        projections,
        relay: { isApart: false, endpoints: [] },
        endpoints: [],
        history: null,
        parity: { state: 'waiting', comparedBlocks: 0, rounds: 0, problem: null },
        forks: [],
        verification: {
          checks: 'roots',
          headerRule: 'ethereum',
          unproved: [],
          provisional: [],
          provedBlocks: 0,
          unprovableBlocks: 0,
          unprovableTxs: 0,
          foreignReceipts: 0,
          audit: null,
        },
      },
    ],
  }
}
