// jobs.test.ts in its whole breadth.
import './jobs.test.ts'
