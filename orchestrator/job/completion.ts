/** Services that work on after their answer: what they are asked by, and what they say. */
import type { ServiceEndpoint } from '../catalog/service.ts'
import { valueAt } from '../plan/resolveInput.ts'

export type Completion = NonNullable<ServiceEndpoint['completion']>

export type Progress = 'done' | 'failed' | 'pending'

/** A status that is in neither list is one on the way. */
export function progressOf(
  { statusPointer, successStatuses, failureStatuses }: Completion,
  answer: unknown,
): Progress {
  const status = valueAt(answer, statusPointer)
  const told = typeof status === 'string' ? status : JSON.stringify(status ?? null)
  if (successStatuses.includes(told)) return 'done'
  return failureStatuses.includes(told) ? 'failed' : 'pending'
}

/** Longer ids are none. */
const ID_CHARACTERS_MAX = 500

/**
 * The path that asks for the work that an answer began: its id is one segment, whatever it holds.
 * Null where the answer names none.
 */
export function pollPathOf({ path, idPointer }: Completion, answer: unknown): string | null {
  const id = valueAt(answer, idPointer)
  const text = typeof id === 'number' ? String(id) : id
  if (typeof text !== 'string' || text === '' || text.length > ID_CHARACTERS_MAX) return null
  const isSegment = !/[/\\\p{Cc}\p{Cf}\p{Cs}]|^\.\.?$|%/u.test(text)
  return isSegment ? path.replace(/:[A-Za-z_]\w*|\{[A-Za-z_][\w.-]*\}/, () => encodeURIComponent(text)) : null
}
