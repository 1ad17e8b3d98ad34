/** The jobs that this browser opened lately, in its own storage; where it keeps none, they are none. */
import { type RecentJob, readRecent } from '../../job/recentJobs.ts'

const NAME = 'jobs'

export function heldJobs(): readonly RecentJob[] {
  try {
    return readRecent(localStorage.getItem(NAME))
  } catch {
    return []
  }
}

export function holdJobs(jobs: readonly RecentJob[]): void {
  try {
    if (jobs.length === 0) localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, JSON.stringify(jobs))
  } catch {
    // The browser keeps nothing for pages, as in some private windows.
  }
}
