// Goal: a few `kill -9`s of two senders beside each other lose nothing; what comes twice is the same
// (WH-04, issue 17.4). `kills.long.test.ts` has fifty of them.
// Method: as there.
import { test } from 'vitest'
import { killSenders } from '../support/killSenders.ts'

test('nothing is lost, numbers have no gap, and what comes twice is the same', () => killSenders(4))
