/** Forks as a Tempo node announces them. Anything may come from an endpoint: the reading is bounded. */

export const forkScheduleMethod = 'tempo_forkSchedule'

/** A fork takes some 80 bytes of an answer, and Tempo has had 16 in a year. */
export const FORK_SCHEDULE_BYTES_MAX = 64 * 1024

/** More is no schedule of a chain, but somebody playing with us. */
const FORKS_MAX = 256

/** Letters, digits and a few signs, so that a name can stand in logs, alarms and answers. */
const forkName = /^[\w.-]{1,32}$/

export interface AnnouncedFork {
  readonly name: string
  /** Unix seconds. */
  readonly activatesAt: number
}

/**
 * The forks of an answer that have a time; null where any part of it is not of the method's shape,
 * because then nothing of it can be relied on. Never throws.
 */
export function readForkSchedule(answer: unknown): readonly AnnouncedFork[] | null {
  const { schedule } = fieldsOf(answer)
  if (!Array.isArray(schedule) || schedule.length > FORKS_MAX) return null
  const forks: AnnouncedFork[] = []
  for (const entry of schedule) {
    const { name, activationTime } = fieldsOf(entry)
    if (typeof name !== 'string' || !forkName.test(name)) return null
    if (activationTime === null || activationTime === undefined) continue
    if (typeof activationTime !== 'number' || !Number.isSafeInteger(activationTime) || activationTime < 0)
      return null
    forks.push({ name, activatesAt: activationTime })
  }
  return forks
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
