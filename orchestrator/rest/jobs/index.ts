/** Endpoints of jobs that need no payment. */
import type { Endpoint } from '#http/endpoint.ts'
import { giveReviewEndpoint, type ReviewServices, readReviewEndpoint } from './feedback.ts'
import { type JobReadServices, jobEventsEndpoint, readJobEndpoint } from './readJob.ts'
import { type ReceiptServices, readReceiptEndpoint, receiptKeysEndpoint } from './receipt.ts'

export const jobReadEndpoints: readonly Endpoint<JobReadServices>[] = [readJobEndpoint, jobEventsEndpoint]

export const reviewEndpoints: readonly Endpoint<ReviewServices>[] = [readReviewEndpoint, giveReviewEndpoint]

export const receiptEndpoints: readonly Endpoint<ReceiptServices>[] = [
  readReceiptEndpoint,
  receiptKeysEndpoint,
]
