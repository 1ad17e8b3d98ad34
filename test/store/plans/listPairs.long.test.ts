// Goal: the same as listPairs.full.test.ts, at the size that was promised.
import { describe } from 'vitest'
import { testPairPlans } from '../support/pairPlans.ts'

describe('rows examined by lists over a million transfers', () => testPairPlans(10_000))
