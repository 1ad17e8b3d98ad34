/** The API as the program serves it, over a chain that another process writes. */
import { randomBytes } from 'node:crypto'
import { http } from 'viem'
import type { Quotas } from '#api/access/Quotas.ts'
import { fileDefaults } from '#api/access/settings.ts'
import { listAddressActivitiesEndpoint } from '#api/routes/activities.ts'
import { listBlocksEndpoint } from '#api/routes/blocks.ts'
import { readDepthEndpoint } from '#api/routes/exchange/depth.ts'
import { listFeedEventsEndpoint } from '#api/routes/feed/events.ts'
import { listReceiptsEndpoint } from '#api/routes/receipts.ts'
import { listBalancesEndpoint, listHoldersEndpoint } from '#api/routes/tokens/balances.ts'
import { listTokensEndpoint, type TokenServices, tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import { listTokenTransactionsEndpoint } from '#api/routes/tokens/tokenTransactions.ts'
import { listTransactionsEndpoint } from '#api/routes/transactions.ts'
import type { TransferServices } from '#api/routes/transfers.ts'
import { listTransfersEndpoint } from '#api/routes/transfers.ts'
import { createServer, listen } from '#api/server.ts'
import type { Access } from '#http/request/access.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { askOf } from '#money/node.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import { Payments } from '#payments/Payments.ts'
import { RefusedPayments } from '#payments/RefusedPayments.ts'
import { attributionNames } from '#present/memo.ts'
import { hash } from '#primitives.ts'
import { openAccess } from '#program/parts/access/access.ts'
import { openQuotas } from '#program/parts/access/openQuotas.ts'
import { appDatabase } from '#rows/database.ts'
import { openSecrets } from '#rows/secrets.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { sessionsOf } from '#test/payments/support/sessions.ts'
import { ALPHA_USD, accountOf, PATH_USD } from '#test/payments/support/shop.ts'
import { type Serving, serve } from './server.ts'

type SellsOn = NonNullable<Serving['sellsOn']>

serve(async ({ databaseUrl, chainId: number, connectionsMax, isGuarded = false, sellsOn }) => {
  const id = number
  const { clock } = systemRuntime()
  const { signal } = new AbortController()
  const postgres = openPostgres({
    url: databaseUrl,
    applicationName: 'bench',
    connectionsMax,
    log: silentLogger,
  })
  const state = new ChainState({
    chainId: number,
    schema: schemaOf(number),
    startBlock: 0,
    postgres,
    bell: new CommitBell(),
  })
  await state.refresh()
  void state.follow(clock, signal)
  const node = {
    transaction: async () => null,
    receipt: async () => null,
    balances: async () => [],
    newest: async () => hash(`0x${'0'.repeat(64)}`),
    ask: async () => [],
  }
  const declared = { tables: [], activities: [] }
  const chains: TokenServices['chains'] = new Map([
    [id, { chainId: id, kind: 'tempo', postgres, state, node, declared }],
  ])
  const curatedTokens = { changedAtSeconds: 0, of: () => [], find: () => undefined }
  const services: TransferServices & TokenServices = {
    chains,
    clock,
    curatedTokens,
    attributionNames: attributionNames([]),
    tokenNames: tokenNamesOf(chains, curatedTokens),
  }
  const access = isGuarded ? await guard(postgres, clock, sellsOn ?? null, signal) : undefined
  const app = await createServer({
    ...(access && { access }),
    endpoints: [
      listBlocksEndpoint,
      listTransactionsEndpoint,
      listReceiptsEndpoint,
      listTransfersEndpoint,
      listTokensEndpoint,
      listTokenTransactionsEndpoint,
      listAddressActivitiesEndpoint,
      listBalancesEndpoint,
      listHoldersEndpoint,
      readDepthEndpoint,
      listFeedEventsEndpoint,
    ],
    services,
    chains: [id],
    cursorKeys: new CursorKeys([new Uint8Array(32)]),
    clock,
    log: silentLogger,
    shutdown: signal,
    freshness: {
      read: () => ({ indexedBlock: state.tip, finalizedBlock: state.finalized, headBlock: state.tip }),
      waitForBlock: async () => {},
    },
  })
  return listen(app, '127.0.0.1', 0)
})

/** Access as the program opens it, with quotas that nobody meets but by a key's own. */
async function guard(
  postgres: Postgres,
  clock: Clock,
  sellsOn: SellsOn | null,
  signal: AbortSignal,
): Promise<Access> {
  const secrets = await openSecrets(appDatabase(postgres), [])
  const settings = {
    ...fileDefaults,
    quotas: { ...fileDefaults.quotas, organization: 1_000_000_000 },
    mode: 'guarded',
    isOpenToAll: false,
    reason: 'bench',
    corsOrigins: null,
    publicUrl: null,
  } as const
  const quotas = openQuotas({ postgres }, clock)
  const { access, run } = await openAccess({
    ...{ settings, engines: { postgres }, secrets, clock, chains: new Map() },
    ...{ quotas, showsKey: false },
    payments: sellsOn && openPayments(postgres, quotas, clock, sellsOn),
    proofs: null,
  })
  void run(signal)
  return access
}

/** Reads are sold in two currencies. No node is asked for a challenge. */
function openPayments(
  postgres: Postgres,
  quotas: Quotas,
  clock: Clock,
  { rpcUrl, hasSessions }: SellsOn,
): Payments {
  const [app, realm, chainId, key] = [appDatabase(postgres), 'bench.example', 4217, randomBytes(32)]
  const recipient = `0x${'ee'.repeat(20)}` as const
  const transport = http(rpcUrl)
  const currencies = ([PATH_USD, ALPHA_USD] as const).map((address) => ({ address, decimals: 6 }))
  const charges = new TempoChargeMethod({
    ...{ realm, keys: [key], chainId, recipient, currency: PATH_USD, sponsoring: null },
    ...{ currencies: () => currencies, transport, nodes: [askOf(transport)] },
  })
  const sponsor = new Sponsor({ app, chainId, account: accountOf(0), limit: 1_000_000_000n })
  const sessions = hasSessions ? [sessionsOf({ app, rpcUrl, chainId, recipient, sponsor }, key, realm)] : []
  return new Payments({
    ...{ app, realm, methods: [charges, ...sessions], prices: fileDefaults.prices },
    ...{ refused: new RefusedPayments(quotas, clock), clock, log: silentLogger },
  })
}
