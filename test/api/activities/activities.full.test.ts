// activities.test.ts in its whole breadth.
import './activities.test.ts'
