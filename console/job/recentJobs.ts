/** Jobs that a browser opened lately, the newest first, as it keeps them: text of JSON. */
import { isObject } from '../model/queryAnswer.ts'
import { jobIdIn } from './job.ts'

export interface RecentJob {
  readonly jobId: string
  /** How it stood when it was last seen; a word of the API. */
  readonly state: string
  /** When it was ordered; empty while its payment had not settled. */
  readonly createdAt: string
}

const JOBS_MAX = 20

/** The kept jobs; anything else there is left out. */
export function readRecent(kept: string | null): readonly RecentJob[] {
  try {
    const items: unknown = JSON.parse(kept ?? '[]')
    return Array.isArray(items) ? items.flatMap(jobOf).slice(0, JOBS_MAX) : []
  } catch {
    return []
  }
}

function jobOf(item: unknown): readonly RecentJob[] {
  if (!isObject(item)) return []
  const text = (name: string) => (typeof item[name] === 'string' ? item[name].slice(0, 40) : '')
  const jobId = jobIdIn(text('jobId'))
  return jobId === null ? [] : [{ jobId, state: text('state'), createdAt: text('createdAt') }]
}

/** With the job at the front, once. */
export const withRecent = (jobs: readonly RecentJob[], job: RecentJob): readonly RecentJob[] =>
  [job, ...jobs.filter(({ jobId }) => jobId !== job.jobId)].slice(0, JOBS_MAX)

export const withoutRecent = (jobs: readonly RecentJob[], jobId: string): readonly RecentJob[] =>
  jobs.filter((job) => job.jobId !== jobId)
