/** The program's resources as the console reads them; page and server are of one version. */
import { readResource } from '../model/indexerClient.ts'
import type { Engine } from '../model/queryAnswer.ts'
import type { StatusReport } from '../model/wire.ts'

/**
 * What the API's paths are relative to: the page's own folder, so that a proxy may put the program
 * under a prefix.
 */
export const origin = document.baseURI

export interface RelationColumn {
  readonly name: string
  readonly type: string
  readonly comment: string
}

export interface Relation {
  readonly name: string
  readonly comment: string
  readonly sample: string
  readonly columns: readonly RelationColumn[]
}

export interface Example {
  readonly title: string
  readonly sql: string
}

/** GET /v1/indexer/schema. */
export interface IndexerSchema {
  readonly engine: Engine
  readonly relations: readonly Relation[]
  readonly functions: readonly string[]
  readonly examples: readonly Example[]
}

/** @throws RequestFailure */
export const readSchema = async (engine: Engine, signal: AbortSignal): Promise<IndexerSchema> =>
  (await readResource(origin, `v1/indexer/schema?engine=${engine}`, signal)) as unknown as IndexerSchema

/** @throws RequestFailure */
export const readStatus = async (signal: AbortSignal): Promise<StatusReport> =>
  (await readResource(origin, 'status', signal)) as unknown as StatusReport
