/** The job page: a job by its id, as it goes on, and those that this browser opened lately. */
import { type Job, jobIdIn } from '../../job/job.ts'
import { stateOf, stateWord } from '../../job/jobView.ts'
import { type RecentJob, withoutRecent, withRecent } from '../../job/recentJobs.ts'
import { watchJob } from '../../job/watchJob.ts'
import { type LinkFields, toFragment } from '../../model/link.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { field, form } from '../account/parts.ts'
import { origin } from '../api.ts'
import { browserClock } from '../browserClock.ts'
import { spokenTime } from '../catalog/parts.ts'
import { button, element } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { badge } from '../parts/badge.ts'
import { card } from '../parts/card.ts'
import { heldJobs, holdJobs } from './heldJobs.ts'
import { JobView } from './JobView.ts'
import { Part } from './Part.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  const page = new JobPage(host, frame)
  return { show: (fields) => page.show(fields), linked: () => page.linked() }
}

class JobPage {
  readonly #frame: PageFrame
  readonly #id = field('Job id', { id: 'job-id', size: 38, placeholder: 'the id, or the link of a job' })
  readonly #shown = element('div')
  readonly #recent = new Part()
  #jobId: string | null = null
  #watching = new AbortController()

  constructor(host: HTMLElement, frame: PageFrame) {
    this.#frame = frame
    const open = async () => {
      const jobId = jobIdIn(this.#id.input.value)
      if (jobId === null) throw new Error('A job id is a UUID, such as the answer of POST /v1/jobs has.')
      this.#open(jobId)
      this.#frame.writeLink('push')
    }
    host.append(form('Open', open, this.#id.label), this.#shown, this.#recent.host)
    this.#drawRecent()
  }

  show({ job }: LinkFields): void {
    const jobId = jobIdIn(job ?? '')
    if (jobId !== null) this.#open(jobId)
  }

  linked(): LinkFields {
    return this.#jobId === null ? {} : { job: this.#jobId }
  }

  #open(jobId: string): void {
    this.#jobId = jobId
    this.#id.input.value = jobId
    void this.#watch(jobId)
  }

  async #watch(jobId: string): Promise<void> {
    this.#watching.abort()
    this.#watching = new AbortController()
    const { signal } = this.#watching
    const view = new JobView(jobId)
    this.#shown.replaceChildren(view.host)
    let seen: Job | null = null
    try {
      for await (const sight of watchJob(origin, jobId, browserClock, signal)) {
        if (signal.aborted) return
        if (sight.kind === 'waiting') {
          view.tell(`${sight.reason} Trying again in ${Math.ceil(sight.waitMs / 1_000)} s.`)
          continue
        }
        seen = sight.job
        view.show(sight.job, sight.receipt)
        this.#remember(sight.job)
      }
    } catch (error) {
      if (signal.aborted) return
      view.fail(failureText(error, seen), isUnknown(error) ? null : () => void this.#watch(jobId))
    }
  }

  #remember(job: Job): void {
    const { jobId, order } = job
    holdJobs(withRecent(heldJobs(), { jobId, state: stateOf(job), createdAt: order?.createdAt ?? '' }))
    this.#drawRecent()
  }

  #drawRecent(): void {
    const jobs = heldJobs()
    const chainId = this.#frame.chainId()
    this.#recent.draw([jobs, chainId, this.#jobId], () => [
      jobs.length === 0
        ? null
        : card(
            'Opened lately in this browser',
            element('p', { class: 'meaning' }, 'Kept here alone. Whoever has the id of a job may read it.'),
            element('ul', { class: 'recent-jobs' }, ...jobs.map((job) => this.#item(job, chainId))),
          ),
    ])
  }

  #item({ jobId, state, createdAt }: RecentJob, chainId: number | null): HTMLElement {
    const { text, tone } = stateWord(state)
    const href = toFragment({ page: 'job', chainId, fields: { job: jobId } })
    const forget = () => {
      holdJobs(withoutRecent(heldJobs(), jobId))
      this.#drawRecent()
    }
    return element(
      'li',
      {},
      element('a', { href, 'aria-current': jobId === this.#jobId ? 'true' : null }, jobId),
      badge(text, tone),
      element('span', { class: 'meaning' }, createdAt === '' ? '' : spokenTime(createdAt)),
      button('Forget', forget, { class: 'quiet', 'aria-label': `Forget ${jobId}` }),
    )
  }
}

const isUnknown = (error: unknown): boolean => error instanceof RequestFailure && error.status === 404

function failureText(error: unknown, seen: Job | null): string {
  if (!isUnknown(error)) return error instanceof Error ? error.message : 'The job could not be shown.'
  return seen && !seen.order
    ? 'The order came to nothing: its payment did not settle, and nothing was bought.'
    : 'No job has this id.'
}
