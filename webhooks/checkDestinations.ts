/** Destinations are looked at when the program starts: what they led to may have changed meanwhile. */
import type { Egress } from '#egress/Egress.ts'
import { EgressRefusedError } from '#egress/errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { Sealer } from '#rows/sealing.ts'
import { openTarget, readTargets } from '#rows/webhooks/subscriptions.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'

/** Subscriptions of one statement. */
const PAGE = 200
/** Names resolved at a time. */
const CHECKS_MAX = 8

/**
 * Ids of subscriptions that send, and whose destination leads where this service does not go. Each
 * of their attempts is refused too: their owner is told by its failures.
 */
export async function checkDestinations(
  { app, sealer, egress }: { readonly app: AppDatabase; readonly sealer: Sealer; readonly egress: Egress },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const refused: string[] = []
  for (let after: string | null = ''; after !== null && !signal.aborted; ) {
    const page = await readTargets(app, after, PAGE)
    const checked = await mapAtMost(CHECKS_MAX, page, ({ id, sealed }) =>
      isRefused(egress, openTarget(sealer, id, sealed).url).then((is) => (is ? [id] : [])),
    )
    refused.push(...checked.flat())
    after = page.length === PAGE ? (page.at(-1)?.id ?? null) : null
  }
  return refused
}

/** A name that does not resolve now may resolve at the next attempt. */
async function isRefused(egress: Egress, url: string): Promise<boolean> {
  try {
    await egress.check(url, 'webhook')
    return false
  } catch (error) {
    return error instanceof EgressRefusedError && error.reason !== 'unresolved'
  }
}
