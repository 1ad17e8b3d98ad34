import { defineActivity } from './activity.ts'

/**
 * A transaction with logs none of which is an activity; only its fee may be left. Shown with all
 * its events.
 */
export const unknown = defineActivity({
  type: 'unknown',
  title: 'Unknown',
  find({ facts, logs }) {
    const log = logs[0] ?? facts.logs[0]
    return log === undefined ? null : { logIndex: log.logIndex, data: {} }
  },
})
