/** The program's resources as the console reads them; page and server are of one version. */
import type { Engine } from '#primitives.ts'
import { readResource } from '../model/indexerClient.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import type { IndexerSchema, StatusReport } from '../model/wire.ts'

/** The base of the API's paths: the page's own folder, so that a proxy may put the program under a prefix. */
export const origin = document.baseURI

/** With a table for each of the signatures. @throws RequestFailure */
export function readSchema(
  engine: Engine,
  signatures: readonly string[],
  signal: AbortSignal,
): Promise<IndexerSchema> {
  const asked = new URLSearchParams([
    ['engine', engine],
    ...signatures.map((signature) => ['signature', signature]),
  ])
  return readResource(origin, `v1/indexer/schema?${asked}`, signal)
}

/** The status, with the key of the page's queries, or one given here to be tried. @throws RequestFailure */
export const readStatus = (signal: AbortSignal, key: string | null = null): Promise<StatusReport> =>
  readResource(origin, 'status', signal, key === null ? {} : { 'svc-api-key': key })

/** Unix milliseconds of the newest block that an answer saw; null where it is not told. */
export async function readNewestBlockMs(
  { horizon }: QueryAnswer,
  chainId: number | null,
): Promise<number | null> {
  if (!horizon) return null
  const path = `v1/blocks/${horizon.to}${chainId === null ? '' : `?chainId=${chainId}`}`
  const read = readResource<{ readonly timestamp: string }>(origin, path, new AbortController().signal)
  return read.then(
    ({ timestamp }) => Date.parse(timestamp),
    () => null,
  )
}
