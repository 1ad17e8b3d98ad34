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
import { TempoCharges } from '#payments/methods/charge/TempoCharges.ts'
import { Payments } from '#payments/Payments.ts'
import { RefusedPayments } from '#payments/RefusedPayments.ts'
import { attributionNames } from '#present/memo.ts'
import { hash } from '#primitives.ts'
import { openAccess } from '#program/parts/access/access.ts'
import { openQuotas } from '#program/parts/access/openQuotas.ts'
import { appDatabase } from '#rows/database.ts'
import { openSecrets } from '#rows/secrets.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { ChainState } from '#store/ledger/chainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { serve } from './server.ts'

serve(async ({ databaseUrl, chainId: number, connectionsMax, isGuarded = false, isSelling = false }) => {
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
  const access = isGuarded ? await guard(postgres, clock, isSelling, signal) : undefined
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
  isSelling: boolean,
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
    payments: isSelling ? openPayments(postgres, quotas, clock) : null,
  })
  void run(signal)
  return access
}

/** Reads are sold in two currencies. No node is asked for a challenge. */
function openPayments(postgres: Postgres, quotas: Quotas, clock: Clock): Payments {
  const realm = 'bench.example'
  const currencies = (['0', '1'] as const).map((last) => ({
    address: `0x20c${'0'.repeat(36)}${last}` as const,
    decimals: 6,
  }))
  const [{ address: currency } = { address: '0x' as const }] = currencies
  const charges = new TempoCharges({
    sponsoring: null,
    ...{ realm, keys: [randomBytes(32)], chainId: 4217, recipient: `0x${'ee'.repeat(20)}`, currency },
    ...{ currencies: () => currencies, transport: http('http://127.0.0.1:9'), nodes: [] },
  })
  const { prices } = fileDefaults
  return new Payments({
    app: appDatabase(postgres),
    realm,
    methods: [charges],
    prices,
    refused: new RefusedPayments(quotas, clock),
    clock,
    log: silentLogger,
  })
}
