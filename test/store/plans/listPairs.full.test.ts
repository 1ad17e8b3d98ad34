// Goal: a page reads a handful of rows for each row it gives, whatever is filtered by, however deep
// it is.
// Method: a made chain of 100,000 transfers here, of a million in listPairs.long.test.ts; the
// server's account of each plan.
import { describe } from 'vitest'
import { testPairPlans } from '../support/pairPlans.ts'

describe('rows examined by lists', () => testPairPlans(1_000))
