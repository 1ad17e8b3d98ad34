/** Calls of a job by stage: how each stands, its attempts, and what went wrong. */
import type { JobAttempt, JobRun } from '../../job/job.ts'
import { attemptText, bytesText, problemOf, runWord, stagesOf } from '../../job/jobView.ts'
import { element } from '../element.ts'
import { badge } from '../parts/badge.ts'
import { hashButton } from './copying.ts'
import { Part } from './Part.ts'

export class StagesView {
  readonly host = element('div', { class: 'job-stages' })
  readonly #parts = new Map<string, Part>()
  #drawn = ''

  /** Cards keep their places, and the focus in them, while their contents change. */
  draw(runs: readonly JobRun[], currency: string): void {
    const stages = stagesOf(runs)
    const places = JSON.stringify(stages.map((stage) => stage.map(({ nodeId }) => nodeId)))
    if (places !== this.#drawn) this.#place(stages)
    this.#drawn = places
    for (const run of runs)
      this.#parts.get(run.nodeId)?.draw([run, currency], () => [nodeCard(run, currency)])
  }

  #place(stages: readonly (readonly JobRun[])[]): void {
    this.#parts.clear()
    this.host.replaceChildren(
      ...stages.map((stage, index) => {
        const title = stages.length === 1 ? 'Calls' : `Stage ${index + 1}`
        const parts = stage.map(({ nodeId }) => {
          const part = new Part()
          this.#parts.set(nodeId, part)
          return part.host
        })
        return element(
          'section',
          { class: 'job-stage', 'aria-label': title },
          element('h3', {}, title),
          element('div', { class: 'job-nodes' }, ...parts),
        )
      }),
    )
  }
}

function nodeCard(run: JobRun, currency: string): HTMLElement {
  const { nodeId, serviceId, method, path, dependsOn = [], quoted, attempts, outputBytes } = run
  const { text, tone } = runWord(run)
  const problem = problemOf(run)
  return element(
    'article',
    { class: 'job-node', 'aria-label': nodeId },
    element('div', { class: 'node-head' }, element('h4', {}, nodeId), badge(text, tone)),
    element('p', { class: 'meaning' }, serviceId),
    element('p', { class: 'call' }, element('b', {}, method), ' ', path),
    element(
      'p',
      { class: 'meaning' },
      `at most ${quoted} ${currency}`,
      dependsOn.length > 0 ? `, after ${dependsOn.join(', ')}` : null,
    ),
    ...attempts.map((attempt) => attemptLine(attempt, currency)),
    run.nextTryAt === undefined
      ? null
      : element('p', { class: 'meaning' }, `Next try ${clockOf(run.nextTryAt)}`),
    outputBytes === undefined ? null : element('p', {}, `Output: ${bytesText(outputBytes)}`),
    problem === null ? null : element('p', { class: 'problem' }, problem),
  )
}

function attemptLine(attempt: JobAttempt, currency: string): HTMLElement {
  const { paid } = attempt
  const fee = paid?.fee === undefined ? 'fee not known yet' : `fee ${paid.fee}`
  return element(
    'p',
    { class: 'attempt' },
    attemptText(attempt),
    paid ? `; paid ${paid.amount} ${currency}, ${fee} ` : null,
    paid?.transactionHash === undefined ? null : hashButton(paid.transactionHash),
  )
}

const clockOf = (iso: string): string => `${iso.slice(11, 19)} UTC`
