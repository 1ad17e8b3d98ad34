// Goal: the console and the API mean the same by an answer.
// Method: the types are derived from the API's schemas, so that the compiler (npm run types)
// compares each member.
import { expect, expectTypeOf, test } from 'vitest'
import type { IndexerSchema as ServedSchema } from '#api/routes/indexer/indexerSchema.ts'
import type { OperatorPayment, OperatorPayout, OperatorReview } from '#api/routes/operator/lists.ts'
import type { MoneyDays, OperatorMoney } from '#api/routes/operator/money.ts'
import type { StatusReport as ServedStatus } from '#api/routes/service/status.ts'
import type { Job, JobReceipt } from '#console/job/job.ts'
import type * as money from '#console/model/money.ts'
import type * as shown from '#console/model/services.ts'
import type { IndexerSchema, StatusReport } from '#console/model/wire.ts'
import { type Report, renderReport } from '#console/terminal/terminal.ts'
import type { Static } from '#http/schema.ts'
import type { descriptionSchema } from '#orchestrator/catalog/description/description.ts'
import type { jobSchema } from '#orchestrator/job/publicJob.ts'
import type { Quote } from '#orchestrator/quote/quoteResult.ts'
import type { receiptSchema } from '#orchestrator/receipt/receipt.ts'
import type { searchResultSchema } from '#orchestrator/search/searchResult.ts'

test('services, what a search finds and quotes are what the pages show', () => {
  expectTypeOf<Static<typeof searchResultSchema>>().toExtend<shown.SearchResult>()
  expectTypeOf<Static<typeof descriptionSchema>>().toExtend<shown.Description>()
  expectTypeOf<Quote>().toExtend<shown.Quote>()
})

test('money is what its page shows', () => {
  expectTypeOf<OperatorMoney>().toExtend<money.Money>()
  expectTypeOf<MoneyDays>().toExtend<money.MoneyDays>()
  expectTypeOf<OperatorPayment>().toExtend<money.Payment>()
  expectTypeOf<OperatorPayout>().toExtend<money.Payout>()
  expectTypeOf<OperatorReview>().toExtend<money.ListedReview>()
})

test('jobs and receipts are what the page of a job shows', () => {
  expectTypeOf<Static<typeof jobSchema>>().toExtend<Job>()
  expectTypeOf<Static<typeof receiptSchema>>().toExtend<JobReceipt>()
})

test('what /status and the schema of SQL serve is what the browser and the terminal show', () => {
  expectTypeOf<ServedStatus>().toExtend<StatusReport>()
  expectTypeOf<ServedStatus>().toExtend<Report>()
  expectTypeOf<ServedSchema>().toExtend<IndexerSchema>()
  const served: ServedStatus = {
    version: '1',
    ready: true,
    startedAt: '2026-01-01T00:00:00Z',
    degraded: false,
    alarms: [],
    chains: [],
    webhooks: null,
    notes: ['the API is open'],
  }
  expect(renderReport({ report: served, atMs: 0, nowMs: 0 }, null).join('\n')).toContain('the API is open')
})
