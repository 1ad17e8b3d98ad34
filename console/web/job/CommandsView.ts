/** Ready commands for what needs the payer's account: ending a job, trying again, reviewing. */
import { calledOf, cancelCommand, type ReviewDraft, retryCommand, reviewCommand } from '../../job/commands.ts'
import type { Job } from '../../job/job.ts'
import { choice, field } from '../account/parts.ts'
import { origin } from '../api.ts'
import { element } from '../element.ts'
import { commandBox } from './copying.ts'
import { freshKey } from './freshKey.ts'

const RATINGS = ['5', '4', '3', '2', '1']

export class CommandsView {
  readonly #jobId: string
  /** One retry has one key, however often the page is drawn anew: another key buys again. */
  readonly #retryKey = freshKey()

  constructor(jobId: string) {
    this.#jobId = jobId
  }

  /** Null while there is nothing to do. */
  draw(job: Job): readonly HTMLElement[] | null {
    const { ready, order, runs = [], error } = job
    if (!ready)
      return [
        commandBox(
          'Cancel',
          order
            ? 'Begins nothing more of the job, and pays back what is not spent. For the account that bought it; no money is moved by asking.'
            : 'Possible once its payment has settled; before, the answer is settlement_pending.',
          cancelCommand(origin, this.#jobId),
        ),
      ]
    const isUnfinished =
      runs.some(({ state }) => state !== 'succeeded') && error?.code !== 'job_results_removed'
    const boxes = [
      ...(isUnfinished && order ? [this.#retry(order.charged, order.currency)] : []),
      ...(calledOf(runs).length > 0 ? [this.#review(job)] : []),
    ]
    return boxes.length > 0 ? boxes : null
  }

  #retry(charged: string, currency: string): HTMLElement {
    return commandBox(
      'Try again',
      `Buys what has no output, for its own price and at most ${charged} ${currency}; outputs that are there are carried over. It prints the link of the new job.`,
      retryCommand(origin, this.#jobId, charged, this.#retryKey),
    )
  }

  #review({ runs = [] }: Job): HTMLElement {
    const rating = choice('Rating', RATINGS, '5')
    const comment = field('Comment', { maxlength: 2_000 })
    const host = element('div')
    const draw = () => {
      const review: ReviewDraft = { rating: Number(rating.select.value), comment: comment.input.value }
      host.replaceChildren(
        commandBox(
          'Review',
          'Rates the job and each of its calls, which a reward may be paid for. For the account that bought the job; no money is moved by asking.',
          reviewCommand(origin, this.#jobId, review, runs),
        ),
      )
    }
    rating.select.addEventListener('change', draw)
    comment.input.addEventListener('input', draw)
    draw()
    return element('div', {}, host, element('div', { class: 'row' }, rating.label, comment.label))
  }
}
