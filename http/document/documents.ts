/** GET /openapi.json, from the endpoint values. */

import type { Endpoint } from '../endpoint.ts'
import { rawEndpoint } from '../rawEndpoint.ts'
import { documents } from '../request/access.ts'
import * as s from '../schema.ts'
import type { OffersOf } from './offers.ts'
import { type OutgoingPost, openapiDocument } from './openapi.ts'

/** Values of path parameters, by name, that a request finds something with. */
export type DocumentExamples = Readonly<Record<string, string>>

/**
 * The source of the examples; they are asked for until there are some, and then stay: the document keeps
 * its ETag.
 */
export type ReadExamples = (signal: AbortSignal) => Promise<DocumentExamples>

/** The document's own endpoint; it lists itself too. */
export function documentEndpoint(
  endpoints: readonly Endpoint<never>[],
  chains: readonly number[],
  readExamples: ReadExamples,
  posts: Readonly<Record<string, OutgoingPost>>,
  offersOf?: OffersOf,
): Endpoint<unknown> {
  const itself: Endpoint<unknown> = rawEndpoint({
    path: '/openapi.json',
    summary: 'This document.',
    tag: 'System',
    access: documents,
    produces: { 'application/json': s.foreign('An OpenAPI 3.1 document.') },
    answer: async ({ signal }) => {
      if (!hasExamples) await addExamples(signal)
      return { kind: 'bytes', contentType: 'application/json; charset=utf-8', body: text, cache: 'curated' }
    },
  })
  const textWith = (examples: DocumentExamples) =>
    JSON.stringify(openapiDocument([...endpoints, itself], chains, examples, posts, offersOf))
  let text = textWith({})
  let hasExamples = false
  const addExamples = async (signal: AbortSignal) => {
    const examples = await readExamples(signal).catch((): DocumentExamples => {
      // The reference opens while a store is down too; the next request asks again.
      return {}
    })
    hasExamples = Object.keys(examples).length > 0
    if (hasExamples) text = textWith(examples)
  }
  return itself
}
