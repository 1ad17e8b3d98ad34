/**
 * Every endpoint of the chain data service: the one list behind the server and the OpenAPI
 * document.
 */
import type { Endpoint } from '#http/endpoint.ts'
import { listAddressActivitiesEndpoint, listTransactionActivitiesEndpoint } from './activities.ts'
import { type AuthServices, authEndpoints } from './auth/siwe.ts'
import { listBlocksEndpoint, readBlockEndpoint } from './blocks.ts'
import { readCandlesEndpoint } from './exchange/candles.ts'
import { readDepthEndpoint } from './exchange/depth.ts'
import { listOrderFillsEndpoint, listOrdersEndpoint, readOrderEndpoint } from './exchange/orders.ts'
import { listPairsEndpoint, readPairEndpoint } from './exchange/pairs.ts'
import { listSwapsEndpoint } from './exchange/swaps.ts'
import { listFeeMintsEndpoint, listFeePoolsEndpoint } from './feeAmm.ts'
import { readFeedAssetEndpoint } from './feed/assets.ts'
import { listFeedEventsEndpoint, readLatestFeedBlockEndpoint } from './feed/events.ts'
import { listFeedPairsEndpoint, readFeedPairEndpoint } from './feed/pairs.ts'
import { postIndexerQueryEndpoint, queryIndexerEndpoint } from './indexer/indexer.ts'
import { type ParityServices, readIndexerDigestEndpoint } from './indexer/indexerDigest.ts'
import { explainIndexerQueryEndpoint } from './indexer/indexerExplain.ts'
import { readIndexerSchemaEndpoint } from './indexer/indexerSchema.ts'
import type { IndexerServices } from './indexer/userSql.ts'
import type { AccountServices } from './orgs/accounts.ts'
import { orgEndpoints } from './orgs/index.ts'
import {
  listReceiptsEndpoint,
  listTransactionReceiptsEndpoint,
  readReceiptEndpoint,
  readTransactionReceiptEndpoint,
} from './receipts.ts'
import { postChainRpcEndpoint, postRpcEndpoint, type RpcServices } from './rpc.ts'
import { readConsoleAssetEndpoint, readConsoleEndpoint, readIconEndpoint } from './service/console.ts'
import { readStatusEndpoint } from './service/status.ts'
import {
  readHealthEndpoint,
  readMetricsEndpoint,
  readReadyEndpoint,
  type SystemServices,
} from './service/system.ts'
import { listBalancesEndpoint, listHoldersEndpoint } from './tokens/balances.ts'
import { type LogoServices, readTokenLogoEndpoint } from './tokens/logo.ts'
import { readTokenlistEndpoint } from './tokens/tokenlist.ts'
import { listTokensEndpoint, readTokenEndpoint } from './tokens/tokens.ts'
import { listTokenTransactionsEndpoint } from './tokens/tokenTransactions.ts'
import { listTransactionsEndpoint, readTransactionEndpoint } from './transactions.ts'
import { listTransfersEndpoint, type TransferServices } from './transfers.ts'
import type { WebhookServices } from './webhooks/access.ts'
import { webhookEndpoints } from './webhooks/index.ts'

export { operatorEndpoints } from './operator/index.ts'
export { readDocumentExamples } from './service/documentExamples.ts'

/** Services that the program gives the routes. */
export interface RouteServices
  extends SystemServices,
    TransferServices,
    IndexerServices,
    ParityServices,
    LogoServices,
    RpcServices,
    AccountServices,
    AuthServices,
    WebhookServices {}

export const endpoints: readonly Endpoint<RouteServices>[] = [
  listBlocksEndpoint,
  readBlockEndpoint,
  listTransactionsEndpoint,
  readTransactionEndpoint,
  listTransactionReceiptsEndpoint,
  readTransactionReceiptEndpoint,
  listReceiptsEndpoint,
  readReceiptEndpoint,
  listTransfersEndpoint,
  listPairsEndpoint,
  readPairEndpoint,
  readCandlesEndpoint,
  readDepthEndpoint,
  listOrdersEndpoint,
  readOrderEndpoint,
  listOrderFillsEndpoint,
  listSwapsEndpoint,
  listFeePoolsEndpoint,
  listFeeMintsEndpoint,
  readLatestFeedBlockEndpoint,
  listFeedEventsEndpoint,
  listFeedPairsEndpoint,
  readFeedPairEndpoint,
  readFeedAssetEndpoint,
  queryIndexerEndpoint,
  postIndexerQueryEndpoint,
  explainIndexerQueryEndpoint,
  readIndexerDigestEndpoint,
  listTokensEndpoint,
  readTokenEndpoint,
  readTokenLogoEndpoint,
  readTokenlistEndpoint,
  listHoldersEndpoint,
  listBalancesEndpoint,
  readIndexerSchemaEndpoint,
  readConsoleEndpoint,
  readIconEndpoint,
  readConsoleAssetEndpoint,
  listTokenTransactionsEndpoint,
  listAddressActivitiesEndpoint,
  listTransactionActivitiesEndpoint,
  postChainRpcEndpoint,
  postRpcEndpoint,
  readHealthEndpoint,
  readReadyEndpoint,
  readStatusEndpoint,
  readMetricsEndpoint,
  ...authEndpoints,
  ...orgEndpoints,
  ...webhookEndpoints,
]
