/** An importer's reading of a source's document. */
import type { RequestProblem } from '#http/errors.ts'

/** A service of a document, not yet checked; `place` is where it stands there. */
export interface ServiceDraft {
  readonly externalId: string
  readonly place: RequestProblem['path']
  readonly service: unknown
}

export interface Importer {
  /** For people: `the mpp directory`. */
  readonly name: string
  readonly accepts: (document: unknown) => boolean
  /** `location` is where the document came from: a URL, or a file's name. */
  readonly read: (document: unknown, location: string) => readonly ServiceDraft[]
}

/** An id made of a host: `api.example.com` is `api-example-com`. */
export const idOfHost = (host: string): string =>
  host
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80)
