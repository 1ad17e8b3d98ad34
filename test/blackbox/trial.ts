/**
 * One check of one operation: what it expected, what failed, and what could not be shown on this
 * deployment's data.
 */
import type { Deployment } from './deployment.ts'
import type { Samples } from './samples.ts'

export class Trial {
  readonly title: string
  readonly deployment: Deployment
  readonly samples: Samples
  readonly failures: string[] = []
  /** The data that this deployment does not hold. */
  readonly notes: string[] = []
  expectations = 0

  constructor(title: string, deployment: Deployment, samples: Samples) {
    this.title = title
    this.deployment = deployment
    this.samples = samples
  }

  expect(holds: boolean, failure: string): void {
    this.expectations++
    if (!holds && !this.failures.includes(failure)) this.failures.push(failure)
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text)
  }
}
