/** A payer's review of a job: its form, its bounds, and its identity. */
import { createHash } from 'node:crypto'
import { ApiError, type RequestProblem } from '#http/errors.ts'
import * as s from '#http/schema.ts'
import type { NodeReview, Review } from '#rows/jobs/reviews.ts'
import { cleanText } from '../catalog/cleanText.ts'
import { findSensitive, sensitiveMessage } from '../feedback/findSensitive.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'

const COMMENT_CHARACTERS_MAX = 2_000
const TAGS_MAX = 8
/** Nodes of a plan. */
const TOOLS_MAX = 100

const rating = s.integer({ minimum: 1, maximum: 5 })
const comment = s.text({ maxLength: COMMENT_CHARACTERS_MAX })

export const reviewSchema = s.named('Review', {
  rating,
  comment: s.optional(comment),
  tools: s.optional(
    s.array(
      s.named('NodeReview', {
        nodeId: s.text({ minLength: 1, maxLength: 200, description: 'A node of the plan, once.' }),
        rating,
        comment: s.optional(comment),
        tags: s.optional(
          s.array(s.text(s.pattern('^[a-z0-9-]{1,32}$', '1 to 32 lowercase letters, digits and hyphens')), {
            maxItems: TAGS_MAX,
          }),
        ),
      }),
      { maxItems: TOOLS_MAX },
    ),
  ),
})

export type GivenReview = s.Static<typeof reviewSchema>

/**
 * Cleaned as texts of the catalog are.
 * @param place of the review in its request, such as `body`
 * @throws ApiError body_invalid for a node that the plan has not, or that is named twice, and for a comment
 *   with what looks like a secret
 */
export function readReview(given: GivenReview, nodeIds: ReadonlySet<string>, place: string): Review {
  const tools = given.tools ?? []
  const named = tools.map(({ nodeId }) => nodeId)
  const unnamed = named.flatMap((nodeId, index): RequestProblem[] => {
    const path = [place, 'tools', index, 'nodeId']
    if (!nodeIds.has(nodeId)) return [{ path, message: 'no node of the plan has this id' }]
    return named.indexOf(nodeId) < index ? [{ path, message: 'is reviewed already' }] : []
  })
  const problems = [
    ...secretsIn(given.comment, [place, 'comment']),
    ...unnamed,
    ...tools.flatMap(({ comment }, index) => secretsIn(comment, [place, 'tools', index, 'comment'])),
  ]
  const [first] = problems
  if (first)
    throw new ApiError('body_invalid', `Not valid: ${first.path.join('.')}: ${first.message}.`, {
      details: problems,
    })
  return { rating: given.rating, comment: textOf(given.comment), tools: tools.map(nodeReviewOf) }
}

function secretsIn(text: string | undefined, path: RequestProblem['path']): readonly RequestProblem[] {
  const found = findSensitive(text ?? '')
  return found.length > 0 ? [{ path, message: sensitiveMessage(found) }] : []
}

const nodeReviewOf = ({
  nodeId,
  rating,
  comment,
  tags = [],
}: NonNullable<GivenReview['tools']>[number]): NodeReview => ({
  nodeId,
  rating,
  comment: textOf(comment),
  tags: [...new Set(tags)],
})

const textOf = (text: string | undefined): string | null =>
  cleanText(text ?? '', COMMENT_CHARACTERS_MAX) || null

/** SHA-256 of what was said, in whatever order of nodes and tags. */
export function reviewDigest({ tools, ...review }: Review): Buffer {
  const byId = tools.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
  const said = byId.map(({ tags, ...tool }) => ({ ...tool, tags: tags.toSorted() }))
  return createHash('sha256')
    .update(canonicalJson({ ...review, tools: said }))
    .digest()
}
