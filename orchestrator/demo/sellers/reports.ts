/** Writes a report in the background: the answer comes later, by asking for it. */
import { randomUUID } from 'node:crypto'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import { ok, type Seller, textOrEmpty } from '../seller.ts'

/** Times a report is asked for before it is done. */
const POLLS_UNTIL_DONE = 2
/** Reports held; the oldest go. */
const REPORTS_MAX = 1_000

interface Report {
  readonly title: string
  readonly facts: unknown
  polls: number
}

const held = new BoundedMap<string, Report>({ max: REPORTS_MAX })

function begin(title: string, facts: unknown): string {
  const id = randomUUID()
  held.set(id, { title, facts, polls: 0 })
  return id
}

export const reports: Seller = {
  id: 'demo-reports',
  name: 'Demo Reports',
  description: 'Reports made of facts, written in the background. Runs on this machine.',
  categories: ['text'],
  endpoints: [
    {
      method: 'POST',
      path: '/reports',
      listing: {
        description: 'Begins a report with a title and facts; it is ready after a while.',
        aliases: ['generate report', 'write report'],
        capabilities: ['report generation'],
        examples: ['make a report of these results'],
        inputSchema: {
          type: 'object',
          properties: { title: { type: 'string', minLength: 1, maxLength: 200 }, facts: {} },
          required: ['title'],
          additionalProperties: false,
        },
        inputExample: { title: 'Daylight', facts: [{ city: 'Paris' }] },
        completion: {
          method: 'GET',
          path: '/reports/:id',
          idPointer: '/id',
          statusPointer: '/status',
          successStatuses: ['done'],
          failureStatuses: ['failed'],
          maxAttempts: 20,
          pollIntervalSeconds: 1,
        },
      },
      price: { kind: 'charge', amount: '0.05' },
      problemOf: ({ title }) => (textOrEmpty(title) === '' ? '`title` is missing' : null),
      answer: ({ title, facts }) => ({
        status: 202,
        body: { id: begin(textOrEmpty(title), facts ?? null), status: 'pending' },
      }),
    },
    {
      method: 'GET',
      path: '/reports/:id',
      listing: { description: 'A report that was begun: pending or done.' },
      price: null,
      answer: (_input, { id = '' }) => {
        const report = held.get(id)
        if (!report) return { status: 404, body: { error: 'no such report' } }
        report.polls += 1
        if (report.polls < POLLS_UNTIL_DONE) return ok({ id, status: 'pending' })
        return ok({ id, status: 'done', report: `# ${report.title}\n\n${JSON.stringify(report.facts)}` })
      },
    },
  ],
}
