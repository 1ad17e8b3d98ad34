/** The program's resources as the console reads them; page and server are of one version. */
import { readResource } from '../model/indexerClient.ts'
import type { Engine } from '../model/queryAnswer.ts'
import type { IndexerSchema, StatusReport } from '../model/wire.ts'

/**
 * What the API's paths are relative to: the page's own folder, so that a proxy may put the program
 * under a prefix.
 */
export const origin = document.baseURI

/** @throws RequestFailure */
export const readSchema = (engine: Engine, signal: AbortSignal): Promise<IndexerSchema> =>
  readResource(origin, `v1/indexer/schema?engine=${engine}`, signal)

/** @throws RequestFailure */
export const readStatus = (signal: AbortSignal): Promise<StatusReport> =>
  readResource(origin, 'status', signal)
