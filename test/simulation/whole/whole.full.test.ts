// whole.test.ts in its whole breadth.
import './whole.test.ts'
