/** How much the measured quality of an endpoint moves it among those that fit as well. Pure. */
import type { EndpointQuality } from '../catalog/description/quality.ts'

/** Less than any other step of the order: what fits better stays before what delivers better. */
export const PRIOR_MAX = 0.02
/** Calls that every endpoint is taken to have, and the share of them that was delivered. */
const [USUAL_CALLS, USUAL_SHARE] = [5, 0.95]
/** The middle of ratings, and how far the best and the worst are from it. */
const [MIDDLE, SPAN] = [3, 2]
/** Whether calls are delivered counts for more than how they are liked. */
const RATING_SHARE = 0.5

/** From -PRIOR_MAX to PRIOR_MAX; 0 without a paid call. */
export function priorOf({
  paid,
  delivered,
  rating,
}: Pick<EndpointQuality, 'paid' | 'delivered' | 'rating'>): number {
  const share = (delivered + USUAL_CALLS * USUAL_SHARE) / (paid + USUAL_CALLS)
  const delivery = paid === 0 ? 0 : share / USUAL_SHARE - 1
  const liking = rating ? (rating.score - MIDDLE) / SPAN : 0
  return PRIOR_MAX * Math.max(-1, Math.min(1, delivery + RATING_SHARE * liking))
}
