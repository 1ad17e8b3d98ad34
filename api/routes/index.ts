/** Every endpoint of the chain data service: the one list behind the server and the OpenAPI document. */
import type { Endpoint } from '../http/endpoint.ts'
import { listAddressActivitiesEndpoint, listTransactionActivitiesEndpoint } from './activities.ts'
import { listBalancesEndpoint, listHoldersEndpoint } from './balances.ts'
import { listBlocksEndpoint, readBlockEndpoint } from './blocks.ts'
import { readConsoleAssetEndpoint, readConsoleEndpoint, readIconEndpoint } from './console.ts'
import { postIndexerQueryEndpoint, queryIndexerEndpoint } from './indexer.ts'
import { type ParityServices, readIndexerDigestEndpoint } from './indexerDigest.ts'
import { explainIndexerQueryEndpoint } from './indexerExplain.ts'
import { readIndexerSchemaEndpoint } from './indexerSchema.ts'
import { type LogoServices, readTokenLogoEndpoint } from './logo.ts'
import {
  listReceiptsEndpoint,
  listTransactionReceiptsEndpoint,
  readReceiptEndpoint,
  readTransactionReceiptEndpoint,
} from './receipts.ts'
import { readStatusEndpoint } from './status.ts'
import { readHealthEndpoint, readMetricsEndpoint, readReadyEndpoint, type SystemServices } from './system.ts'
import { readTokenlistEndpoint } from './tokenlist.ts'
import { listTokensEndpoint, readTokenEndpoint } from './tokens.ts'
import { listTokenTransactionsEndpoint } from './tokenTransactions.ts'
import { listTransactionsEndpoint, readTransactionEndpoint } from './transactions.ts'
import { listTransfersEndpoint, type TransferServices } from './transfers.ts'
import type { IndexerServices } from './userSql.ts'

export { readDocumentExamples } from './documentExamples.ts'

/** What main.ts gives the routes. */
export interface RouteServices
  extends SystemServices,
    TransferServices,
    IndexerServices,
    ParityServices,
    LogoServices {}

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
  readHealthEndpoint,
  readReadyEndpoint,
  readStatusEndpoint,
  readMetricsEndpoint,
]
