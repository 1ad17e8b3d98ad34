// activityWalks.test.ts in its whole breadth.
import './activityWalks.test.ts'
