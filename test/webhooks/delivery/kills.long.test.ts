// Goal: fifty `kill -9`s under 200 events a second and more lose nothing; what comes twice is the
// same, and comes only with kills (issue 17, WH-04).
// Method: this process writes a chain and receives; two others match and send, and are killed by
// turns at each place that a process may end at, and at any moment.
import { test } from 'vitest'
import { killSenders } from '../support/killSenders.ts'

test('nothing is lost, numbers have no gap, and what comes twice is the same', () => killSenders(50))
