/** How many queries run at once, and the errors of those that may not. */
import type { SlotErrors, SlotLimits } from '#runtime/Slots.ts'
import { UserQueryError } from './UserQueryError.ts'

/**
 * On two cores: four Postgres or two ClickHouse queries keep both busy; more would only slow the
 * indexer down.
 */
export const postgresSlots: SlotLimits = { running: 4, waiting: 16, waitMs: 5_000 }
export const clickhouseSlots: SlotLimits = { running: 2, waiting: 16, waitMs: 5_000 }

/**
 * Exports take minutes, so that they have slots of their own and none of the others'. Two, so that
 * one caller's leaves the other to everybody else; a wait may last most of what an export that
 * gives nothing may take.
 */
export const exportSlots: SlotLimits = { running: 2, waiting: 8, waitMs: 20_000 }

export const sqlSlotErrors: SlotErrors = {
  busy: (problem) => new UserQueryError('sql_busy', problem, { hint: 'try again in a few seconds' }),
  left: (reason) => new UserQueryError('sql_cancelled', 'the caller went away', { cause: reason }),
}
