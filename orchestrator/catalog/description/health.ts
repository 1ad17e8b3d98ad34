/** How endpoints are, as unpaid probes find them: beside a description, never in its fields. */
import * as s from '#http/schema.ts'
import { membersOf } from '#primitives.ts'
import type { readProbes, StoredHealth, Suspension } from '#rows/catalog/catalogHealth.ts'
import { methodSchema } from '../service.ts'

const differenceSchema = s.optional(s.object({ listed: s.text(), live: s.text() }))

export const healthSchema = s.array(
  s.named('EndpointHealth', {
    method: methodSchema,
    path: s.text(),
    state: s.oneOf(
      ['unknown', 'verified', 'answering', 'failing', 'delisted', 'unprobed', 'suspended'] as const,
      {
        description:
          '`answering`: it is there, and asked for no price that can be read; many sellers check the input first. `delisted`: search leaves it out until it answers again. `unprobed`: no call of it is known to be without effect. `suspended`: jobs paid for calls that were not delivered; it is neither found nor sold.',
      },
    ),
    failures: s.integer({ minimum: 0, description: 'Probes that failed since one did not.' }),
    suspension: s.optional(
      s.object(
        { reason: s.text(), since: s.timestamp, until: s.timestamp },
        { description: 'Until then at the latest: a probe that verifies it after an hour ends it.' },
      ),
    ),
    lastProbedAt: s.optional(s.timestamp),
    lastVerifiedAt: s.optional(s.timestamp),
    drift: s.optional(
      s.object(
        { price: differenceSchema, recipient: differenceSchema },
        { description: 'What its seller asks for, where the catalog lists another.' },
      ),
    ),
    history: s.optional(
      s.array(
        s.object({
          at: s.timestamp,
          outcome: s.oneOf(['verified', 'answered', 'unpaid', 'failed'] as const),
          status: s.optional(s.integer()),
          problem: s.optional(s.text()),
          durationMs: s.count,
          offers: s.array(s.foreign('A price that its seller asked for.')),
        }),
        { description: 'Its last probes, the newest first; of one endpoint alone.' },
      ),
    ),
  }),
  { description: 'How its endpoints are, by unpaid probes.' },
)

export type EndpointHealth = s.Static<typeof healthSchema>[number]

export function presentHealth(
  { method, path, state, failures, suspension, probedAt, verifiedAt, drift }: StoredHealth,
  probes?: Awaited<ReturnType<typeof readProbes>>,
): EndpointHealth {
  return {
    // Written by this program's import and verifier.
    method: method as EndpointHealth['method'],
    path,
    state: suspension ? 'suspended' : state,
    failures,
    ...(suspension && { suspension: presentSuspension(suspension) }),
    ...(probedAt && { lastProbedAt: dateText(probedAt) }),
    ...(verifiedAt && { lastVerifiedAt: dateText(verifiedAt) }),
    ...(drift !== null && { drift: membersOf(drift) }),
    ...(probes && { history: probes.map(presentProbe) }),
  }
}

const presentSuspension = ({ reason, since, until }: Suspension) => ({
  ...{ reason, since: dateText(since), until: dateText(until) },
})

const presentProbe = ({
  at,
  outcome,
  status,
  problem,
  durationMs,
  offers,
}: Awaited<ReturnType<typeof readProbes>>[number]) => ({
  at: dateText(at),
  outcome: outcome as 'verified' | 'answered' | 'unpaid' | 'failed',
  ...(status !== null && { status }),
  ...(problem !== null && { problem }),
  durationMs,
  offers: [...offers],
})

const dateText = (date: Date): string => s.isoSeconds(date.getTime() / 1_000)
