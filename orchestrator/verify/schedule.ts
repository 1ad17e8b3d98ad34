/** Consequences of a look: whether an endpoint is listed, and when it is looked at next. Pure. */

import type { HealthChange, HeldHealth } from '#rows/catalog/catalogHealth.ts'
import type { Random } from '#runtime/runtime.ts'
import type { ServiceEndpoint } from '../catalog/service.ts'
import type { Sight } from './look.ts'

/** Failures in a row after which search leaves an endpoint out. One success brings it back. */
export const FAILURES_MAX = 7

const HOUR_MS = 3_600_000
/** Between looks at what is well. */
const WELL_MS = 24 * HOUR_MS
/** A seller that is down for a night is delisted, one that is started again is not. */
const FAILING_MS = 2 * HOUR_MS
const DELISTED_MS = 6 * HOUR_MS
/** A suspension lasts at least so long: a seller that delivers nothing may still ask for its price. */
export const SUSPENSION_MS_MIN = HOUR_MS
/** It ends then in any case: many endpoints can be well and verified by no look. */
export const SUSPENSION_MS = 24 * HOUR_MS
/** Looks are spread by this share, so that an import's endpoints are not all due together. */
const SPREAD = 0.25

/** Null for a look that was not possible without an effect. */
export function afterLook(
  held: HeldHealth,
  sight: Sight | null,
  method: ServiceEndpoint['method'],
  random: Random,
): HealthChange {
  return whileSuspended(held, changeOf(held, sight, method, random))
}

type Looked = Omit<HealthChange, 'isFreed'>

function changeOf(
  held: HeldHealth,
  sight: Sight | null,
  method: ServiceEndpoint['method'],
  random: Random,
): Looked {
  const later = (ms: number) => Math.round(ms * (1 - SPREAD / 2 + SPREAD * random()))
  if (!sight) return { state: 'unprobed', failures: 0, nextMs: null, isVerified: false, drift: undefined }
  const { outcome, drift } = sight
  if (outcome === 'failed') {
    const failures = held.failures + 1
    const isDelisted = failures >= FAILURES_MAX
    const nextMs = later(isDelisted ? DELISTED_MS : FAILING_MS)
    return { state: isDelisted ? 'delisted' : 'failing', failures, nextMs, isVerified: false, drift }
  }
  // An endpoint that works without money may do so again: a call that is no GET is not made a second time.
  const isOver = outcome === 'unpaid' && method !== 'GET'
  return {
    state: outcome === 'verified' ? 'verified' : 'answering',
    failures: 0,
    nextMs: isOver ? null : later(WELL_MS),
    isVerified: outcome === 'verified',
    drift,
  }
}

/** The first look after the pause frees what it verifies, and comes as soon as the pause is over. */
function whileSuspended({ suspendedMs }: HeldHealth, change: Looked): HealthChange {
  if (suspendedMs === null) return { ...change, isFreed: false }
  const { nextMs, isVerified } = change
  const leftMs = Math.ceil(SUSPENSION_MS_MIN - suspendedMs)
  if (leftMs <= 0) return { ...change, isFreed: isVerified }
  return { ...change, isFreed: false, nextMs: nextMs === null ? null : Math.min(nextMs, leftMs) }
}
